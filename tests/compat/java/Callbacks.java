import com.alicloud.openservices.tablestore.AsyncClient;
import com.alicloud.openservices.tablestore.TableStoreCallback;
import com.alicloud.openservices.tablestore.TableStoreException;
import com.alicloud.openservices.tablestore.model.CreateTableRequest;
import com.alicloud.openservices.tablestore.model.GetRowRequest;
import com.alicloud.openservices.tablestore.model.GetRowResponse;
import com.alicloud.openservices.tablestore.model.PrimaryKeyType;
import com.alicloud.openservices.tablestore.model.PutRowRequest;
import com.alicloud.openservices.tablestore.model.PutRowResponse;
import com.alicloud.openservices.tablestore.model.TableMeta;
import com.alicloud.openservices.tablestore.model.TableOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** The asynchronous client: futures, callbacks, many requests at once. */
final class Callbacks {
    private static final int ROWS = 100;
    private static final long SECONDS_MAX = 30;

    private Callbacks() {}

    static Map<String, Object> callbacks(AsyncClient client) throws Exception {
        TableMeta meta = new TableMeta("callbacks");
        meta.addPrimaryKeyColumn("pk", PrimaryKeyType.STRING);
        meta.addPrimaryKeyColumn("n", PrimaryKeyType.INTEGER);
        client.createTable(new CreateTableRequest(meta, new TableOptions(-1, 1)), null)
                .get(SECONDS_MAX, TimeUnit.SECONDS);

        List<Future<PutRowResponse>> puts = new ArrayList<>();
        for (long n = 0; n < ROWS; n++) {
            puts.add(
                    client.putRow(
                            new PutRowRequest(
                                    Rows.put(
                                            "callbacks",
                                            Rows.key("a", n),
                                            "c",
                                            Rows.number(n * n))),
                            null));
        }
        for (Future<PutRowResponse> put : puts) {
            put.get(SECONDS_MAX, TimeUnit.SECONDS);
        }
        List<CompletableFuture<Long>> reads = new ArrayList<>();
        for (long n = 0; n < ROWS; n++) {
            reads.add(read(client, "callbacks", n));
        }
        long sum = 0;
        for (CompletableFuture<Long> read : reads) {
            sum += read.get(SECONDS_MAX, TimeUnit.SECONDS);
        }
        CompletableFuture<Long> refused = read(client, "nowhere", 1);
        Object code =
                refused.handle((value, error) -> ((TableStoreException) error).getErrorCode())
                        .get(SECONDS_MAX, TimeUnit.SECONDS);
        return Printing.facts("sum", sum, "refused", code);
    }

    private static CompletableFuture<Long> read(AsyncClient client, String table, long n) {
        CompletableFuture<Long> value = new CompletableFuture<>();
        client.getRow(
                new GetRowRequest(Rows.wanted(table, Rows.key("a", n))),
                new TableStoreCallback<GetRowRequest, GetRowResponse>() {
                    @Override
                    public void onCompleted(GetRowRequest asked, GetRowResponse got) {
                        value.complete(got.getRow().getLatestColumn("c").getValue().asLong());
                    }

                    @Override
                    public void onFailed(GetRowRequest asked, Exception why) {
                        value.completeExceptionally(why);
                    }
                });
        return value;
    }
}
