import com.alicloud.openservices.tablestore.TunnelClient;
import com.alicloud.openservices.tablestore.model.RecordColumn;
import com.alicloud.openservices.tablestore.model.StreamRecord;
import com.alicloud.openservices.tablestore.tunnel.worker.IChannelProcessor;
import com.alicloud.openservices.tablestore.tunnel.worker.ProcessRecordsInput;
import com.alicloud.openservices.tablestore.tunnel.worker.TunnelWorker;
import com.alicloud.openservices.tablestore.tunnel.worker.TunnelWorkerConfig;
import com.google.gson.Gson;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/**
 * Consumes a tunnel with the vendor's worker and prints what it is told.
 *
 * <p>Arguments: the endpoint, an instance, a tunnel id, a timeout and a heartbeat interval in
 * seconds. Output: one JSON array for each record, channel, action, key and columns, as they come.
 * It ends when its standard input does, and then shuts its worker down.
 */
final class Consumer {
    private static final Gson GSON = new Gson();

    private Consumer() {}

    public static void main(String[] arguments) {
        try {
            consume(arguments);
            System.exit(0); // whatever threads of the SDK are left
        } catch (Exception why) {
            why.printStackTrace();
            System.exit(1);
        }
    }

    private static void consume(String[] arguments) throws Exception {
        TunnelClient client =
                new TunnelClient(arguments[0], "widerow", "widerow", arguments[1]);
        TunnelWorkerConfig config = new TunnelWorkerConfig(new Printer());
        config.setHeartbeatIntervalInSec(Long.parseLong(arguments[4])); // below the time-out first
        config.setHeartbeatTimeoutInSec(Long.parseLong(arguments[3]));
        config.setCheckpointIntervalInMillis(1000);
        TunnelWorker worker = new TunnelWorker(arguments[2], client, config);
        worker.connectAndWorking();
        while (System.in.read() >= 0) {
            // until there is no more
        }
        worker.shutdown();
        config.shutdown();
        client.shutdown();
    }

    /** Prints the records of a page; each has all that the test needs to build the table. */
    private static final class Printer implements IChannelProcessor {
        private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

        @Override
        public void process(ProcessRecordsInput input) {
            synchronized (out) {
                for (StreamRecord record : input.getRecords()) {
                    out.println(GSON.toJson(told(input.getChannelId(), record)));
                }
            }
        }

        private static Object told(String channel, StreamRecord record) {
            Map<String, Object> columns = new TreeMap<>();
            for (RecordColumn each : record.getColumns()) {
                columns.put(
                        each.getColumn().getName(), each.getColumn().getValue().asString());
            }
            return Printing.list(
                    channel,
                    record.getRecordType().name(),
                    record.getPrimaryKey().getPrimaryKeyColumn("k").getValue().asString(),
                    columns);
        }

        @Override
        public void shutdown() {
            // nothing is held
        }
    }
}
