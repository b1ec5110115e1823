import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.model.CreateTableRequest;
import com.alicloud.openservices.tablestore.model.PrimaryKey;
import com.alicloud.openservices.tablestore.model.PrimaryKeyBuilder;
import com.alicloud.openservices.tablestore.model.PrimaryKeyType;
import com.alicloud.openservices.tablestore.model.PrimaryKeyValue;
import com.alicloud.openservices.tablestore.model.PutRowRequest;
import com.alicloud.openservices.tablestore.model.RowPutChange;
import com.alicloud.openservices.tablestore.model.TableMeta;
import com.alicloud.openservices.tablestore.model.TableOptions;
import com.alicloud.openservices.tablestore.model.sql.SQLQueryRequest;
import java.util.Map;

/** What programs branch on, as the SDK hands it over. */
final class Refusals {
    private static final PrimaryKeyValue A = PrimaryKeyValue.fromString("a");

    private Refusals() {}

    static Map<String, Object> errors(SyncClient client) throws Exception {
        Tables.create(client, "errors", 1);
        PrimaryKey shortKey =
                PrimaryKeyBuilder.createPrimaryKeyBuilder().addPrimaryKeyColumn("pk", A).build();
        TableMeta meta = new TableMeta("errors");
        meta.addPrimaryKeyColumn("pk", PrimaryKeyType.STRING);
        CreateTableRequest again = new CreateTableRequest(meta, new TableOptions(-1, 1));
        RowPutChange misnamedColumn =
                Rows.put("errors", Rows.key("a", 1), "#1", Rows.text("x"));
        return Printing.facts(
                "no table", read(client, "nowhere", Rows.key("a", 1)),
                "short key", read(client, "errors", shortKey),
                "misnamed key",
                        read(client, "errors", key("m", PrimaryKeyValue.fromLong(1))),
                "mistyped key",
                        read(client, "errors", key("n", PrimaryKeyValue.fromString("one"))),
                "infinite key", read(client, "errors", key("n", PrimaryKeyValue.INF_MIN)),
                "exists", Printing.refusal(() -> client.createTable(again)),
                "column name",
                        Printing.refusal(() -> client.putRow(new PutRowRequest(misnamedColumn))),
                "not offered",
                        Printing.refusal(
                                () -> client.sqlQuery(new SQLQueryRequest("grant all"))));
    }

    private static PrimaryKey key(String name, PrimaryKeyValue value) {
        return PrimaryKeyBuilder.createPrimaryKeyBuilder()
                .addPrimaryKeyColumn("pk", A)
                .addPrimaryKeyColumn(name, value)
                .build();
    }

    private static Object read(SyncClient client, String table, PrimaryKey key)
            throws Exception {
        return Printing.refusal(() -> Rows.get(client, Rows.wanted(table, key)));
    }
}
