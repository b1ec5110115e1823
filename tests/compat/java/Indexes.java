import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.model.BatchGetRowRequest;
import com.alicloud.openservices.tablestore.model.BatchGetRowResponse;
import com.alicloud.openservices.tablestore.model.Column;
import com.alicloud.openservices.tablestore.model.ColumnValue;
import com.alicloud.openservices.tablestore.model.CreateIndexRequest;
import com.alicloud.openservices.tablestore.model.CreateTableRequest;
import com.alicloud.openservices.tablestore.model.DefinedColumnSchema;
import com.alicloud.openservices.tablestore.model.DefinedColumnType;
import com.alicloud.openservices.tablestore.model.DeleteIndexRequest;
import com.alicloud.openservices.tablestore.model.DeleteRowRequest;
import com.alicloud.openservices.tablestore.model.DeleteTableRequest;
import com.alicloud.openservices.tablestore.model.DescribeTableRequest;
import com.alicloud.openservices.tablestore.model.DescribeTableResponse;
import com.alicloud.openservices.tablestore.model.Direction;
import com.alicloud.openservices.tablestore.model.IndexMeta;
import com.alicloud.openservices.tablestore.model.IndexType;
import com.alicloud.openservices.tablestore.model.IndexUpdateMode;
import com.alicloud.openservices.tablestore.model.MultiRowQueryCriteria;
import com.alicloud.openservices.tablestore.model.PrimaryKey;
import com.alicloud.openservices.tablestore.model.PrimaryKeyBuilder;
import com.alicloud.openservices.tablestore.model.PrimaryKeySchema;
import com.alicloud.openservices.tablestore.model.PrimaryKeyType;
import com.alicloud.openservices.tablestore.model.PrimaryKeyValue;
import com.alicloud.openservices.tablestore.model.PutRowRequest;
import com.alicloud.openservices.tablestore.model.Row;
import com.alicloud.openservices.tablestore.model.RowDeleteChange;
import com.alicloud.openservices.tablestore.model.RowPutChange;
import com.alicloud.openservices.tablestore.model.RowUpdateChange;
import com.alicloud.openservices.tablestore.model.TableMeta;
import com.alicloud.openservices.tablestore.model.TableOptions;
import com.alicloud.openservices.tablestore.model.UpdateRowRequest;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Secondary indexes. */
final class Indexes {
    private static final String TABLE = "indexed";
    private static final String GLOBAL = "indexed_by_s";
    private static final String LOCAL = "indexed_by_i";
    private static final long PATIENCE_MS = 150_000; // for a machine under load

    private Indexes() {}

    /** Made with the table and later, with its rows and without, read in every way, dropped. */
    static Map<String, Object> indexes(SyncClient client) throws Exception {
        create(client);
        Map<String, Object> seen =
                Printing.facts(
                        "described", described(client),
                        "as table", describedAsTable(client),
                        "listed", listed(client));
        write(client);
        seen.put("global", entries(client, GLOBAL, "s", "pk", "n"));
        seen.put("local", entries(client, LOCAL, "pk", "i", "n"));
        seen.put("global row", Printing.row(Rows.get(client, Rows.wanted(GLOBAL, global("x")))));
        PrimaryKey local =
                PrimaryKeyBuilder.createPrimaryKeyBuilder()
                        .addPrimaryKeyColumn("pk", PrimaryKeyValue.fromString("a"))
                        .addPrimaryKeyColumn("i", PrimaryKeyValue.fromLong(7))
                        .addPrimaryKeyColumn("n", PrimaryKeyValue.fromLong(2))
                        .build();
        seen.put("local row", Printing.row(Rows.get(client, Rows.wanted(LOCAL, local))));
        seen.put("batch", atOnce(client));
        update(client, Rows.key("a", 1), "s", Rows.text("y"));
        seen.put("moved", entries(client, GLOBAL, "s", "pk", "n"));
        client.deleteRow(new DeleteRowRequest(new RowDeleteChange(TABLE, Rows.key("a", 2))));
        seen.put(
                "after delete",
                Printing.list(
                        entries(client, GLOBAL, "s", "pk", "n"),
                        entries(client, LOCAL, "pk", "i", "n")));
        later(client, seen);
        dropped(client, seen);
        return seen;
    }

    /** CreateIndex without the rows that are there, and with them. */
    private static void later(SyncClient client, Map<String, Object> seen) throws Exception {
        create(client, "indexed_later", false);
        seen.put("later", entries(client, "indexed_later", "i", "pk", "n"));
        update(client, Rows.key("b", 1), "d", ColumnValue.fromDouble(1.5));
        seen.put("later, row written again", entries(client, "indexed_later", "i", "pk", "n"));
        create(client, "indexed_whole", true);
        long deadline = System.currentTimeMillis() + PATIENCE_MS;
        while (!described(client).toString().contains("[indexed_whole, [i], [s], GLOBAL, INCR]")) {
            if (System.currentTimeMillis() > deadline) {
                throw new IllegalStateException("the index is not built");
            }
        }
        seen.put("whole", entries(client, "indexed_whole", "i", "pk", "n"));
        seen.put("described later", described(client));
    }

    /** What is refused, DropIndex, and DeleteTable with indexes left. */
    private static void dropped(SyncClient client, Map<String, Object> seen) throws Exception {
        RowPutChange direct = Rows.put(GLOBAL, global("x"), "i", Rows.number(1));
        seen.put("write", Printing.refusal(() -> client.putRow(new PutRowRequest(direct))));
        client.deleteIndex(new DeleteIndexRequest(TABLE, GLOBAL));
        client.deleteIndex(new DeleteIndexRequest(TABLE, "indexed_later"));
        seen.put(
                "dropped again",
                Printing.refusal(() -> client.deleteIndex(new DeleteIndexRequest(TABLE, GLOBAL))));
        seen.put("left", described(client).stream().map(each -> ((List<?>) each).get(0))
                .collect(Collectors.toList()));
        seen.put(
                "read of the dropped",
                Printing.refusal(() -> Rows.get(client, Rows.wanted(GLOBAL, global("y")))));
        client.deleteTable(new DeleteTableRequest(TABLE));
        seen.put(
                "gone",
                Printing.refusal(() -> client.describeTable(new DescribeTableRequest(LOCAL))));
    }

    private static void create(SyncClient client) {
        TableMeta meta = new TableMeta(TABLE);
        meta.addPrimaryKeyColumn("pk", PrimaryKeyType.STRING);
        meta.addPrimaryKeyColumn("n", PrimaryKeyType.INTEGER);
        meta.addDefinedColumn("s", DefinedColumnType.STRING);
        meta.addDefinedColumn("i", DefinedColumnType.INTEGER);
        meta.addDefinedColumn("d", DefinedColumnType.DOUBLE);
        IndexMeta global = new IndexMeta(GLOBAL);
        global.addPrimaryKeyColumn("s");
        global.addPrimaryKeyColumn("pk");
        global.addDefinedColumn("i");
        global.addDefinedColumn("d");
        IndexMeta local = new IndexMeta(LOCAL);
        local.addPrimaryKeyColumn("pk");
        local.addPrimaryKeyColumn("i");
        local.addDefinedColumn("s");
        local.setIndexType(IndexType.IT_LOCAL_INDEX);
        local.setIndexUpdateMode(IndexUpdateMode.IUM_SYNC_INDEX);
        client.createTable(
                new CreateTableRequest(meta, new TableOptions(-1, 1), List.of(global, local)));
    }

    /** Makes a global index over i that covers s. */
    private static void create(SyncClient client, String name, boolean withRows) {
        IndexMeta meta = new IndexMeta(name);
        meta.addPrimaryKeyColumn("i");
        meta.addDefinedColumn("s");
        client.createIndex(new CreateIndexRequest(TABLE, meta, withRows));
    }

    private static void write(SyncClient client) {
        RowPutChange first = Rows.put(TABLE, Rows.key("a", 1), "s", Rows.text("x"));
        first.addColumn("i", Rows.number(7));
        first.addColumn("d", ColumnValue.fromDouble(0.5));
        first.addColumn("free", Rows.text("in no index"));
        client.putRow(new PutRowRequest(first));
        RowPutChange second = Rows.put(TABLE, Rows.key("a", 2), "s", Rows.text("w"));
        client.putRow(new PutRowRequest(second.addColumn("i", Rows.number(7))));
        client.putRow(
                new PutRowRequest(Rows.put(TABLE, Rows.key("b", 1), "i", Rows.number(9))));
    }

    private static void update(SyncClient client, PrimaryKey key, String name, ColumnValue value) {
        RowUpdateChange change = new RowUpdateChange(TABLE, key);
        change.put(new Column(name, value));
        client.updateRow(new UpdateRowRequest(change));
    }

    private static PrimaryKey global(String s) {
        return PrimaryKeyBuilder.createPrimaryKeyBuilder()
                .addPrimaryKeyColumn("s", PrimaryKeyValue.fromString(s))
                .addPrimaryKeyColumn("pk", PrimaryKeyValue.fromString("a"))
                .addPrimaryKeyColumn("n", PrimaryKeyValue.fromLong(1))
                .build();
    }

    /** Reads a whole index, and once more from its end. */
    private static Object entries(SyncClient client, String index, String... names)
            throws Exception {
        PrimaryKey least = Ranges.bound(PrimaryKeyValue.INF_MIN, names);
        PrimaryKey most = Ranges.bound(PrimaryKeyValue.INF_MAX, names);
        return Printing.list(
                Ranges.rows(client, Ranges.span(index, least, most, Direction.FORWARD)),
                Ranges.rows(client, Ranges.span(index, most, least, Direction.BACKWARD)));
    }

    /** An entry that is there and one that is not. */
    private static Object atOnce(SyncClient client) throws Exception {
        MultiRowQueryCriteria wanted = new MultiRowQueryCriteria(GLOBAL);
        wanted.setMaxVersions(1);
        wanted.addRow(global("x"));
        wanted.addRow(global("nothing"));
        BatchGetRowRequest request = new BatchGetRowRequest();
        request.addMultiRowQueryCriteria(wanted);
        List<Object> found = Printing.list();
        for (BatchGetRowResponse.RowResult each :
                client.batchGetRow(request).getBatchGetRowResult(GLOBAL)) {
            Row row = each.getRow();
            found.add(
                    row == null
                            ? Printing.list(Printing.list(), Printing.list())
                            : Printing.row(row));
        }
        return found;
    }

    private static List<Object> described(SyncClient client) {
        List<Object> told = Printing.list();
        for (IndexMeta each :
                client.describeTable(new DescribeTableRequest(TABLE)).getIndexMeta()) {
            boolean isLocal =
                    each.getIndexType() == IndexType.IT_LOCAL_INDEX
                            && each.getIndexUpdateMode() == IndexUpdateMode.IUM_SYNC_INDEX;
            told.add(
                    Printing.list(
                            each.getIndexName(),
                            each.getPrimaryKeyList(),
                            each.getDefinedColumnsList(),
                            isLocal ? "LOCAL" : "GLOBAL",
                            each.getIndexSyncPhase().name()));
        }
        return told;
    }

    private static Object describedAsTable(SyncClient client) {
        DescribeTableResponse found = client.describeTable(new DescribeTableRequest(GLOBAL));
        List<Object> key = Printing.list();
        for (PrimaryKeySchema column : found.getTableMeta().getPrimaryKeyList()) {
            key.add(Printing.list(column.getName(), column.getType()));
        }
        List<Object> covered = Printing.list();
        for (DefinedColumnSchema column : found.getTableMeta().getDefinedColumnsList()) {
            covered.add(Printing.list(column.getName(), column.getType()));
        }
        return Printing.list(key, covered);
    }

    private static Object listed(SyncClient client) {
        return client.listTable().getTableNames().stream()
                .filter(name -> name.startsWith(TABLE))
                .collect(Collectors.toList());
    }
}
