import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.TimeseriesClient;
import com.alicloud.openservices.tablestore.model.ColumnType;
import com.alicloud.openservices.tablestore.model.ColumnValue;
import com.alicloud.openservices.tablestore.model.PrimaryKeyType;
import com.alicloud.openservices.tablestore.model.TimeseriesMetaOptions;
import com.alicloud.openservices.tablestore.model.TimeseriesTableMeta;
import com.alicloud.openservices.tablestore.model.TimeseriesTableOptions;
import com.alicloud.openservices.tablestore.model.timeseries.AttributeMetaQueryCondition;
import com.alicloud.openservices.tablestore.model.timeseries.CompositeMetaQueryCondition;
import com.alicloud.openservices.tablestore.model.timeseries.CreateTimeseriesTableRequest;
import com.alicloud.openservices.tablestore.model.timeseries.DataSourceMetaQueryCondition;
import com.alicloud.openservices.tablestore.model.timeseries.DeleteTimeseriesMetaRequest;
import com.alicloud.openservices.tablestore.model.timeseries.DeleteTimeseriesTableRequest;
import com.alicloud.openservices.tablestore.model.timeseries.DescribeTimeseriesTableRequest;
import com.alicloud.openservices.tablestore.model.timeseries.DescribeTimeseriesTableResponse;
import com.alicloud.openservices.tablestore.model.timeseries.GetTimeseriesDataRequest;
import com.alicloud.openservices.tablestore.model.timeseries.GetTimeseriesDataResponse;
import com.alicloud.openservices.tablestore.model.timeseries.MeasurementMetaQueryCondition;
import com.alicloud.openservices.tablestore.model.timeseries.MetaQueryCompositeOperator;
import com.alicloud.openservices.tablestore.model.timeseries.MetaQueryCondition;
import com.alicloud.openservices.tablestore.model.timeseries.MetaQuerySingleOperator;
import com.alicloud.openservices.tablestore.model.timeseries.PutTimeseriesDataRequest;
import com.alicloud.openservices.tablestore.model.timeseries.QueryTimeseriesMetaRequest;
import com.alicloud.openservices.tablestore.model.timeseries.QueryTimeseriesMetaResponse;
import com.alicloud.openservices.tablestore.model.timeseries.TagMetaQueryCondition;
import com.alicloud.openservices.tablestore.model.timeseries.TimeseriesKey;
import com.alicloud.openservices.tablestore.model.timeseries.TimeseriesMeta;
import com.alicloud.openservices.tablestore.model.timeseries.TimeseriesRow;
import com.alicloud.openservices.tablestore.model.timeseries.UpdateTimeMetaQueryCondition;
import com.alicloud.openservices.tablestore.model.timeseries.UpdateTimeseriesMetaRequest;
import com.alicloud.openservices.tablestore.model.timeseries.UpdateTimeseriesTableRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Timeseries tables, their points and their metas. */
final class Series {
    /** The time of the first point of most series, in microseconds. */
    static final long T0 = 1_600_000_000_000_000L;

    static final TimeseriesKey FIRST =
            new TimeseriesKey("cpu", "host1", Map.of("region", "杭州", "os", "linux"));
    static final TimeseriesKey SECOND = new TimeseriesKey("cpu", "host2", Map.of("region", "eu"));
    private static final TimeseriesKey BARE = new TimeseriesKey("mem", "", Map.of());
    private static final long DAY_US = 86_400_000_000L;

    private Series() {}

    /** Timeseries tables, and the data tables that they share names with. */
    static Map<String, Object> tables(SyncClient data) throws Exception {
        TimeseriesClient client = data.asTimeseriesClient();
        create(client, "listed_tables", 864_000, ignored -> {});
        create(client, "listed_other", -1, ignored -> {});
        Tables.create(data, "listed_data", 1);
        TimeseriesTableMeta first = described(client, "listed_tables").getTimeseriesTableMeta();
        Map<String, Object> seen =
                Printing.facts(
                        "described", told(first),
                        "again",
                                Printing.refusal(
                                        () -> create(client, "listed_tables", -1, ignored -> {})),
                        "as data table",
                                Printing.refusal(() -> Tables.create(data, "listed_other", 1)));
        client.updateTimeseriesTable(
                new UpdateTimeseriesTableRequest(
                        "listed_tables", new TimeseriesTableOptions(1_728_000)));
        seen.put("changed", told(described(client, "listed_tables").getTimeseriesTableMeta()));
        seen.put(
                "listed",
                client.listTimeseriesTable().getTimeseriesTableMetas().stream()
                        .filter(meta -> meta.getTimeseriesTableName().startsWith("listed_"))
                        .map(Series::told)
                        .collect(Collectors.toList()));
        seen.put(
                "data tables",
                data.listTable().getTableNames().stream()
                        .filter(name -> name.startsWith("listed_"))
                        .collect(Collectors.toList()));
        changeOptions(client, first, seen);
        delete(client, "listed_tables");
        seen.put("gone", Printing.refusal(() -> described(client, "listed_tables")));
        seen.put("unknown", Printing.refusal(() -> delete(client, "listed_tables")));
        return seen;
    }

    private static void changeOptions(
            TimeseriesClient client, TimeseriesTableMeta first, Map<String, Object> seen)
            throws Exception {
        TimeseriesMetaOptions change = new TimeseriesMetaOptions();
        change.setMetaTimeToLive(10_000_000);
        change.setAllowUpdateAttributes(false);
        UpdateTimeseriesTableRequest request = new UpdateTimeseriesTableRequest("listed_tables");
        request.setTimeseriesMetaOptions(change);
        client.updateTimeseriesTable(request);
        TimeseriesTableMeta then = described(client, "listed_tables").getTimeseriesTableMeta();
        seen.put("options", Printing.list(options(first), options(then)));
        request.setTimeseriesTableOptions(new TimeseriesTableOptions(864_000));
        seen.put("together", Printing.refusal(() -> client.updateTimeseriesTable(request)));
    }

    static void create(
            TimeseriesClient client,
            String name,
            int ttl,
            Consumer<CreateTimeseriesTableRequest> change) {
        TimeseriesTableMeta meta =
                new TimeseriesTableMeta(name, new TimeseriesTableOptions(ttl));
        CreateTimeseriesTableRequest request = new CreateTimeseriesTableRequest(meta);
        request.setEnableAnalyticalStore(false);
        change.accept(request);
        client.createTimeseriesTable(request);
    }

    static DescribeTimeseriesTableResponse described(TimeseriesClient client, String name) {
        return client.describeTimeseriesTable(new DescribeTimeseriesTableRequest(name));
    }

    static void delete(TimeseriesClient client, String name) {
        client.deleteTimeseriesTable(new DeleteTimeseriesTableRequest(name));
    }

    private static Map<String, Object> told(TimeseriesTableMeta meta) {
        List<Object> fieldKeys = Printing.list();
        meta.getFieldPrimaryKeys()
                .forEach(each -> fieldKeys.add(Printing.list(each.getName(), each.getType())));
        return Printing.facts(
                "name", meta.getTimeseriesTableName(),
                "ttl", meta.getTimeseriesTableOptions().getTimeToLive(),
                "keys", meta.getTimeseriesKeys(),
                "field keys", fieldKeys);
    }

    private static Object options(TimeseriesTableMeta meta) {
        TimeseriesMetaOptions options = meta.getTimeseriesMetaOptions();
        return Printing.list(
                meta.getStatus(), options.getMetaTimeToLive(), options.getAllowUpdateAttributes());
    }

    /** Points there and back, and metas. */
    static Map<String, Object> measured(SyncClient data) throws Exception {
        TimeseriesClient client = data.asTimeseriesClient();
        create(client, "series", -1, ignored -> {});
        Map<String, ColumnValue> filled = fields("l", 7L, "d", 1.5, "b", true, "s", "值 \t\n\"");
        filled.put("n", ColumnValue.fromBinary(new byte[] {0, -1}));
        Object failed =
                put(
                        client,
                        "series",
                        point(FIRST, 2, fields("d", 2.0, "l", 9L)),
                        point(FIRST, 0, filled),
                        point(FIRST, 1, fields("l", 8L)),
                        point(SECOND, 0, fields("l", 1L)),
                        point(BARE, 5, fields("s", "x")));
        GetTimeseriesDataRequest none = wanted("series", new TimeseriesKey("none", "", Map.of()));
        GetTimeseriesDataRequest between = wanted("series", FIRST);
        between.setTimeRange(T0 + 1, T0 + 2);
        GetTimeseriesDataRequest chosen = wanted("series", FIRST);
        chosen.addFieldToGet("l", ColumnType.INTEGER);
        chosen.addFieldToGet("d", ColumnType.STRING);
        GetTimeseriesDataRequest rare = wanted("series", FIRST);
        rare.addFieldToGet("s", ColumnType.STRING);
        boolean more = client.getTimeseriesData(none).getNextToken() != null;
        Map<String, Object> seen =
                Printing.facts(
                        "failed", failed,
                        "points", points(client, wanted("series", FIRST)),
                        "bare", points(client, wanted("series", BARE)),
                        "nothing", Printing.list(points(client, none), more),
                        "pages", pages(client, false),
                        "backward", pages(client, true),
                        "between", pages(client, between),
                        "chosen", points(client, chosen),
                        "rare", points(client, rare));
        put(
                client,
                "series",
                point(FIRST, 1, fields("d", 0.25)),
                point(FIRST, 0, fields("l", "text")));
        seen.put("merged", points(client, wanted("series", FIRST)));
        TimeseriesKey bad = new TimeseriesKey("##AA##", "", Map.of());
        seen.put("bad measurement", refused(client, "series", point(bad, 0, fields("l", 1L))));
        seen.put("no table", refused(client, "series_none", point(BARE, 0, fields("l", 1L))));
        describeMetas(client, seen);
        changeMetas(client, seen);
        return seen;
    }

    /** Names and values in turn. */
    static Map<String, ColumnValue> fields(Object... namesAndValues) {
        Map<String, ColumnValue> made = new LinkedHashMap<>();
        for (int at = 0; at < namesAndValues.length; at += 2) {
            made.put((String) namesAndValues[at], value(namesAndValues[at + 1]));
        }
        return made;
    }

    private static ColumnValue value(Object value) {
        if (value instanceof Long) {
            return ColumnValue.fromLong((Long) value);
        }
        if (value instanceof Double) {
            return ColumnValue.fromDouble((Double) value);
        }
        if (value instanceof Boolean) {
            return ColumnValue.fromBoolean((Boolean) value);
        }
        return ColumnValue.fromString((String) value);
    }

    /** A point some microseconds after `T0`. */
    static TimeseriesRow point(TimeseriesKey series, long at, Map<String, ColumnValue> fields) {
        TimeseriesRow row = new TimeseriesRow(series, T0 + at);
        row.setFields(fields);
        return row;
    }

    /** The positions of points that failed. */
    static Object put(TimeseriesClient client, String table, TimeseriesRow... points) {
        PutTimeseriesDataRequest request = new PutTimeseriesDataRequest(table);
        request.setRows(new ArrayList<>(Arrays.asList(points)));
        return client.putTimeseriesData(request).getFailedRows().stream()
                .map(each -> each.getIndex())
                .collect(Collectors.toList());
    }

    private static Object refused(TimeseriesClient client, String table, TimeseriesRow point)
            throws Exception {
        return Printing.refusal(() -> put(client, table, point));
    }

    private static GetTimeseriesDataRequest wanted(String table, TimeseriesKey series) {
        GetTimeseriesDataRequest request = new GetTimeseriesDataRequest(table);
        request.setTimeseriesKey(series);
        request.setTimeRange(0, T0 + 1_000_000);
        return request;
    }

    private static Object points(TimeseriesClient client, GetTimeseriesDataRequest request) {
        return client.getTimeseriesData(request).getRows().stream()
                .map(Series::printed)
                .collect(Collectors.toList());
    }

    private static Object printed(TimeseriesRow row) {
        Map<String, Object> fields = new LinkedHashMap<>();
        row.getFields().forEach((name, value) -> fields.put(name, Printing.printed(value)));
        TimeseriesKey key = row.getTimeseriesKey();
        return Printing.list(
                key.getMeasurementName(),
                key.getDataSource(),
                key.getTags(),
                row.getTimeInUs(),
                fields);
    }

    private static Object pages(TimeseriesClient client, boolean backward) {
        GetTimeseriesDataRequest request = wanted("series", FIRST);
        request.setLimit(2);
        request.setBackward(backward);
        return pages(client, request);
    }

    /** The times of each page, and whether there is a token behind it. */
    private static Object pages(TimeseriesClient client, GetTimeseriesDataRequest request) {
        List<Object> pages = Printing.list();
        GetTimeseriesDataResponse page;
        do {
            page = client.getTimeseriesData(request);
            request.setNextToken(page.getNextToken());
            Object times =
                    page.getRows().stream()
                            .map(TimeseriesRow::getTimeInUs)
                            .collect(Collectors.toList());
            pages.add(Printing.list(times, page.getNextToken() != null));
        } while (page.getNextToken() != null);
        return pages;
    }

    private static void describeMetas(TimeseriesClient client, Map<String, Object> seen) {
        QueryTimeseriesMetaRequest request = new QueryTimeseriesMetaRequest("series");
        request.setGetTotalHits(true);
        request.setLimit(1);
        QueryTimeseriesMetaResponse counted = client.queryTimeseriesMeta(request);
        QueryTimeseriesMetaRequest following = new QueryTimeseriesMetaRequest("series");
        following.setLimit(5);
        following.setNextToken(counted.getNextToken());
        QueryTimeseriesMetaResponse rest = client.queryTimeseriesMeta(following);
        seen.put("metas", metas(client, "series"));
        seen.put(
                "stamped",
                where(client, null).getTimeseriesMetas().stream()
                        .allMatch(meta -> meta.getUpdateTimeInUs() > 0));
        seen.put(
                "counted",
                Printing.list(
                        named(counted), counted.getTotalHits(), counted.getNextToken() != null));
        seen.put("rest", Printing.list(named(rest), rest.getNextToken() != null));
        Map<String, Object> found = new LinkedHashMap<>();
        conditions().forEach((name, each) -> found.put(name, named(where(client, each))));
        seen.put("found", found);
    }

    private static Map<String, MetaQueryCondition> conditions() {
        MetaQueryCondition linux =
                new TagMetaQueryCondition(MetaQuerySingleOperator.OP_EQUAL, "os", "linux");
        MetaQueryCondition cpu = measurement(MetaQuerySingleOperator.OP_EQUAL, "cpu");
        MetaQueryCondition mem = measurement(MetaQuerySingleOperator.OP_EQUAL, "mem");
        long tomorrow = System.currentTimeMillis() * 1000 + DAY_US;
        Map<String, MetaQueryCondition> made = new LinkedHashMap<>();
        made.put("measurement", mem);
        made.put("at least", measurement(MetaQuerySingleOperator.OP_GREATER_EQUAL, ""));
        made.put("source prefix", source(MetaQuerySingleOperator.OP_PREFIX, "host"));
        made.put("no source", source(MetaQuerySingleOperator.OP_EQUAL, ""));
        made.put("tag", linux);
        made.put(
                "tag greater",
                new TagMetaQueryCondition(MetaQuerySingleOperator.OP_GREATER_THAN, "region", "eu"));
        MetaQueryCondition later = source(MetaQuerySingleOperator.OP_GREATER_THAN, "host1");
        made.put("and", combined(MetaQueryCompositeOperator.OP_AND, cpu, later));
        made.put("or", combined(MetaQueryCompositeOperator.OP_OR, mem, linux));
        made.put("not", combined(MetaQueryCompositeOperator.OP_NOT, cpu));
        made.put(
                "before",
                new UpdateTimeMetaQueryCondition(MetaQuerySingleOperator.OP_LESS_THAN, tomorrow));
        made.put(
                "after",
                new UpdateTimeMetaQueryCondition(
                        MetaQuerySingleOperator.OP_GREATER_EQUAL, tomorrow));
        return made;
    }

    private static MetaQueryCondition measurement(MetaQuerySingleOperator operator, String text) {
        return new MeasurementMetaQueryCondition(operator, text);
    }

    private static MetaQueryCondition source(MetaQuerySingleOperator operator, String text) {
        return new DataSourceMetaQueryCondition(operator, text);
    }

    private static MetaQueryCondition combined(
            MetaQueryCompositeOperator operator, MetaQueryCondition... parts) {
        CompositeMetaQueryCondition made = new CompositeMetaQueryCondition(operator);
        Arrays.asList(parts).forEach(made::addSubCondition);
        return made;
    }

    private static QueryTimeseriesMetaResponse where(
            TimeseriesClient client, MetaQueryCondition condition) {
        QueryTimeseriesMetaRequest request = new QueryTimeseriesMetaRequest("series");
        request.setCondition(condition);
        return client.queryTimeseriesMeta(request);
    }

    private static Object metas(TimeseriesClient client, String table) {
        return client.queryTimeseriesMeta(new QueryTimeseriesMetaRequest(table))
                .getTimeseriesMetas().stream()
                .map(
                        meta ->
                                Printing.list(
                                        meta.getTimeseriesKey().getMeasurementName(),
                                        meta.getTimeseriesKey().getDataSource(),
                                        meta.getTimeseriesKey().getTags(),
                                        meta.getAttributes()))
                .collect(Collectors.toList());
    }

    /** Measurement and source of each. */
    private static Object named(QueryTimeseriesMetaResponse found) {
        return found.getTimeseriesMetas().stream()
                .map(TimeseriesMeta::getTimeseriesKey)
                .map(key -> Printing.list(key.getMeasurementName(), key.getDataSource()))
                .collect(Collectors.toList());
    }

    private static void changeMetas(TimeseriesClient client, Map<String, Object> seen) {
        TimeseriesKey disk = new TimeseriesKey("disk", "d1", Map.of("id", "0"));
        TimeseriesMeta owned = new TimeseriesMeta(FIRST);
        owned.setAttributes(Map.of("room", "1", "owner", "me"));
        TimeseriesMeta added = new TimeseriesMeta(disk);
        added.setAttributes(Map.of("kind", "ssd"));
        UpdateTimeseriesMetaRequest change = new UpdateTimeseriesMetaRequest("series");
        change.setMetas(List.of(owned, added));
        seen.put("written", client.updateTimeseriesMeta(change).getFailedRows());
        seen.put("attributes", metas(client, "series"));
        MetaQueryCondition ssd =
                new AttributeMetaQueryCondition(MetaQuerySingleOperator.OP_EQUAL, "kind", "ssd");
        seen.put("by attribute", named(where(client, ssd)));
        DeleteTimeseriesMetaRequest deletion = new DeleteTimeseriesMetaRequest("series");
        deletion.setTimeseriesKeys(List.of(SECOND, disk));
        seen.put("deleted", client.deleteTimeseriesMeta(deletion).getFailedRows());
        seen.put("left", named(where(client, null)));
        seen.put("kept", pages(client, wanted("series", SECOND)));
        put(client, "series", point(SECOND, 1, fields("l", 2L)));
        seen.put("made again", named(where(client, null)));
    }

    /** A key of one's own, and fields that are key columns. */
    static Map<String, Object> keyed(SyncClient data) throws Exception {
        TimeseriesClient client = data.asTimeseriesClient();
        create(
                client,
                "series_keyed",
                -1,
                request -> {
                    TimeseriesTableMeta meta = request.getTimeseriesTableMeta();
                    meta.addTimeseriesKey("_m_name");
                    meta.addTimeseriesKey("cluster");
                    meta.addFieldPrimaryKey("core", PrimaryKeyType.INTEGER);
                    meta.addFieldPrimaryKey("label", PrimaryKeyType.STRING);
                });
        TimeseriesKey series = new TimeseriesKey("cpu", "", Map.of("cluster", "a"));
        Map<String, ColumnValue> full = fields("core", 0L, "label", "a", "v", 3.0);
        put(
                client,
                "series_keyed",
                point(series, 0, fields("core", 1L, "label", "b", "v", 1.0)),
                point(series, 0, fields("core", 0L, "label", "z", "v", 2.0)),
                point(series, 0, full));
        TimeseriesKey more = new TimeseriesKey("cpu", "", Map.of("cluster", "a", "more", "b"));
        TimeseriesKey host = new TimeseriesKey("cpu", "host", Map.of("cluster", "a"));
        TimeseriesRow partial = point(series, 0, fields("core", 1L, "v", 1.0));
        return Printing.facts(
                "described", told(described(client, "series_keyed").getTimeseriesTableMeta()),
                "points", points(client, wanted("series_keyed", series)),
                "metas", metas(client, "series_keyed"),
                "no field key", refused(client, "series_keyed", partial),
                "other tag", refused(client, "series_keyed", point(more, 0, full)),
                "source", refused(client, "series_keyed", point(host, 0, full)));
    }
}
