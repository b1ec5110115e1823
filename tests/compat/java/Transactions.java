import com.alicloud.openservices.tablestore.ClientConfiguration;
import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.model.AbortTransactionRequest;
import com.alicloud.openservices.tablestore.model.BatchWriteRowRequest;
import com.alicloud.openservices.tablestore.model.Column;
import com.alicloud.openservices.tablestore.model.CommitTransactionRequest;
import com.alicloud.openservices.tablestore.model.DefaultRetryStrategy;
import com.alicloud.openservices.tablestore.model.DeleteRowRequest;
import com.alicloud.openservices.tablestore.model.Direction;
import com.alicloud.openservices.tablestore.model.GetRangeRequest;
import com.alicloud.openservices.tablestore.model.GetRowRequest;
import com.alicloud.openservices.tablestore.model.PrimaryKey;
import com.alicloud.openservices.tablestore.model.PrimaryKeyBuilder;
import com.alicloud.openservices.tablestore.model.PrimaryKeyValue;
import com.alicloud.openservices.tablestore.model.PutRowRequest;
import com.alicloud.openservices.tablestore.model.Row;
import com.alicloud.openservices.tablestore.model.RowDeleteChange;
import com.alicloud.openservices.tablestore.model.RowPutChange;
import com.alicloud.openservices.tablestore.model.RowUpdateChange;
import com.alicloud.openservices.tablestore.model.StartLocalTransactionRequest;
import com.alicloud.openservices.tablestore.model.TxnRequest;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Several requests that happen together or not at all. */
final class Transactions {
    private static final String TABLE = "transactions";

    private Transactions() {}

    /** One that is aborted and one that is committed, seen from inside and from outside. */
    static Map<String, Object> transactions(SyncClient client) throws Exception {
        Tables.create(client, TABLE, 1);
        Map<String, Object> seen = new LinkedHashMap<>();
        for (String end : new String[] {"abort", "commit"}) {
            client.putRow(new PutRowRequest(put(1, "old")));
            client.putRow(new PutRowRequest(put(2, "old")));
            String id = start(client);
            writeInside(client, id, end);
            seen.put(end + " inside", state(client, id));
            seen.put(end + " outside", state(client, null));
            seen.put(end + " others", others(client));
            if (end.equals("abort")) {
                client.abortTransaction(new AbortTransactionRequest(id));
            } else {
                client.commitTransaction(new CommitTransactionRequest(id));
            }
            seen.put(end + " after", state(client, null));
            seen.put(end + " again", commitOf(client, id));
        }
        seen.put("forged", commitOf(client, "not existed transaction id"));
        return seen;
    }

    private static Object commitOf(SyncClient client, String id) throws Exception {
        return Printing.refusal(() -> client.commitTransaction(new CommitTransactionRequest(id)));
    }

    /** The put and the delete by themselves, the update in a batch. */
    private static void writeInside(SyncClient client, String id, String value) {
        client.putRow(inside(new PutRowRequest(put(1, value)), id));
        RowDeleteChange deletion = new RowDeleteChange(TABLE, Rows.key("a", 2));
        client.deleteRow(inside(new DeleteRowRequest(deletion), id));
        RowUpdateChange update = new RowUpdateChange(TABLE, Rows.key("a", 3));
        update.put(new Column("c", Rows.text(value)));
        BatchWriteRowRequest batch = new BatchWriteRowRequest();
        batch.addRowChange(update);
        if (!client.batchWriteRow(inside(batch, id)).isAllSucceed()) {
            throw new IllegalStateException("a row of the batch was refused");
        }
    }

    /** A second transaction, and a write without one, of the same partition key value. */
    private static Object others(SyncClient client) throws Exception {
        ClientConfiguration once = new ClientConfiguration();
        once.setRetryStrategy(new DefaultRetryStrategy(1, TimeUnit.MILLISECONDS));
        SyncClient hasty =
                new SyncClient(
                        client.getEndpoint(), "widerow", "widerow", client.getInstanceName(), once);
        try {
            return Printing.list(
                    Printing.refusal(() -> start(hasty)),
                    Printing.refusal(() -> hasty.putRow(new PutRowRequest(put(4, "others")))));
        } finally {
            hasty.shutdown();
        }
    }

    private static String start(SyncClient client) {
        PrimaryKey partition =
                PrimaryKeyBuilder.createPrimaryKeyBuilder()
                        .addPrimaryKeyColumn("pk", PrimaryKeyValue.fromString("a"))
                        .build();
        return client.startLocalTransaction(new StartLocalTransactionRequest(TABLE, partition))
                .getTransactionID();
    }

    private static RowPutChange put(long n, String value) {
        return Rows.put(TABLE, Rows.key("a", n), "c", Rows.text(value));
    }

    private static <R extends TxnRequest> R inside(R request, String id) {
        if (id != null) {
            request.setTransactionId(id);
        }
        return request;
    }

    /** The cells of the first row, and the last key columns of all rows. */
    private static Object state(SyncClient client, String id) {
        GetRowRequest one = new GetRowRequest(Rows.wanted(TABLE, Rows.key("a", 1)));
        GetRangeRequest all =
                new GetRangeRequest(
                        Ranges.span(
                                TABLE, Rows.key("a", 0), Rows.key("a", 9), Direction.FORWARD));
        List<Object> numbers = Printing.list();
        for (Row row : client.getRange(inside(all, id)).getRows()) {
            numbers.add(row.getPrimaryKey().getPrimaryKeyColumn("n").getValue().asLong());
        }
        return Printing.list(Printing.cells(client.getRow(inside(one, id)).getRow()), numbers);
    }
}
