import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.model.BatchGetRowRequest;
import com.alicloud.openservices.tablestore.model.BatchGetRowResponse;
import com.alicloud.openservices.tablestore.model.BatchWriteRowRequest;
import com.alicloud.openservices.tablestore.model.BatchWriteRowResponse;
import com.alicloud.openservices.tablestore.model.Condition;
import com.alicloud.openservices.tablestore.model.Error;
import com.alicloud.openservices.tablestore.model.MultiRowQueryCriteria;
import com.alicloud.openservices.tablestore.model.PrimaryKey;
import com.alicloud.openservices.tablestore.model.PrimaryKeyBuilder;
import com.alicloud.openservices.tablestore.model.PrimaryKeyValue;
import com.alicloud.openservices.tablestore.model.PutRowRequest;
import com.alicloud.openservices.tablestore.model.ReturnType;
import com.alicloud.openservices.tablestore.model.RowChange;
import com.alicloud.openservices.tablestore.model.RowDeleteChange;
import com.alicloud.openservices.tablestore.model.RowExistenceExpectation;
import com.alicloud.openservices.tablestore.model.RowPutChange;
import java.util.List;
import java.util.Map;

/** The actions on several rows by their keys. */
final class Batches {
    private Batches() {}

    /** Rows of two tables, one that is not there, one of a wrong key. */
    static Map<String, Object> batchGet(SyncClient client) throws Exception {
        Tables.create(client, "batch_get", 1);
        Rows.createBinary(client, "batch_get_binary");
        PrimaryKey binary = Rows.binaryKey(7);
        store(client, "batch_get", Rows.key("a", 1), "first");
        store(client, "batch_get", Rows.key("a", 2), "second");
        store(client, "batch_get_binary", binary, "third");

        MultiRowQueryCriteria rows = new MultiRowQueryCriteria("batch_get");
        rows.setMaxVersions(1);
        for (long n = 1; n <= 3; n++) {
            rows.addRow(Rows.key("a", n));
        }
        rows.addRow(keyOf("pk", PrimaryKeyValue.fromString("a")));
        MultiRowQueryCriteria others = new MultiRowQueryCriteria("batch_get_binary");
        others.setMaxVersions(1);
        others.addRow(binary);
        BatchGetRowRequest request = new BatchGetRowRequest();
        request.addMultiRowQueryCriteria(rows);
        request.addMultiRowQueryCriteria(others);
        BatchGetRowResponse got = client.batchGetRow(request);
        return Printing.facts(
                "rows", found(got.getBatchGetRowResult("batch_get")),
                "others", found(got.getBatchGetRowResult("batch_get_binary")),
                "failed rows", got.getFailedRows().size());
    }

    /** Every kind of change; a failed condition, a wrong key and a missing table in between. */
    static Map<String, Object> batchWrite(SyncClient client) throws Exception {
        Tables.create(client, "batch_write", 1);
        client.putRow(
                new PutRowRequest(
                        Rows.put("batch_write", Rows.key("update", 1), "count", Rows.number(1))));
        store(client, "batch_write", Rows.key("delete", 1), "x");

        RowPutChange put = change("batch_write", Rows.key("put", 1), "put");
        put.setReturnType(ReturnType.RT_PK);
        RowPutChange refused = change("batch_write", Rows.key("refused", 1), "x");
        refused.setCondition(new Condition(RowExistenceExpectation.EXPECT_EXIST));
        PrimaryKey misnamed =
                PrimaryKeyBuilder.createPrimaryKeyBuilder()
                        .addPrimaryKeyColumn("pk", PrimaryKeyValue.fromString("a"))
                        .addPrimaryKeyColumn("m", PrimaryKeyValue.fromLong(1))
                        .build();
        BatchWriteRowResponse written =
                write(
                        client,
                        false,
                        put,
                        refused,
                        Rows.increment("batch_write", Rows.key("update", 1), "count", 41),
                        new RowDeleteChange("batch_write", Rows.key("delete", 1)),
                        change("batch_write", misnamed, "x"),
                        change("batch_none", Rows.key("a", 1), "x"));
        List<Object> after = Printing.list();
        for (String pk : List.of("put", "refused", "update", "delete")) {
            after.add(cells(client, "batch_write", Rows.key(pk, 1)));
        }
        return Printing.facts(
                "rows", changed(written.getRowStatus("batch_write")),
                "none", changed(written.getRowStatus("batch_none")),
                "failed rows", written.getFailedRows().size(),
                "after", after);
    }

    /** All rows or none of one partition key value; rows of two of them. */
    static Map<String, Object> atomicBatch(SyncClient client) throws Exception {
        Tables.create(client, "atomic", 1);
        BatchWriteRowResponse both =
                write(
                        client,
                        true,
                        change("atomic", Rows.key("a", 1), "1"),
                        change("atomic", Rows.key("a", 2), "2"));
        RowPutChange absent = change("atomic", Rows.key("a", 4), "4");
        absent.setCondition(new Condition(RowExistenceExpectation.EXPECT_EXIST));
        BatchWriteRowResponse failed =
                write(client, true, change("atomic", Rows.key("a", 3), "3"), absent);
        BatchWriteRowResponse apart =
                write(
                        client,
                        true,
                        change("atomic", Rows.key("b", 1), "1"),
                        change("atomic", Rows.key("c", 1), "1"));
        List<Object> after = Printing.list();
        for (long n = 1; n <= 3; n++) {
            after.add(cells(client, "atomic", Rows.key("a", n)));
        }
        after.add(cells(client, "atomic", Rows.key("b", 1)));
        return Printing.facts(
                "both", changed(both.getRowStatus("atomic")),
                "failed", changed(failed.getRowStatus("atomic")),
                "apart", changed(apart.getRowStatus("atomic")),
                "after", after);
    }

    private static BatchWriteRowResponse write(
            SyncClient client, boolean isAtomic, RowChange... changes) {
        BatchWriteRowRequest request = new BatchWriteRowRequest();
        if (isAtomic) {
            request.setAtomic(true);
        }
        for (RowChange change : changes) {
            request.addRowChange(change);
        }
        return client.batchWriteRow(request);
    }

    private static PrimaryKey keyOf(String name, PrimaryKeyValue value) {
        return PrimaryKeyBuilder.createPrimaryKeyBuilder()
                .addPrimaryKeyColumn(name, value)
                .build();
    }

    private static RowPutChange change(String table, PrimaryKey key, String value) {
        return Rows.put(table, key, "c", Rows.text(value));
    }

    private static void store(SyncClient client, String table, PrimaryKey key, String value) {
        client.putRow(new PutRowRequest(change(table, key, value)));
    }

    private static Object cells(SyncClient client, String table, PrimaryKey key) {
        return Printing.cells(Rows.get(client, Rows.wanted(table, key)));
    }

    private static Object found(List<BatchGetRowResponse.RowResult> rows) throws Exception {
        List<Object> found = Printing.list();
        for (BatchGetRowResponse.RowResult row : rows) {
            found.add(
                    row.isSucceed()
                            ? Printing.facts(
                                    "row", Printing.row(row.getRow()),
                                    "units", Printing.units(row.getConsumedCapacity()))
                            : failure(row.getError()));
        }
        return found;
    }

    private static Object changed(List<BatchWriteRowResponse.RowResult> rows) throws Exception {
        List<Object> changed = Printing.list();
        for (BatchWriteRowResponse.RowResult row : rows) {
            changed.add(
                    row.isSucceed()
                            ? Printing.facts(
                                    "row", Printing.row(row.getRow()),
                                    "units", Printing.units(row.getConsumedCapacity()))
                            : failure(row.getError()));
        }
        return changed;
    }

    private static Object failure(Error error) {
        return Printing.facts("code", error.getCode(), "message", error.getMessage());
    }
}
