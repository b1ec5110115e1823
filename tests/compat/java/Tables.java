import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.model.AddDefinedColumnRequest;
import com.alicloud.openservices.tablestore.model.CapacityUnit;
import com.alicloud.openservices.tablestore.model.CreateTableRequest;
import com.alicloud.openservices.tablestore.model.DefinedColumnSchema;
import com.alicloud.openservices.tablestore.model.DefinedColumnType;
import com.alicloud.openservices.tablestore.model.DeleteDefinedColumnRequest;
import com.alicloud.openservices.tablestore.model.DeleteTableRequest;
import com.alicloud.openservices.tablestore.model.DescribeTableRequest;
import com.alicloud.openservices.tablestore.model.DescribeTableResponse;
import com.alicloud.openservices.tablestore.model.PrimaryKeySchema;
import com.alicloud.openservices.tablestore.model.PrimaryKeyType;
import com.alicloud.openservices.tablestore.model.ReservedThroughput;
import com.alicloud.openservices.tablestore.model.SSEDetails;
import com.alicloud.openservices.tablestore.model.SSEKeyType;
import com.alicloud.openservices.tablestore.model.SSESpecification;
import com.alicloud.openservices.tablestore.model.StreamDetails;
import com.alicloud.openservices.tablestore.model.StreamSpecification;
import com.alicloud.openservices.tablestore.model.TableMeta;
import com.alicloud.openservices.tablestore.model.TableOptions;
import com.alicloud.openservices.tablestore.model.UpdateTableRequest;
import com.alicloud.openservices.tablestore.model.UpdateTableResponse;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The table actions. */
final class Tables {
    private Tables() {}

    /** CreateTable with everything that it takes, ListTable, DescribeTable, DeleteTable. */
    static Map<String, Object> tables(SyncClient client) throws Exception {
        TableMeta meta = new TableMeta("tables_all");
        meta.addPrimaryKeyColumn("s", PrimaryKeyType.STRING);
        meta.addPrimaryKeyColumn("i", PrimaryKeyType.INTEGER);
        meta.addPrimaryKeyColumn("b", PrimaryKeyType.BINARY);
        meta.addAutoIncrementPrimaryKeyColumn("seq");
        meta.addDefinedColumn("di", DefinedColumnType.INTEGER);
        meta.addDefinedColumn("dd", DefinedColumnType.DOUBLE);
        meta.addDefinedColumn("db", DefinedColumnType.BOOLEAN);
        meta.addDefinedColumn("ds", DefinedColumnType.STRING);
        meta.addDefinedColumn("dx", DefinedColumnType.BINARY);
        TableOptions options = new TableOptions(86400, 3, 3600);
        options.setAllowUpdate(false);
        CreateTableRequest request =
                new CreateTableRequest(meta, options, new ReservedThroughput(2, 1));
        StreamSpecification stream = new StreamSpecification(true, 24);
        stream.addOriginColumnsToGet(new String[] {"di", "ds"});
        request.setStreamSpecification(stream);
        request.setSseSpecification(
                new SSESpecification(true, SSEKeyType.SSE_BYOK, "key-1", "acs:ram::1:role/kms"));
        client.createTable(request);
        create(client, "tables_plain", 1);
        Object described = describe(client, "tables_all");
        Object plain = describe(client, "tables_plain");
        List<String> listed =
                client.listTable().getTableNames().stream()
                        .filter(name -> name.startsWith("tables_"))
                        .collect(Collectors.toList());
        String deleted = client.deleteTable(new DeleteTableRequest("tables_all")).getRequestId();
        return Printing.facts(
                "described", described,
                "plain", plain,
                "listed", listed,
                "deleted", deleted.length(),
                "gone", Printing.refusal(() -> describe(client, "tables_all")));
    }

    /** UpdateTable: options, the stream on, with other columns, and off, throughput too early. */
    static Map<String, Object> updateTable(SyncClient client) throws Exception {
        create(client, "update", 1);
        UpdateTableRequest changing = new UpdateTableRequest("update");
        changing.setTableOptionsForUpdate(new TableOptions(172800, 5, 7200));
        UpdateTableResponse changed = client.updateTable(changing);
        UpdateTableRequest streaming = new UpdateTableRequest("update");
        streaming.setStreamSpecification(new StreamSpecification(true, 48));
        UpdateTableResponse streams = client.updateTable(streaming);
        StreamSpecification more = new StreamSpecification(true, 48);
        more.addOriginColumnsToGet(new String[] {"a", "b"});
        streaming.setStreamSpecification(more);
        UpdateTableResponse widened = client.updateTable(streaming);
        UpdateTableRequest stopping = new UpdateTableRequest("update");
        stopping.setStreamSpecification(new StreamSpecification(false));
        UpdateTableResponse stopped = client.updateTable(stopping);
        UpdateTableRequest reserving = new UpdateTableRequest("update");
        reserving.setReservedThroughputForUpdate(new ReservedThroughput(10, 10));
        return Printing.facts(
                "options", options(changed.getTableOptions()),
                "throughput",
                        throughput(changed.getReservedThroughputDetails().getCapacityUnit()),
                "stream", stream(streams.getStreamDetails()),
                "widened", stream(widened.getStreamDetails()),
                "stopped", stream(stopped.getStreamDetails()),
                "described", describe(client, "update"),
                "throughput change", Printing.refusal(() -> client.updateTable(reserving)));
    }

    /** AddDefinedColumn and DeleteDefinedColumn, and what they refuse. */
    static Map<String, Object> definedColumns(SyncClient client) throws Exception {
        create(client, "defined", 1);
        AddDefinedColumnRequest add = new AddDefinedColumnRequest();
        add.setTableName("defined");
        add.addDefinedColumn("age", DefinedColumnType.INTEGER);
        add.addDefinedColumn("city", DefinedColumnType.STRING);
        client.addDefinedColumn(add);
        Object added = describe(client, "defined").get("defined");
        Object twice = Printing.refusal(() -> client.addDefinedColumn(add));
        DeleteDefinedColumnRequest remove = new DeleteDefinedColumnRequest();
        remove.setTableName("defined");
        remove.addDefinedColumn("age");
        client.deleteDefinedColumn(remove);
        return Printing.facts(
                "added", added,
                "twice", twice,
                "removed", describe(client, "defined").get("defined"),
                "absent", Printing.refusal(() -> client.deleteDefinedColumn(remove)));
    }

    /** Makes a table of the key ("pk" STRING, "n" INTEGER). */
    static void create(SyncClient client, String name, int maxVersions) {
        TableMeta meta = new TableMeta(name);
        meta.addPrimaryKeyColumn("pk", PrimaryKeyType.STRING);
        meta.addPrimaryKeyColumn("n", PrimaryKeyType.INTEGER);
        client.createTable(new CreateTableRequest(meta, new TableOptions(-1, maxVersions)));
    }

    private static Map<String, Object> describe(SyncClient client, String name) {
        DescribeTableResponse described = client.describeTable(new DescribeTableRequest(name));
        List<Object> key = Printing.list();
        for (PrimaryKeySchema column : described.getTableMeta().getPrimaryKeyList()) {
            key.add(Printing.list(column.getName(), column.getType(), column.hasOption()));
        }
        List<Object> defined = Printing.list();
        for (DefinedColumnSchema column : described.getTableMeta().getDefinedColumnsList()) {
            defined.add(Printing.list(column.getName(), column.getType()));
        }
        long created = described.getCreationTime() / 1000;
        return Printing.facts(
                "name", described.getTableMeta().getTableName(),
                "key", key,
                "defined", defined,
                "options", options(described.getTableOptions()),
                "allow update", described.getTableOptions().getAllowUpdate(),
                "full row", described.getTableOptions().getUpdateFullRow(),
                "throughput",
                        throughput(described.getReservedThroughputDetails().getCapacityUnit()),
                "stream", stream(described.getStreamDetails()),
                "indexes", described.getIndexMeta().size(),
                "splits", described.getShardSplits().size(),
                "encryption", encryption(described.getSseDetails()),
                "created now", Math.abs(created - System.currentTimeMillis()) < 60_000);
    }

    private static Object options(TableOptions options) {
        return Printing.list(
                options.getTimeToLive(), options.getMaxVersions(), options.getMaxTimeDeviation());
    }

    private static Object throughput(CapacityUnit units) {
        return Printing.list(units.getReadCapacityUnit(), units.getWriteCapacityUnit());
    }

    private static Object stream(StreamDetails stream) {
        if (stream == null || !stream.isEnableStream()) {
            return "off";
        }
        long enabled = stream.getLastEnableTime() / 1000;
        return Printing.facts(
                "hours", stream.getExpirationTime(),
                "columns", new TreeSet<>(stream.getOriginColumnsToGet()),
                "has id", !stream.getStreamId().isEmpty(),
                "recent", Math.abs(enabled - System.currentTimeMillis()) < 60_000);
    }

    private static Object encryption(SSEDetails encryption) {
        if (encryption == null || !encryption.isEnable()) {
            return "off";
        }
        return Printing.list(
                encryption.getKeyType(), encryption.getKeyId(), encryption.getRoleArn());
    }
}
