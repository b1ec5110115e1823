import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.TimeseriesClient;
import com.alicloud.openservices.tablestore.model.BatchGetRowRequest;
import com.alicloud.openservices.tablestore.model.BatchGetRowResponse;
import com.alicloud.openservices.tablestore.model.Column;
import com.alicloud.openservices.tablestore.model.DescribeTableRequest;
import com.alicloud.openservices.tablestore.model.Direction;
import com.alicloud.openservices.tablestore.model.GetRangeRequest;
import com.alicloud.openservices.tablestore.model.MultiRowQueryCriteria;
import com.alicloud.openservices.tablestore.model.PrimaryKey;
import com.alicloud.openservices.tablestore.model.PrimaryKeyColumn;
import com.alicloud.openservices.tablestore.model.PrimaryKeyValue;
import com.alicloud.openservices.tablestore.model.PutRowRequest;
import com.alicloud.openservices.tablestore.model.RangeRowQueryCriteria;
import com.alicloud.openservices.tablestore.model.Row;
import com.alicloud.openservices.tablestore.model.RowPutChange;
import com.alicloud.openservices.tablestore.model.timeseries.AnalyticalStoreSyncType;
import com.alicloud.openservices.tablestore.model.timeseries.CreateTimeseriesAnalyticalStoreRequest;
import com.alicloud.openservices.tablestore.model.timeseries.CreateTimeseriesLastpointIndexRequest;
import com.alicloud.openservices.tablestore.model.timeseries.CreateTimeseriesTableRequest;
import com.alicloud.openservices.tablestore.model.timeseries.DeleteTimeseriesAnalyticalStoreRequest;
import com.alicloud.openservices.tablestore.model.timeseries.DeleteTimeseriesLastpointIndexRequest;
import com.alicloud.openservices.tablestore.model.timeseries.DescribeTimeseriesAnalyticalStoreRequest;
import com.alicloud.openservices.tablestore.model.timeseries.DescribeTimeseriesAnalyticalStoreResponse;
import com.alicloud.openservices.tablestore.model.timeseries.TimeseriesAnalyticalStore;
import com.alicloud.openservices.tablestore.model.timeseries.TimeseriesLastpointIndex;
import com.alicloud.openservices.tablestore.model.timeseries.UpdateTimeseriesAnalyticalStoreRequest;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** What stands beside the points of a timeseries table: stores, last-point indexes; and scans. */
final class LastPoints {
    private static final String TABLE = "last_series";
    private static final String[] KEY = {"_#h", "_m_name", "_data_source", "_tags"};

    private LastPoints() {}

    /** Analytical stores that come with a table, and those that are made later. */
    static Map<String, Object> stores(SyncClient data) throws Exception {
        TimeseriesClient client = data.asTimeseriesClient();
        TimeseriesAnalyticalStore first = new TimeseriesAnalyticalStore("first");
        createStored(client, "stored", false, List.of(first));
        createStored(client, "stored_default", true, List.of());
        createStored(client, "stored_none", false, List.of());
        Map<String, Object> seen =
                Printing.facts(
                        "listed", listedStores(client, "stored"),
                        "by default", listedStores(client, "stored_default"),
                        "none", listedStores(client, "stored_none"),
                        "described", describedStore(client, "first"));
        first.setTimeToLive(2_592_000);
        UpdateTimeseriesAnalyticalStoreRequest change =
                new UpdateTimeseriesAnalyticalStoreRequest("stored");
        change.setAnalyticStore(first);
        client.updateTimeseriesAnalyticalStore(change);
        seen.put("changed", describedStore(client, "first"));
        TimeseriesAnalyticalStore late = new TimeseriesAnalyticalStore("late");
        late.setTimeToLive(5_184_000);
        late.setSyncOption(AnalyticalStoreSyncType.SYNC_TYPE_FULL);
        CreateTimeseriesAnalyticalStoreRequest creation =
                new CreateTimeseriesAnalyticalStoreRequest("stored", late);
        seen.put(
                "second", Printing.refusal(() -> client.createTimeseriesAnalyticalStore(creation)));
        client.deleteTimeseriesAnalyticalStore(
                new DeleteTimeseriesAnalyticalStoreRequest("stored", "first"));
        seen.put("gone", Printing.refusal(() -> describedStore(client, "first")));
        client.createTimeseriesAnalyticalStore(creation);
        seen.put("full", describedStore(client, "late"));
        Series.delete(client, "stored"); // with the store in it
        return seen;
    }

    private static void createStored(
            TimeseriesClient client,
            String name,
            boolean enabled,
            List<TimeseriesAnalyticalStore> stores) {
        Series.create(
                client,
                name,
                -1,
                request -> {
                    request.setEnableAnalyticalStore(enabled);
                    request.setAnalyticalStores(stores);
                });
    }

    private static Object listedStores(TimeseriesClient client, String table) {
        return Series.described(client, table).getAnalyticalStores().stream()
                .map(LastPoints::told)
                .collect(Collectors.toList());
    }

    private static Object told(TimeseriesAnalyticalStore store) {
        return Printing.list(
                store.getAnalyticalStoreName(),
                store.getTimeToLive(),
                phase(store.getSyncOption()));
    }

    private static String phase(AnalyticalStoreSyncType option) {
        return option == AnalyticalStoreSyncType.SYNC_TYPE_FULL ? "FULL" : "INCR";
    }

    private static Object describedStore(TimeseriesClient client, String name) {
        DescribeTimeseriesAnalyticalStoreResponse answer =
                client.describeTimeseriesAnalyticalStore(
                        new DescribeTimeseriesAnalyticalStoreRequest("stored", name));
        return Printing.list(
                told(answer.getAnalyticalStore()),
                phase(answer.getSyncStat().getSyncPhase()),
                answer.getSyncStat().getCurrentSyncTimestamp(),
                answer.getStorageSize());
    }

    /** An index made with its table, one made over points, one made for those that come. */
    static Map<String, Object> lastPoints(SyncClient data) throws Exception {
        TimeseriesClient client = data.asTimeseriesClient();
        Series.create(
                client,
                TABLE,
                -1,
                request ->
                        request.addLastpointIndex(
                                new CreateTimeseriesTableRequest.LastpointIndex("last_made")));
        Series.put(
                client,
                TABLE,
                Series.point(Series.FIRST, 4000, Series.fields("d", 2.0)),
                Series.point(Series.FIRST, 0, Series.fields("d", 0.5, "l", 7L, "s", "x")),
                Series.point(Series.FIRST, 2000, Series.fields("l", 8L)),
                Series.point(Series.SECOND, 0, Series.fields("l", 1L)));
        PrimaryKey key = keyOfFirst(data);
        Map<String, Object> seen =
                Printing.facts(
                        "rows", rows(data, "last_made"),
                        "row", printed(Rows.get(data, Rows.wanted("last_made", key))),
                        "batch", batch(data, key));
        create(client, "last_full", true);
        create(client, "last_bare", false);
        seen.put("with points", rows(data, "last_full"));
        seen.put("without", rows(data, "last_bare"));
        seen.put("listed", names(client));
        seen.put("described", describedAsTable(data, "last_made"));
        seen.put(
                "data tables",
                data.listTable().getTableNames().stream()
                        .filter(name -> name.startsWith("last_"))
                        .collect(Collectors.toList()));
        RowPutChange write = new RowPutChange("last_made", key);
        write.addColumn("l", Rows.number(1));
        seen.put("written", Printing.refusal(() -> data.putRow(new PutRowRequest(write))));
        Series.put(client, TABLE, Series.point(Series.SECOND, 9000, Series.fields("d", 0.5)));
        seen.put("then", rows(data, "last_bare"));
        for (String name : new String[] {"last_bare", "last_full", "last_made"}) {
            drop(client, name);
        }
        seen.put("left", names(client));
        seen.put("gone", Printing.refusal(() -> describedAsTable(data, "last_made")));
        seen.put("unknown", Printing.refusal(() -> drop(client, "last_made")));
        return seen;
    }

    private static void create(TimeseriesClient client, String name, boolean withPoints) {
        client.createTimeseriesLastpointIndex(
                new CreateTimeseriesLastpointIndexRequest(TABLE, name, withPoints));
    }

    private static void drop(TimeseriesClient client, String name) {
        client.deleteTimeseriesLastpointIndex(
                new DeleteTimeseriesLastpointIndexRequest(TABLE, name));
    }

    private static Object names(TimeseriesClient client) {
        return Series.described(client, TABLE).getLastpointIndexes().stream()
                .map(TimeseriesLastpointIndex::getLastpointIndexName)
                .collect(Collectors.toList());
    }

    private static Object describedAsTable(SyncClient data, String name) {
        List<Object> key = Printing.list();
        data.describeTable(new DescribeTableRequest(name))
                .getTableMeta()
                .getPrimaryKeyList()
                .forEach(each -> key.add(Printing.list(each.getName(), each.getType())));
        return key;
    }

    private static List<Row> read(SyncClient data, String index) {
        RangeRowQueryCriteria all =
                Ranges.span(
                        index,
                        Ranges.bound(PrimaryKeyValue.INF_MIN, KEY),
                        Ranges.bound(PrimaryKeyValue.INF_MAX, KEY),
                        Direction.FORWARD);
        return data.getRange(new GetRangeRequest(all)).getRows();
    }

    private static Object rows(SyncClient data, String index) throws Exception {
        List<Object> rows = Printing.list();
        for (Row row : read(data, index)) {
            rows.add(printed(row));
        }
        return rows;
    }

    private static PrimaryKey keyOfFirst(SyncClient data) {
        return read(data, "last_made").stream()
                .map(Row::getPrimaryKey)
                .filter(
                        key ->
                                key.getPrimaryKeyColumn("_data_source")
                                        .getValue()
                                        .asString()
                                        .equals("host1"))
                .findFirst()
                .orElseThrow();
    }

    private static Object batch(SyncClient data, PrimaryKey key) throws Exception {
        MultiRowQueryCriteria wanted = new MultiRowQueryCriteria("last_made");
        wanted.addRow(key);
        wanted.setMaxVersions(1);
        BatchGetRowRequest request = new BatchGetRowRequest();
        request.addMultiRowQueryCriteria(wanted);
        List<Object> rows = Printing.list();
        for (BatchGetRowResponse.RowResult each : data.batchGetRow(request).getSucceedRows()) {
            rows.add(printed(each.getRow()));
        }
        return rows;
    }

    /** Without the first column of the key, a hash; each cell with its version. */
    private static Object printed(Row row) throws Exception {
        List<Object> names = Printing.list();
        for (PrimaryKeyColumn column :
                Arrays.asList(row.getPrimaryKey().getPrimaryKeyColumns()).subList(1, KEY.length)) {
            names.add(column.getValue().asString());
        }
        List<Object> cells = Printing.list();
        for (Column column : row.getColumns()) {
            cells.add(
                    Printing.list(
                            column.getName(),
                            Printing.printed(column.getValue()),
                            column.getTimestamp()));
        }
        return Printing.list(names, cells);
    }
}
