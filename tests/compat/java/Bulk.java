import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.core.protocol.PlainBufferCodedInputStream;
import com.alicloud.openservices.tablestore.core.protocol.PlainBufferConversion;
import com.alicloud.openservices.tablestore.core.protocol.PlainBufferInputStream;
import com.alicloud.openservices.tablestore.core.protocol.PlainBufferRow;
import com.alicloud.openservices.tablestore.model.BulkExportRequest;
import com.alicloud.openservices.tablestore.model.BulkExportResponse;
import com.alicloud.openservices.tablestore.model.BulkImportRequest;
import com.alicloud.openservices.tablestore.model.BulkImportResponse;
import com.alicloud.openservices.tablestore.model.Column;
import com.alicloud.openservices.tablestore.model.ColumnValue;
import com.alicloud.openservices.tablestore.model.ConsumedCapacity;
import com.alicloud.openservices.tablestore.model.CreateTableRequest;
import com.alicloud.openservices.tablestore.model.DataBlockType;
import com.alicloud.openservices.tablestore.model.DefinedColumnType;
import com.alicloud.openservices.tablestore.model.Direction;
import com.alicloud.openservices.tablestore.model.PrimaryKey;
import com.alicloud.openservices.tablestore.model.PrimaryKeyBuilder;
import com.alicloud.openservices.tablestore.model.PrimaryKeyType;
import com.alicloud.openservices.tablestore.model.PrimaryKeyValue;
import com.alicloud.openservices.tablestore.model.RangeIteratorParameter;
import com.alicloud.openservices.tablestore.model.Row;
import com.alicloud.openservices.tablestore.model.RowChange;
import com.alicloud.openservices.tablestore.model.RowDeleteChange;
import com.alicloud.openservices.tablestore.model.RowPutChange;
import com.alicloud.openservices.tablestore.model.RowUpdateChange;
import com.alicloud.openservices.tablestore.model.SimpleRowMatrixBlockParser;
import com.alicloud.openservices.tablestore.model.TableMeta;
import com.alicloud.openservices.tablestore.model.TableOptions;
import com.alicloud.openservices.tablestore.model.filter.SingleColumnValueFilter;
import com.alicloud.openservices.tablestore.model.tunnel.BulkExportQueryCriteria;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** BulkImport and BulkExport, which this SDK alone has. */
final class Bulk {
    private Bulk() {}

    /** Puts, updates and deletes in one request, rows that are refused, requests that are. */
    static Map<String, Object> imports(SyncClient client) throws Exception {
        create(client, "bulk_import");
        RowPutChange dated = new RowPutChange("bulk_import", Rows.key("a", 1));
        dated.addColumn(new Column("c", Rows.text("put"), Printing.BASE));
        RowUpdateChange update = new RowUpdateChange("bulk_import", Rows.key("a", 2));
        update.put(new Column("c", Rows.text("update")));
        BulkImportResponse first = send(client, "bulk_import", List.of(dated, update));
        RowDeleteChange deletion = new RowDeleteChange("bulk_import", Rows.key("a", 2));
        RowPutChange typed =
                Rows.put("bulk_import", Rows.key("a", 3), "i", ColumnValue.fromBinary(new byte[1]));
        PrimaryKey shortKey =
                PrimaryKeyBuilder.createPrimaryKeyBuilder()
                        .addPrimaryKeyColumn("pk", PrimaryKeyValue.fromString("a"))
                        .build();
        RowPutChange keyed = Rows.put("bulk_import", shortKey, "c", Rows.text("x"));
        RowPutChange last = Rows.put("bulk_import", Rows.key("a", 4), "i", Rows.number(4));
        BulkImportResponse second =
                send(client, "bulk_import", List.of(deletion, typed, keyed, last));
        RowPutChange lost = Rows.put("bulk_none", Rows.key("a", 1), "c", Rows.text("x"));
        return Printing.facts(
                "first", results(first),
                "second", results(second),
                "request id", second.getRequestId().length(),
                "no table", results(send(client, "bulk_none", List.of(lost))),
                "row", Printing.datedCells(
                        Rows.get(client, Rows.wanted("bulk_import", Rows.key("a", 1)))),
                "left", Ranges.rows(
                        client,
                        Ranges.span(
                                "bulk_import",
                                Rows.key("a", 2),
                                Rows.key("a", 9),
                                Direction.FORWARD)),
                "none", Printing.refusal(() -> send(client, "bulk_import", List.of())),
                "too many", Printing.refusal(() -> store(client, "bulk_import", 0, 201)));
    }

    /** Every form of an answer, with a filter and without, and what is refused. */
    static Map<String, Object> exports(SyncClient client) throws Exception {
        create(client, "bulk_export");
        store(client, "bulk_export", 0, 3);
        SingleColumnValueFilter second =
                new SingleColumnValueFilter(
                        "i", SingleColumnValueFilter.CompareOperator.EQUAL, Rows.number(1));
        second.setPassIfMissing(false);
        BulkExportQueryCriteria filtered = wanted("bulk_export", "n", "i");
        filtered.setFilter(second);
        BulkExportQueryCriteria empty = wanted("bulk_export", "i");
        empty.setInclusiveStartPrimaryKey(Rows.key("z", 0));
        BulkExportQueryCriteria reversed = wanted("bulk_export", "i");
        reversed.setInclusiveStartPrimaryKey(Ranges.most());
        reversed.setExclusiveEndPrimaryKey(Ranges.least());
        return Printing.facts(
                "whole key", matrix(client, wanted("bulk_export", "pk", "n", "i")),
                "other order", matrix(client, wanted("bulk_export", "x", "i", "n", "pk")),
                "part of the key", matrix(client, wanted("bulk_export", "n", "i", "none")),
                "no key", matrix(client, wanted("bulk_export", "x", "i")),
                "only the key", matrix(client, wanted("bulk_export", "pk", "n")),
                "filter", matrix(client, filtered),
                "empty", matrix(client, empty),
                "plain", plain(client, wanted("bulk_export", "i")),
                "plain, everything", plain(client, wanted("bulk_export")),
                "no columns", refusal(client, wanted("bulk_export")),
                "wrong way", refusal(client, reversed),
                "no table", refusal(client, wanted("bulk_none", "i")));
    }

    /** More rows than a page has, through the SDK's own iterator, which compares its pages. */
    static Map<String, Object> pages(SyncClient client) throws Exception {
        create(client, "bulk_pages");
        for (long from = 0; from < 5200; from += 200) {
            store(client, "bulk_pages", from, 200);
        }
        RangeIteratorParameter all = new RangeIteratorParameter("bulk_pages");
        all.setInclusiveStartPrimaryKey(Ranges.least());
        all.setExclusiveEndPrimaryKey(Ranges.most());
        all.addColumnsToGet(new String[] {"pk", "n", "i"});
        Iterator<Row> rows = client.createBulkExportIterator(all);
        long count = 0;
        long sum = 0;
        while (rows.hasNext()) {
            Row row = rows.next();
            count += 1;
            sum += row.getLatestColumn("i").getValue().asLong();
        }
        BulkExportResponse first =
                client.bulkExport(new BulkExportRequest(wanted("bulk_pages", "n")));
        return Printing.facts(
                "rows", count,
                "sum", sum,
                "first page", new SimpleRowMatrixBlockParser(first.getRows()).getRowCount(),
                "next key", Printing.key(first.getNextStartPrimaryKey()));
    }

    private static void create(SyncClient client, String name) {
        TableMeta meta = new TableMeta(name);
        meta.addPrimaryKeyColumn("pk", PrimaryKeyType.STRING);
        meta.addPrimaryKeyColumn("n", PrimaryKeyType.INTEGER);
        meta.addDefinedColumn("i", DefinedColumnType.INTEGER);
        client.createTable(new CreateTableRequest(meta, new TableOptions(-1, 1)));
    }

    private static BulkImportResponse send(
            SyncClient client, String table, List<? extends RowChange> changes) {
        BulkImportRequest request = new BulkImportRequest(table);
        changes.forEach(request::addRowChange);
        return client.bulkImport(request);
    }

    /** Rows of an integer and a text, from a number on. */
    private static void store(SyncClient client, String table, long from, int count) {
        BulkImportRequest request = new BulkImportRequest(table);
        for (long n = from; n < from + count; n++) {
            RowPutChange change = Rows.put(table, Rows.key("a", n), "i", Rows.number(n));
            request.addRowChange(change.addColumn("x", Rows.text("text " + n)));
        }
        if (!client.bulkImport(request).isAllSucceed()) {
            throw new IllegalStateException("a row was refused");
        }
    }

    private static Object results(BulkImportResponse answer) {
        List<Object> told = Printing.list();
        for (BulkImportResponse.RowResult row : answer.getRowResults()) {
            told.add(
                    row.isSucceed()
                            ? consumed(row.getConsumedCapacity())
                            : Printing.list(
                                    row.getError().getCode(), row.getError().getMessage()));
        }
        return told;
    }

    /** Capacity units read and written, bytes read and written. */
    private static Object consumed(ConsumedCapacity used) {
        return Printing.list(
                used.getCapacityUnit().getReadCapacityUnit(),
                used.getCapacityUnit().getWriteCapacityUnit(),
                used.getCapacityDataSize().getReadCapacityDataSize(),
                used.getCapacityDataSize().getWriteCapacityDataSize());
    }

    private static BulkExportQueryCriteria wanted(String table, String... columns) {
        BulkExportQueryCriteria criteria = new BulkExportQueryCriteria(table);
        criteria.setInclusiveStartPrimaryKey(Ranges.least());
        criteria.setExclusiveEndPrimaryKey(Ranges.most());
        criteria.addColumnsToGet(columns);
        return criteria;
    }

    private static Object refusal(SyncClient client, BulkExportQueryCriteria criteria)
            throws Exception {
        return Printing.refusal(() -> client.bulkExport(new BulkExportRequest(criteria)));
    }

    /** What the SDK makes of a row matrix: its head, and each field of each row. */
    private static Object matrix(SyncClient client, BulkExportQueryCriteria criteria)
            throws Exception {
        BulkExportResponse answer = client.bulkExport(new BulkExportRequest(criteria));
        SimpleRowMatrixBlockParser block = new SimpleRowMatrixBlockParser(answer.getRows());
        String[] names = block.parseFieldNames();
        List<Object> rows = Printing.list();
        while (block.hasNext()) {
            block.next();
            List<Object> fields = Printing.list();
            for (int at = 0; at < names.length; at++) {
                fields.add(block.getObject(at));
            }
            rows.add(fields);
        }
        return Printing.facts(
                "type", answer.getDataBlockType().name(),
                "names", names,
                "key columns", block.getPkCount(),
                "attributes", block.getAttrCount(),
                "whole key", block.hasEntirePrimaryKeys(),
                "rows", rows,
                "next", Printing.key(answer.getNextStartPrimaryKey()),
                "consumed", consumed(answer.getConsumedCapacity()));
    }

    private static Object plain(SyncClient client, BulkExportQueryCriteria criteria)
            throws Exception {
        criteria.setDataBlockType(DataBlockType.DBT_PLAIN_BUFFER);
        BulkExportResponse answer = client.bulkExport(new BulkExportRequest(criteria));
        ByteBuffer data = answer.getRows();
        PlainBufferCodedInputStream stream =
                new PlainBufferCodedInputStream(new PlainBufferInputStream(data));
        List<Object> rows = Printing.list();
        for (PlainBufferRow row : stream.readRowsWithHeader()) {
            rows.add(Printing.row(PlainBufferConversion.toRow(row)));
        }
        return Printing.facts(
                "type", answer.getDataBlockType().name(),
                "rows", rows,
                "consumed", consumed(answer.getConsumedCapacity()));
    }
}
