import com.alicloud.openservices.tablestore.AsyncClient;
import com.alicloud.openservices.tablestore.ClientConfiguration;
import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.core.auth.DefaultCredentialProvider;
import com.alicloud.openservices.tablestore.core.auth.DefaultCredentials;
import com.alicloud.openservices.tablestore.core.auth.V4Credentials;
import com.google.gson.GsonBuilder;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Makes every call of the Java SDK once, through clients set up in several ways, and prints what
 * it was told.
 *
 * <p>Arguments: the endpoint, an instance; each client gets an instance of its own by that name.
 * Output: one JSON object, from the name of a client to its scenarios, from the name of a scenario
 * to what it saw; one that did not come to its end says why under "panic". What is right is for
 * the tests to say, not for this program.
 */
final class Actions {
    /** Uses tables of its own and returns what it saw. */
    interface Scenario {
        Map<String, Object> run(SyncClient client) throws Exception;
    }

    private static final String KEY = "widerow";
    private static final Map<String, Scenario> SCENARIOS = new LinkedHashMap<>();

    static {
        SCENARIOS.put("tables", Tables::tables);
        SCENARIOS.put("update table", Tables::updateTable);
        SCENARIOS.put("defined columns", Tables::definedColumns);
        SCENARIOS.put("values", Rows::values);
        SCENARIOS.put("selections", Rows::selections);
        SCENARIOS.put("wide row", Rows::wideRow);
        SCENARIOS.put("heavy row", Rows::heavyRow);
        SCENARIOS.put("update row", Rows::updateRow);
        SCENARIOS.put("delete row", Rows::deleteRow);
        SCENARIOS.put("conditions", Rows::conditions);
        SCENARIOS.put("auto-increment", Rows::autoIncrement);
        SCENARIOS.put("batch get", Batches::batchGet);
        SCENARIOS.put("batch write", Batches::batchWrite);
        SCENARIOS.put("atomic batch", Batches::atomicBatch);
        SCENARIOS.put("transactions", Transactions::transactions);
        SCENARIOS.put("indexes", Indexes::indexes);
        SCENARIOS.put("delivery", Delivery::delivery);
        SCENARIOS.put("searches", Searches::searches);
        SCENARIOS.put("sql", Statements::sql);
        SCENARIOS.put("series tables", Series::tables);
        SCENARIOS.put("series", Series::measured);
        SCENARIOS.put("keyed series", Series::keyed);
        SCENARIOS.put("analytical stores", LastPoints::stores);
        SCENARIOS.put("last points", LastPoints::lastPoints);
        SCENARIOS.put("changes of points", PointChanges::changes);
        SCENARIOS.put("scans", Scans::scans);
        SCENARIOS.put("ranges", Ranges::ranges);
        SCENARIOS.put("range iterator", Ranges::iterator);
        SCENARIOS.put("filters", Ranges::filters);
        SCENARIOS.put("split points", Ranges::splitPoints);
        SCENARIOS.put("bulk import", Bulk::imports);
        SCENARIOS.put("bulk export", Bulk::exports);
        SCENARIOS.put("bulk pages", Bulk::pages);
        SCENARIOS.put("tunnels", Tunnels::tunnels);
        SCENARIOS.put("errors", Refusals::errors);
    }

    private Actions() {}

    public static void main(String[] arguments) throws Exception {
        String endpoint = arguments[0];
        String instance = arguments[1];
        Map<String, Object> seen = new LinkedHashMap<>();
        // Response validation is on by default: each answer has to be signed.
        seen.put("default", all(new SyncClient(endpoint, KEY, KEY, instance + "-default")));
        ClientConfiguration careful = new ClientConfiguration();
        careful.setEnableResponseContentMD5Checking(true);
        careful.setEnableRequestCompression(true);
        careful.setEnableResponseCompression(true);
        seen.put(
                "careful",
                all(new SyncClient(endpoint, KEY, KEY, instance + "-careful", careful)));
        seen.put("v4", all(signingWithV4(endpoint, instance + "-v4")));
        seen.put("async", asynchronous(endpoint, instance + "-async"));
        print(seen);
    }

    /** Prints a JSON object, and ends the program. */
    static void print(Map<String, Object> seen) {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        out.println(new GsonBuilder().disableHtmlEscaping().serializeNulls().create().toJson(seen));
        System.exit(0); // whatever threads of the SDK are left
    }

    private static SyncClient signingWithV4(String endpoint, String instance) {
        V4Credentials credentials =
                V4Credentials.createByServiceCredentials(
                        new DefaultCredentials(KEY, KEY), "cn-hangzhou");
        return new SyncClient(
                endpoint, new DefaultCredentialProvider(credentials), instance, null, null);
    }

    private static Map<String, Object> all(SyncClient client) {
        Map<String, Object> seen = new LinkedHashMap<>();
        SCENARIOS.forEach((name, scenario) -> seen.put(name, attempt(scenario, client)));
        client.shutdown();
        return seen;
    }

    private static Map<String, Object> asynchronous(String endpoint, String instance) {
        AsyncClient client = new AsyncClient(endpoint, KEY, KEY, instance);
        Scenario scenario = ignored -> Callbacks.callbacks(client);
        Map<String, Object> seen = Map.of("callbacks", attempt(scenario, null));
        client.shutdown();
        return seen;
    }

    static Map<String, Object> attempt(Scenario scenario, SyncClient client) {
        try {
            return scenario.run(client);
        } catch (Exception why) { // the others go on
            StringWriter trace = new StringWriter();
            why.printStackTrace(new PrintWriter(trace));
            return Map.of("panic", trace.toString());
        }
    }
}
