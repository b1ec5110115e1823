package sessions;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.TableStoreException;
import com.alicloud.openservices.tablestore.model.Column;
import com.alicloud.openservices.tablestore.model.ColumnValue;
import com.alicloud.openservices.tablestore.model.CreateTableRequest;
import com.alicloud.openservices.tablestore.model.GetRowRequest;
import com.alicloud.openservices.tablestore.model.PrimaryKey;
import com.alicloud.openservices.tablestore.model.PrimaryKeyBuilder;
import com.alicloud.openservices.tablestore.model.PrimaryKeyType;
import com.alicloud.openservices.tablestore.model.PrimaryKeyValue;
import com.alicloud.openservices.tablestore.model.PutRowRequest;
import com.alicloud.openservices.tablestore.model.Row;
import com.alicloud.openservices.tablestore.model.RowPutChange;
import com.alicloud.openservices.tablestore.model.SingleRowQueryCriteria;
import com.alicloud.openservices.tablestore.model.TableMeta;
import com.alicloud.openservices.tablestore.model.TableOptions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SessionsTest {
    private static final String INSTANCE = "sessions";

    private static Widerow widerow;
    private static SyncClient client;

    @BeforeAll
    static void start() throws Exception {
        widerow = new Widerow();
        client = new SyncClient(widerow.endpoint, "widerow", "widerow", INSTANCE);
    }

    @AfterAll
    static void stop() throws Exception {
        client.shutdown();
        widerow.close();
    }

    @BeforeEach
    void freshTable() throws Exception {
        widerow.reset(INSTANCE);
        TableMeta meta = new TableMeta("session");
        meta.addPrimaryKeyColumn("id", PrimaryKeyType.STRING);
        client.createTable(new CreateTableRequest(meta, new TableOptions(3600, 1)));
    }

    @Test
    void aSessionExpiresAfterAnHour() throws Exception {
        put("6777");
        widerow.ask("POST", "clock", "{\"advance\": \"59m59s\"}");
        assertEquals("6777", get());

        widerow.ask("POST", "clock", "{\"advance\": 1}");
        assertNull(get());
    }

    @Test
    void nothingIsLeftOfTheTestBefore() {
        assertNull(get());
    }

    @Test
    void theSdkAsksAgainWhileTheServerIsBusy() throws Exception {
        widerow.ask(
                "POST",
                "faults",
                "{\"error\": \"OTSServerBusy\", \"action\": \"PutRow\", \"count\": 2}");
        put("6777");

        assertEquals("6777", get());
        assertTrue(widerow.ask("GET", "faults", "").contains("\"struck\": 2"));
    }

    @Test
    void aWriteThatTimesOutMayHaveBeenMade() throws Exception {
        widerow.ask(
                "POST",
                "faults",
                "{\"error\": \"OTSTimeout\", \"action\": \"PutRow\", \"when\": \"after\"}");
        TableStoreException error = assertThrows(TableStoreException.class, () -> put("6777"));

        assertEquals("OTSTimeout", error.getErrorCode());
        assertEquals("6777", get());
    }

    private static PrimaryKey key() {
        return PrimaryKeyBuilder.createPrimaryKeyBuilder()
                .addPrimaryKeyColumn("id", PrimaryKeyValue.fromString("a1"))
                .build();
    }

    private static void put(String card) {
        RowPutChange change = new RowPutChange("session", key());
        change.addColumn("card", ColumnValue.fromString(card));
        client.putRow(new PutRowRequest(change));
    }

    private static String get() {
        SingleRowQueryCriteria wanted = new SingleRowQueryCriteria("session", key());
        wanted.setMaxVersions(1);
        Row row = client.getRow(new GetRowRequest(wanted)).getRow();
        if (row == null) {
            return null;
        }
        Column[] columns = row.getColumns();
        return columns[0].getValue().asString();
    }
}
