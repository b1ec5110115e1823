import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.model.BatchGetRowRequest;
import com.alicloud.openservices.tablestore.model.Column;
import com.alicloud.openservices.tablestore.model.ColumnValue;
import com.alicloud.openservices.tablestore.model.Condition;
import com.alicloud.openservices.tablestore.model.CreateTableRequest;
import com.alicloud.openservices.tablestore.model.DeleteRowRequest;
import com.alicloud.openservices.tablestore.model.DeleteRowResponse;
import com.alicloud.openservices.tablestore.model.GetRowRequest;
import com.alicloud.openservices.tablestore.model.GetRowResponse;
import com.alicloud.openservices.tablestore.model.MultiRowQueryCriteria;
import com.alicloud.openservices.tablestore.model.PrimaryKey;
import com.alicloud.openservices.tablestore.model.PrimaryKeyBuilder;
import com.alicloud.openservices.tablestore.model.PrimaryKeyType;
import com.alicloud.openservices.tablestore.model.PrimaryKeyValue;
import com.alicloud.openservices.tablestore.model.PutRowRequest;
import com.alicloud.openservices.tablestore.model.PutRowResponse;
import com.alicloud.openservices.tablestore.model.ReturnType;
import com.alicloud.openservices.tablestore.model.Row;
import com.alicloud.openservices.tablestore.model.RowDeleteChange;
import com.alicloud.openservices.tablestore.model.RowExistenceExpectation;
import com.alicloud.openservices.tablestore.model.RowPutChange;
import com.alicloud.openservices.tablestore.model.RowUpdateChange;
import com.alicloud.openservices.tablestore.model.SingleRowQueryCriteria;
import com.alicloud.openservices.tablestore.model.TableMeta;
import com.alicloud.openservices.tablestore.model.TableOptions;
import com.alicloud.openservices.tablestore.model.TimeRange;
import com.alicloud.openservices.tablestore.model.UpdateRowRequest;
import com.alicloud.openservices.tablestore.model.UpdateRowResponse;
import com.alicloud.openservices.tablestore.model.condition.CompositeColumnValueCondition;
import com.alicloud.openservices.tablestore.model.condition.SingleColumnValueCondition;
import com.alicloud.openservices.tablestore.model.filter.ColumnPaginationFilter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The actions on one row. */
final class Rows {
    private static final long BASE = Printing.BASE;

    private Rows() {}

    /** Every type of value, with versions given and not, there and back. */
    static Map<String, Object> values(SyncClient client) throws Exception {
        Tables.create(client, "values", 3);
        RowPutChange change = new RowPutChange("values", key("värde 值", 1));
        change.addColumn("text", text("héllo 世界"));
        change.addColumn("empty", text(""));
        change.addColumn("least", number(Long.MIN_VALUE));
        change.addColumn("most", number(Long.MAX_VALUE));
        change.addColumn("double", ColumnValue.fromDouble(2.5));
        change.addColumn("yes", ColumnValue.fromBoolean(true));
        change.addColumn("no", ColumnValue.fromBoolean(false));
        change.addColumn("bytes", ColumnValue.fromBinary(new byte[] {0, -1, 16}));
        PutRowResponse put = client.putRow(new PutRowRequest(change));
        GetRowResponse got = client.getRow(new GetRowRequest(wanted("values", key("värde 值", 1))));
        long version = got.getRow().getColumns()[0].getTimestamp();

        RowPutChange dated = new RowPutChange("values", key("dated", 1));
        for (long each = 1; each <= 4; each++) {
            dated.addColumn("c", number(each), BASE + each);
        }
        client.putRow(new PutRowRequest(dated));
        SingleRowQueryCriteria all = wanted("values", key("dated", 1));
        all.setMaxVersions(Integer.MAX_VALUE);

        createBinary(client, "values_binary");
        PrimaryKey binary = binaryKey(0, 1, 255);
        client.putRow(new PutRowRequest(new RowPutChange("values_binary", binary)));
        return Printing.facts(
                "row", Printing.row(got.getRow()),
                "dated now", Math.abs(version - System.currentTimeMillis()) < 60_000,
                "put units", Printing.units(put.getConsumedCapacity()),
                "get units", Printing.units(got.getConsumedCapacity()),
                "request id", got.getRequestId().length(),
                "versions", Printing.datedCells(get(client, all)),
                "only the key",
                        Printing.row(get(client, wanted("values_binary", binary))));
    }

    /** Columns, column ranges, versions and times of a row; a row that is not there. */
    static Map<String, Object> selections(SyncClient client) throws Exception {
        Tables.create(client, "selections", 3);
        RowPutChange change = new RowPutChange("selections", key("a", 1));
        for (String name : List.of("a", "b", "c", "d")) {
            change.addColumn(name, text(name + " old"), BASE + 1);
            change.addColumn(name, text(name + " new"), BASE + 2);
        }
        client.putRow(new PutRowRequest(change));
        GetRowResponse missing =
                client.getRow(new GetRowRequest(wanted("selections", key("a", 2))));
        return Printing.facts(
                "columns",
                        selected(client, it -> it.addColumnsToGet(
                                new String[] {"d", "b", "nothing"})),
                "column range",
                        selected(client, it -> {
                            it.setStartColumn("b");
                            it.setEndColumn("d");
                        }),
                "two versions",
                        selected(client, it -> {
                            it.addColumnsToGet("a");
                            it.setMaxVersions(2);
                        }),
                "times",
                        selected(client, it -> {
                            it.addColumnsToGet("a");
                            it.setMaxVersions(10);
                            it.setTimeRange(new TimeRange(BASE + 1, BASE + 2));
                        }),
                "all times",
                        selected(client, it -> {
                            it.addColumnsToGet("a");
                            it.setTimeRange(new TimeRange());
                        }),
                "no such column", selected(client, it -> it.addColumnsToGet("nothing")),
                "one time", selectedAtOneTime(client),
                "missing row", Printing.row(missing.getRow()),
                "missing units", Printing.units(missing.getConsumedCapacity()));
    }

    private static Object selected(SyncClient client, Consumer<SingleRowQueryCriteria> narrow) {
        SingleRowQueryCriteria criteria = wanted("selections", key("a", 1));
        narrow.accept(criteria);
        return Printing.datedCells(get(client, criteria));
    }

    private static Object selectedAtOneTime(SyncClient client) {
        SingleRowQueryCriteria criteria = new SingleRowQueryCriteria("selections", key("a", 1));
        criteria.addColumnsToGet("a");
        criteria.setTimestamp(BASE + 2);
        return Printing.datedCells(get(client, criteria));
    }

    /** As many columns as one request may write, twice, and selections of them. */
    static Map<String, Object> wideRow(SyncClient client) {
        Tables.create(client, "wide", 1);
        for (int part = 0; part < 2; part++) {
            RowUpdateChange change = new RowUpdateChange("wide", key("wide", 1));
            for (int each = part * 1024; each < (part + 1) * 1024; each++) {
                change.put(String.format("c%04d", each), number(each));
            }
            client.updateRow(new UpdateRowRequest(change));
        }
        Column[] columns = get(client, wanted("wide", key("wide", 1))).getColumns();
        long sum = 0;
        for (Column column : columns) {
            sum += column.getValue().asLong();
        }
        SingleRowQueryCriteria some = wanted("wide", key("wide", 1));
        for (int each = 0; each < 2048; each += 16) {
            some.addColumnsToGet(String.format("c%04d", each));
        }
        SingleRowQueryCriteria page = wanted("wide", key("wide", 1));
        page.setFilter(new ColumnPaginationFilter(2, 1500));
        return Printing.facts(
                "columns", columns.length,
                "first", columns[0].getName(),
                "last", columns[columns.length - 1].getName(),
                "sum", sum,
                "selection", get(client, some).getColumns().length,
                "page", Printing.cells(get(client, page)));
    }

    /** A row of six megabytes, which is answered in parts; the SDK joins them by itself. */
    static Map<String, Object> heavyRow(SyncClient client) {
        Tables.create(client, "heavy", 1);
        PrimaryKey key = key("heavy", 1);
        for (int each = 0; each < 6; each++) {
            RowUpdateChange change = new RowUpdateChange("heavy", key);
            byte[] filling = new byte[1 << 20];
            filling[0] = (byte) each;
            change.put("c" + each, ColumnValue.fromBinary(filling));
            client.updateRow(new UpdateRowRequest(change));
        }
        MultiRowQueryCriteria several = new MultiRowQueryCriteria("heavy");
        several.setMaxVersions(1);
        several.addRow(key);
        BatchGetRowRequest batch = new BatchGetRowRequest();
        batch.addMultiRowQueryCriteria(several);
        return Printing.facts(
                "alone", firstBytes(get(client, wanted("heavy", key))),
                "in a batch",
                        firstBytes(
                                client.batchGetRow(batch)
                                        .getBatchGetRowResult("heavy")
                                        .get(0)
                                        .getRow()));
    }

    private static Object firstBytes(Row row) {
        List<Object> found = Printing.list();
        for (Column column : row.getColumns()) {
            byte[] value = column.getValue().asBinary();
            found.add(Printing.list(column.getName(), value[0], value.length));
        }
        return found;
    }

    /** Put, delete one version, delete all of them, increment, all in one request. */
    static Map<String, Object> updateRow(SyncClient client) throws Exception {
        Tables.create(client, "update_row", 3);
        RowPutChange change = new RowPutChange("update_row", key("a", 1));
        change.addColumn("one", text("old"), BASE + 1).addColumn("one", text("new"), BASE + 2);
        change.addColumn("all", text("old"), BASE + 1).addColumn("all", text("new"), BASE + 2);
        change.addColumn("kept", text("kept"), BASE + 1);
        client.putRow(new PutRowRequest(change));

        RowUpdateChange update = increment("update_row", key("a", 1), "count", 7);
        update.put("put", text("put"), BASE + 5);
        update.deleteColumn("one", BASE + 2);
        update.deleteColumns("all");
        UpdateRowResponse first = client.updateRow(new UpdateRowRequest(update));
        UpdateRowResponse second =
                client.updateRow(
                        new UpdateRowRequest(
                                increment("update_row", key("a", 1), "count", -10)));
        SingleRowQueryCriteria criteria = wanted("update_row", key("a", 1));
        criteria.addColumnsToGet(new String[] {"all", "kept", "one", "put"});
        criteria.setMaxVersions(10);
        RowUpdateChange onText = increment("update_row", key("a", 1), "kept", 1);
        return Printing.facts(
                "incremented", Printing.cells(first.getRow()),
                "incremented again", Printing.cells(second.getRow()),
                "units", Printing.units(first.getConsumedCapacity()),
                "cells", Printing.datedCells(get(client, criteria)),
                "increment of text",
                        Printing.refusal(() -> client.updateRow(new UpdateRowRequest(onText))));
    }

    /** A row that is there, and one that is not. */
    static Map<String, Object> deleteRow(SyncClient client) {
        Tables.create(client, "delete_row", 1);
        client.putRow(new PutRowRequest(put("delete_row", key("a", 1), "c", text("x"))));
        DeleteRowResponse deleted =
                client.deleteRow(
                        new DeleteRowRequest(new RowDeleteChange("delete_row", key("a", 1))));
        client.deleteRow(
                new DeleteRowRequest(new RowDeleteChange("delete_row", key("absent", 1))));
        return Printing.facts(
                "units", Printing.units(deleted.getConsumedCapacity()),
                "left", Printing.cells(get(client, wanted("delete_row", key("a", 1)))));
    }

    /** Existence and columns, those that hold and those that do not, and what stays. */
    static Map<String, Object> conditions(SyncClient client) throws Exception {
        Tables.create(client, "conditions", 1);
        RowPutChange absent = put("conditions", key("a", 1), "price", number(10));
        absent.setCondition(new Condition(RowExistenceExpectation.EXPECT_NOT_EXIST));
        RowUpdateChange present = new RowUpdateChange("conditions", key("b", 1));
        present.put("price", number(1));
        present.setCondition(new Condition(RowExistenceExpectation.EXPECT_EXIST));
        RowDeleteChange remove = new RowDeleteChange("conditions", key("a", 1));
        CompositeColumnValueCondition either =
                new CompositeColumnValueCondition(
                        CompositeColumnValueCondition.LogicOperator.OR);
        either.addCondition(priceIs(SingleColumnValueCondition.CompareOperator.EQUAL, 1));
        either.addCondition(priceIs(SingleColumnValueCondition.CompareOperator.EQUAL, 2));
        remove.setCondition(new Condition(RowExistenceExpectation.IGNORE));
        remove.getCondition().setColumnCondition(either);
        return Printing.facts(
                "inserted", Printing.refusal(() -> client.putRow(new PutRowRequest(absent))),
                "inserted twice",
                        Printing.refusal(() -> client.putRow(new PutRowRequest(absent))),
                "update of none",
                        Printing.refusal(() -> client.updateRow(new UpdateRowRequest(present))),
                "column fails", Printing.refusal(() -> raise(client, 11)),
                "column holds", Printing.refusal(() -> raise(client, 10)),
                "composite fails",
                        Printing.refusal(() -> client.deleteRow(new DeleteRowRequest(remove))),
                "left", Printing.cells(get(client, wanted("conditions", key("a", 1)))));
    }

    private static void raise(SyncClient client, long least) {
        RowUpdateChange change = new RowUpdateChange("conditions", key("a", 1));
        change.put("price", number(20));
        Condition condition = new Condition(RowExistenceExpectation.EXPECT_EXIST);
        condition.setColumnCondition(
                priceIs(SingleColumnValueCondition.CompareOperator.GREATER_EQUAL, least));
        change.setCondition(condition);
        client.updateRow(new UpdateRowRequest(change));
    }

    private static SingleColumnValueCondition priceIs(
            SingleColumnValueCondition.CompareOperator operator, long constant) {
        return new SingleColumnValueCondition("price", operator, number(constant));
    }

    /** Keys that the server makes, returned and readable. */
    static Map<String, Object> autoIncrement(SyncClient client) {
        TableMeta meta = new TableMeta("auto");
        meta.addPrimaryKeyColumn("pk", PrimaryKeyType.STRING);
        meta.addAutoIncrementPrimaryKeyColumn("seq");
        client.createTable(new CreateTableRequest(meta, new TableOptions(-1, 1)));
        List<PrimaryKey> made = new ArrayList<>();
        for (int each = 0; each < 3; each++) {
            PrimaryKey marked =
                    PrimaryKeyBuilder.createPrimaryKeyBuilder()
                            .addPrimaryKeyColumn("pk", PrimaryKeyValue.fromString("a"))
                            .addPrimaryKeyColumn("seq", PrimaryKeyValue.AUTO_INCREMENT)
                            .build();
            RowPutChange change = put("auto", marked, "number", number(each));
            change.setReturnType(ReturnType.RT_PK);
            made.add(client.putRow(new PutRowRequest(change)).getRow().getPrimaryKey());
        }
        long[] numbers =
                made.stream()
                        .mapToLong(key -> key.getPrimaryKeyColumn("seq").getValue().asLong())
                        .toArray();
        return Printing.facts(
                "partition key", made.get(0).getPrimaryKeyColumn("pk").getValue().asString(),
                "increasing", numbers[0] < numbers[1] && numbers[1] < numbers[2],
                "last", Printing.cells(get(client, wanted("auto", made.get(2)))));
    }

    // --- requests ----------------------------------------------------------------------------

    static ColumnValue text(String value) {
        return ColumnValue.fromString(value);
    }

    static ColumnValue number(long value) {
        return ColumnValue.fromLong(value);
    }

    /** A key of the tables that `Tables.create` makes. */
    static PrimaryKey key(String pk, long n) {
        return PrimaryKeyBuilder.createPrimaryKeyBuilder()
                .addPrimaryKeyColumn("pk", PrimaryKeyValue.fromString(pk))
                .addPrimaryKeyColumn("n", PrimaryKeyValue.fromLong(n))
                .build();
    }

    /** Makes a table of the key ("b" BINARY). */
    static void createBinary(SyncClient client, String name) {
        TableMeta meta = new TableMeta(name);
        meta.addPrimaryKeyColumn("b", PrimaryKeyType.BINARY);
        client.createTable(new CreateTableRequest(meta, new TableOptions(-1, 1)));
    }

    static PrimaryKey binaryKey(int... data) {
        byte[] value = new byte[data.length];
        for (int at = 0; at < data.length; at++) {
            value[at] = (byte) data[at];
        }
        return PrimaryKeyBuilder.createPrimaryKeyBuilder()
                .addPrimaryKeyColumn("b", PrimaryKeyValue.fromBinary(value))
                .build();
    }

    static RowPutChange put(String table, PrimaryKey key, String column, ColumnValue value) {
        return new RowPutChange(table, key).addColumn(column, value);
    }

    /** An increment whose result is returned. */
    static RowUpdateChange increment(String table, PrimaryKey key, String column, long by) {
        RowUpdateChange change = new RowUpdateChange(table, key);
        change.increment(new Column(column, number(by)));
        change.setReturnType(ReturnType.RT_AFTER_MODIFY);
        change.addReturnColumn(column);
        return change;
    }

    /** Asks for the newest version of every column. */
    static SingleRowQueryCriteria wanted(String table, PrimaryKey key) {
        SingleRowQueryCriteria criteria = new SingleRowQueryCriteria(table, key);
        criteria.setMaxVersions(1);
        return criteria;
    }

    static Row get(SyncClient client, SingleRowQueryCriteria criteria) {
        return client.getRow(new GetRowRequest(criteria)).getRow();
    }
}
