import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.model.AbortTransactionRequest;
import com.alicloud.openservices.tablestore.model.CommitTransactionRequest;
import com.alicloud.openservices.tablestore.model.GetRowRequest;
import com.alicloud.openservices.tablestore.model.PrimaryKey;
import com.alicloud.openservices.tablestore.model.PrimaryKeyBuilder;
import com.alicloud.openservices.tablestore.model.PrimaryKeyValue;
import com.alicloud.openservices.tablestore.model.PutRowRequest;
import com.alicloud.openservices.tablestore.model.SingleRowQueryCriteria;
import com.alicloud.openservices.tablestore.model.StartLocalTransactionRequest;
import java.util.LinkedHashMap;
import java.util.Map;

/** Several requests that happen together or not at all. */
final class Transactions {
    private static final String TABLE = "transactions";

    private Transactions() {}

    /** One that is aborted and one that is committed, seen from inside and from outside. */
    static Map<String, Object> transactions(SyncClient client) throws Exception {
        Tables.create(client, TABLE, 1);
        client.putRow(new PutRowRequest(Rows.put(TABLE, Rows.key("a", 1), "c", Rows.text("old"))));
        Map<String, Object> seen = new LinkedHashMap<>();
        for (String end : new String[] {"abort", "commit"}) {
            String id = start(client);
            PutRowRequest put =
                    new PutRowRequest(Rows.put(TABLE, Rows.key("a", 1), "c", Rows.text(end)));
            put.setTransactionId(id);
            client.putRow(put);
            seen.put(end + " inside", cells(client, id));
            seen.put(end + " outside", cells(client, null));
            if (end.equals("abort")) {
                client.abortTransaction(new AbortTransactionRequest(id));
            } else {
                client.commitTransaction(new CommitTransactionRequest(id));
            }
            seen.put(end + " after", cells(client, null));
            seen.put(
                    end + " again",
                    Printing.refusal(
                            () -> client.commitTransaction(new CommitTransactionRequest(id))));
        }
        return seen;
    }

    private static String start(SyncClient client) {
        PrimaryKey partition =
                PrimaryKeyBuilder.createPrimaryKeyBuilder()
                        .addPrimaryKeyColumn("pk", PrimaryKeyValue.fromString("a"))
                        .build();
        return client.startLocalTransaction(new StartLocalTransactionRequest(TABLE, partition))
                .getTransactionID();
    }

    private static Object cells(SyncClient client, String id) {
        SingleRowQueryCriteria criteria = Rows.wanted(TABLE, Rows.key("a", 1));
        GetRowRequest request = new GetRowRequest(criteria);
        if (id != null) {
            request.setTransactionId(id);
        }
        return Printing.cells(client.getRow(request).getRow());
    }
}
