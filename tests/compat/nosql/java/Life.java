import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import oracle.nosql.driver.AuthorizationProvider;
import oracle.nosql.driver.Consistency;
import oracle.nosql.driver.NoSQLHandle;
import oracle.nosql.driver.NoSQLHandleConfig;
import oracle.nosql.driver.NoSQLHandleFactory;
import oracle.nosql.driver.TimeToLive;
import oracle.nosql.driver.Version;
import oracle.nosql.driver.ops.DeleteRequest;
import oracle.nosql.driver.ops.DeleteResult;
import oracle.nosql.driver.ops.GetIndexesRequest;
import oracle.nosql.driver.ops.GetIndexesResult;
import oracle.nosql.driver.ops.GetRequest;
import oracle.nosql.driver.ops.GetResult;
import oracle.nosql.driver.ops.GetTableRequest;
import oracle.nosql.driver.ops.ListTablesRequest;
import oracle.nosql.driver.ops.MultiDeleteRequest;
import oracle.nosql.driver.ops.MultiDeleteResult;
import oracle.nosql.driver.ops.PrepareRequest;
import oracle.nosql.driver.ops.PreparedStatement;
import oracle.nosql.driver.ops.PutRequest;
import oracle.nosql.driver.ops.PutResult;
import oracle.nosql.driver.ops.QueryRequest;
import oracle.nosql.driver.ops.Request;
import oracle.nosql.driver.ops.TableLimits;
import oracle.nosql.driver.ops.TableRequest;
import oracle.nosql.driver.ops.TableResult;
import oracle.nosql.driver.ops.TableUsageRequest;
import oracle.nosql.driver.ops.WriteMultipleRequest;
import oracle.nosql.driver.ops.WriteMultipleResult;
import oracle.nosql.driver.values.FieldValue;
import oracle.nosql.driver.values.JsonOptions;
import oracle.nosql.driver.values.MapValue;

/**
 * The life of the product tables through Oracle's NoSQL driver for Java.
 *
 * <p>Arguments: the endpoint, "begin" or "end", the file with statements and rows (life.json).
 * "begin" makes tables and rows, "end" goes on with them. Prints one JSON object with what was
 * seen; what is right is for the tests to say.
 */
final class Life {
    private static final String PRODUCTS = "myProducts";
    private static final String STOCK = "myProducts.stock";
    private static final long DAY = 24L * 60 * 60 * 1000;
    private static final int PATIENCE = 60_000;
    private static final int PAUSE = 50;
    private static final JsonOptions JSON = new JsonOptions();

    private final NoSQLHandle handle;
    private final MapValue given;

    private Life(NoSQLHandle handle, MapValue given) {
        this.handle = handle;
        this.given = given;
    }

    /** What a program written for the vendor's cloud simulator has. */
    private static final class Anybody implements AuthorizationProvider {
        @Override
        public String getAuthorizationString(Request request) {
            return "Bearer anybody";
        }

        @Override
        public void close() {}
    }

    public static void main(String[] arguments) throws Exception {
        NoSQLHandleConfig config = new NoSQLHandleConfig(arguments[0], new Anybody());
        config.setConsistency(Consistency.ABSOLUTE);
        config.setTableRequestTimeout(60_000); // a change waits for a server that was killed
        String text = Files.readString(Path.of(arguments[2]));
        MapValue given = FieldValue.createFromJson(text, JSON).asMap();
        try (NoSQLHandle handle = NoSQLHandleFactory.createNoSQLHandle(config)) {
            Life life = new Life(handle, given);
            System.out.println(json(arguments[1].equals("begin") ? life.begin() : life.end()));
        }
    }

    /** Maps, lists, texts, numbers and the driver's own values as JSON. */
    private static String json(Object value) {
        if (value instanceof Map) {
            return ((Map<?, ?>) value)
                    .entrySet().stream()
                            .map(each -> quoted(each.getKey()) + ":" + json(each.getValue()))
                            .collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof List) {
            return ((List<?>) value)
                    .stream().map(Life::json).collect(Collectors.joining(",", "[", "]"));
        }
        if (value instanceof FieldValue) {
            return ((FieldValue) value).toJson(JSON);
        }
        return value instanceof String ? quoted(value) : String.valueOf(value);
    }

    private static String quoted(Object text) {
        return new oracle.nosql.driver.values.StringValue(String.valueOf(text)).toJson(JSON);
    }

    /** A JSON object of names and values in turn. */
    private static Map<String, Object> facts(Object... namesAndValues) {
        Map<String, Object> made = new LinkedHashMap<>();
        for (int at = 0; at < namesAndValues.length; at += 2) {
            made.put((String) namesAndValues[at], namesAndValues[at + 1]);
        }
        return made;
    }

    private static List<Object> list(Object... values) {
        return new ArrayList<>(Arrays.asList(values));
    }

    private MapValue row(String name) {
        return copy(given.get(name));
    }

    private static MapValue copy(FieldValue row) {
        return FieldValue.createFromJson(row.toJson(JSON), JSON).asMap();
    }

    private List<String> texts(String name) {
        List<String> found = new ArrayList<>();
        given.get(name).asArray().forEach(each -> found.add(each.getString()));
        return found;
    }

    /** The name of an error's code, as other drivers spell it; theirs are names of classes here. */
    private static String refusal(Callable<?> call) {
        try {
            call.call();
        } catch (Exception error) {
            String name = error.getClass().getSimpleName().replace("Exception", "");
            String code = name.replaceAll("(.)([A-Z])", "$1_$2").toUpperCase(Locale.ROOT);
            return code.endsWith("_LIMIT") ? code + "_EXCEEDED" : code;
        }
        return "no error";
    }

    /** The states of a statement's table: as it was answered, and when it was done. */
    private List<Object> define(String statement) {
        TableRequest request = new TableRequest().setStatement(statement);
        if (statement.startsWith("CREATE TABLE") && !statement.contains(".")) {
            request.setTableLimits(new TableLimits(50, 50, 1));
        }
        TableResult result = handle.tableRequest(request);
        String first = result.getTableState().name();
        result.waitForCompletion(handle, PATIENCE, PAUSE);
        return list(first, result.getTableState().name());
    }

    private List<Object> defined(String name) {
        return texts(name).stream().map(this::define).collect(Collectors.toList());
    }

    private static PutRequest putting(String table, MapValue row) {
        return new PutRequest().setTableName(table).setValue(row);
    }

    private PutRequest product(String name) {
        return putting(PRODUCTS, row(name));
    }

    private boolean happens(PutRequest request) {
        return handle.put(request).getVersion() != null;
    }

    private GetResult get(String table, MapValue key) {
        return handle.get(new GetRequest().setTableName(table).setKey(key));
    }

    private static MapValue single(String name, Object value) {
        return value instanceof Integer
                ? new MapValue().put(name, (Integer) value)
                : new MapValue().put(name, (String) value);
    }

    private long order(String note) {
        return handle.put(putting("orders", single("note", note))).getGeneratedValue().getLong();
    }

    private Object begin() {
        List<Object> states = defined("tables");
        List<Object> written = list();
        for (FieldValue each : given.get("products").asArray()) {
            written.add(happens(putting(PRODUCTS, copy(each))));
        }
        return facts(
                "states", states,
                "put", facts("done", written, "generated", list(order("first"), order("second"))),
                "conditions", conditions(),
                "expires",
                        list(
                                expires(5, product("changedCap").setUseTableDefaultTTL(true)),
                                expires(3, product("changedCap").setTTL(TimeToLive.ofDays(3)))),
                "refused", refused());
    }

    private Object conditions() {
        PutRequest ifAbsent = product("changedCap").setOption(PutRequest.Option.IfAbsent);
        PutResult absent = handle.put(ifAbsent.setReturnRow(true));
        GetResult found = get(PRODUCTS, row("cap"));
        PutRequest matching = product("changedCap").setOption(PutRequest.Option.IfVersion);
        matching.setMatchVersion(found.getVersion()).setReturnRow(true);
        boolean changed = happens(matching);
        PutResult stale = handle.put(matching);
        PutRequest other = putting(PRODUCTS, row("none").put("color", "red"));
        return facts(
                "absent", list(absent.getVersion() != null, absent.getExistingValue()),
                "present",
                        list(
                                happens(product("changedCap").setOption(PutRequest.Option.IfPresent)),
                                happens(other.setOption(PutRequest.Option.IfPresent))),
                "found", found.getValue(),
                "changed", changed,
                "stale", list(stale.getVersion() != null, stale.getExistingValue()),
                "deleted", list(deleted("none", null), deleted("cap", found.getVersion())),
                "units", found.getReadUnits());
    }

    private boolean deleted(String name, Version version) {
        DeleteRequest request = new DeleteRequest().setTableName(PRODUCTS).setKey(row(name));
        DeleteResult result = handle.delete(request.setMatchVersion(version));
        return result.getSuccess();
    }

    /** Whether a row expires at the end of a UTC day, so many days after it was written. */
    private boolean expires(int days, PutRequest request) {
        long before = System.currentTimeMillis();
        handle.put(request);
        long after = System.currentTimeMillis();
        long time = get(PRODUCTS, row("cap")).getExpirationTime();
        return time % DAY == 0 && before + days * DAY <= time && time <= after + (days + 1) * DAY;
    }

    private Object refused() {
        Map<String, Object> seen = new LinkedHashMap<>();
        MapValue statements = given.get("refusedStatements").asMap();
        statements.entrySet().forEach(each ->
                seen.put(each.getKey(), refusal(() -> define(each.getValue().getString()))));
        MapValue queries = given.get("refusedQueries").asMap();
        queries.entrySet().forEach(each ->
                seen.put(each.getKey(), refusal(() -> queried(each.getValue().getString()))));
        GetIndexesRequest index = new GetIndexesRequest().setTableName(PRODUCTS);
        MultiDeleteRequest half = new MultiDeleteRequest().setTableName(PRODUCTS);
        WriteMultipleRequest strangers = new WriteMultipleRequest();
        for (FieldValue each : given.get("strangers").asArray()) {
            strangers.add(putting(PRODUCTS, copy(each)), true);
        }
        MapValue priced = row("cap").put("price", 5);
        MapValue large = row("changedCap").put("details", "x".repeat(600_000));
        Map<String, Callable<?>> calls = new LinkedHashMap<>();
        calls.put("get of no table", () -> get("nosuch", single("id", 1)));
        calls.put("no such index", () -> handle.getIndexes(index.setIndexName("nosuch")));
        calls.put("no such color", () -> handle.put(product("pinkCap")));
        calls.put("unknown column", () -> handle.put(putting(PRODUCTS, priced).setExactMatch(true)));
        calls.put("half a key", () -> get(PRODUCTS, row("bowlers")));
        calls.put("half a shard key",
                () -> handle.multiDelete(half.setKey(single("productType", "hat"))));
        calls.put("long key", () -> handle.put(product("longKey")));
        calls.put("large row", () -> handle.put(putting(PRODUCTS, large)));
        calls.put("two shards", () -> handle.writeMultiple(strangers));
        calls.forEach((name, call) -> seen.put(name, refusal(call)));
        return seen;
    }

    private List<MapValue> queried(String statement) {
        try (QueryRequest request = new QueryRequest().setStatement(statement)) {
            return handle.query(request).getResults();
        }
    }

    private Object end() {
        Map<String, Object> seen = facts(
                "kept", get(PRODUCTS, row("cap")).getValue(),
                "generated", order("third") > 2,
                "definitions", definitions(),
                "together", together());
        List<Object> answered = list();
        for (FieldValue each : given.get("queries").asArray()) {
            answered.add(pages(each.asMap()));
        }
        seen.put("queries", answered);
        seen.put("removed", removed());
        seen.put("dropped", defined("drops"));
        seen.put("gone", refusal(() -> get("orders", single("id", 1))));
        return seen;
    }

    private Object definitions() {
        TableResult table = handle.getTable(new GetTableRequest().setTableName("MYPRODUCTS"));
        TableRequest limits = new TableRequest().setTableName("orders");
        limits.setTableLimits(new TableLimits(60, 50, 1));
        handle.doTableRequest(limits, PATIENCE, PAUSE);
        TableResult orders = handle.getTable(new GetTableRequest().setTableName("orders"));
        List<Object> indexes = list();
        GetIndexesRequest asked = new GetIndexesRequest().setTableName(PRODUCTS);
        for (GetIndexesResult.IndexInfo each : handle.getIndexes(asked).getIndexes()) {
            indexes.add(list(each.getIndexName(), list((Object[]) each.getFieldNames())));
        }
        TableUsageRequest usage = new TableUsageRequest().setTableName(PRODUCTS);
        return facts(
                "tables", list((Object[]) handle.listTables(new ListTablesRequest()).getTables()),
                "table",
                        list(table.getTableState().name(), table.getTableLimits().getReadUnits()),
                "limits", orders.getTableLimits().getReadUnits(),
                "indexes", indexes,
                "usage", handle.getTableUsage(usage).getUsageRecords().length);
    }

    /** Rows of one shard key, of a table and its child: all of them, or none. */
    private Object together() {
        WriteMultipleRequest written = new WriteMultipleRequest();
        written.add(product("fullBrim"), true);
        for (FieldValue each : given.get("shelves").asArray()) {
            written.add(putting(STOCK, copy(each)), true);
        }
        List<Object> successes = list();
        for (WriteMultipleResult.OperationResult each : handle.writeMultiple(written).getResults()) {
            successes.add(each.getSuccess());
        }
        MapValue second = copy(given.get("shelves").asArray().get(1));
        WriteMultipleRequest aborted = new WriteMultipleRequest();
        aborted.add(new DeleteRequest().setTableName(STOCK).setKey(row("firstShelf")), true);
        aborted.add(putting(STOCK, second).setOption(PutRequest.Option.IfAbsent), true);
        int failed = handle.writeMultiple(aborted).getFailedOperationIndex();
        return list(successes, failed, get(STOCK, row("firstShelf")).getValue());
    }

    /** The pages of a query that was prepared, and the rows of each. */
    private Object pages(MapValue asked) {
        PrepareRequest statement = new PrepareRequest().setStatement(asked.getString("statement"));
        PreparedStatement prepared = handle.prepare(statement).getPreparedStatement();
        if (asked.get("variables") != null) {
            asked.get("variables").asMap().entrySet()
                    .forEach(each -> prepared.setVariable(each.getKey(), each.getValue()));
        }
        List<Object> seen = list();
        try (QueryRequest request = new QueryRequest().setPreparedStatement(prepared)) {
            if (asked.get("limit") != null) {
                request.setLimit(asked.getInt("limit"));
            }
            do {
                seen.add(handle.query(request).getResults());
            } while (!request.isDone());
        }
        return seen;
    }

    private Object removed() {
        MultiDeleteRequest request = new MultiDeleteRequest().setTableName(PRODUCTS);
        request.setKey(row("bowlers")).setMaxWriteKB(1);
        int count = 0;
        int batches = 0;
        do {
            MultiDeleteResult result = handle.multiDelete(request);
            count += result.getNumDeletions();
            batches += 1;
            request.setContinuationKey(result.getContinuationKey());
        } while (request.getContinuationKey() != null);
        Version version = get(PRODUCTS, row("cap")).getVersion();
        return list(count, batches > 1, deleted("cap", version), deleted("cap", null));
    }
}
