import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.TimeseriesClient;
import com.alicloud.openservices.tablestore.model.ColumnType;
import com.alicloud.openservices.tablestore.model.timeseries.ScanTimeseriesDataRequest;
import com.alicloud.openservices.tablestore.model.timeseries.ScanTimeseriesDataResponse;
import com.alicloud.openservices.tablestore.model.timeseries.SplitTimeseriesScanTaskRequest;
import com.alicloud.openservices.tablestore.model.timeseries.TimeseriesKey;
import com.alicloud.openservices.tablestore.model.timeseries.TimeseriesRow;
import com.alicloud.openservices.tablestore.model.timeseries.TimeseriesScanSplitInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** Scans of timeseries tables. */
final class Scans {
    private static final String TABLE = "scanned_series";

    private Scans() {}

    /** Splits, and what is read of them; time bounds, fields and pages. */
    static Map<String, Object> scans(SyncClient data) {
        TimeseriesClient client = data.asTimeseriesClient();
        Series.create(client, TABLE, -1, ignored -> {});
        write(client);
        ScanTimeseriesDataRequest between = new ScanTimeseriesDataRequest(TABLE);
        between.setTimeRange(Series.T0 + 2, Series.T0 + 3);
        ScanTimeseriesDataRequest some = new ScanTimeseriesDataRequest(TABLE);
        some.addFieldToGet("l", ColumnType.INTEGER);
        some.addFieldToGet("d", ColumnType.STRING);
        some.setLimit(16);
        List<Object> pages = Printing.list();
        TreeSet<String> fields = new TreeSet<>();
        for (TimeseriesRow row : read(client, some, pages)) {
            fields.addAll(row.getFields().keySet());
        }
        ScanTimeseriesDataRequest whole = new ScanTimeseriesDataRequest(TABLE);
        return Printing.facts(
                "splits", Printing.list(count(client, 1), count(client, 4), count(client, 1000)),
                "by splits", bySplits(client, new SplitTimeseriesScanTaskRequest(TABLE, 4)),
                "of a measurement",
                        bySplits(client, new SplitTimeseriesScanTaskRequest(TABLE, "mem", 3)),
                "whole", sorted(read(client, whole, Printing.list())),
                "between", sorted(read(client, between, Printing.list())),
                "fields", fields,
                "pages", pages);
    }

    private static void write(TimeseriesClient client) {
        for (String measurement : new String[] {"cpu", "mem"}) {
            for (int host = 0; host < 5; host++) {
                TimeseriesKey series = new TimeseriesKey(measurement, "host" + host);
                List<TimeseriesRow> points = new ArrayList<>();
                for (long at = 0; at < 7; at++) {
                    points.add(Series.point(series, at, Series.fields("l", at, "d", at / 2.0)));
                }
                Series.put(client, TABLE, points.toArray(new TimeseriesRow[0]));
            }
        }
    }

    private static List<TimeseriesScanSplitInfo> split(
            TimeseriesClient client, SplitTimeseriesScanTaskRequest request) {
        return client.splitTimeseriesScanTask(request).getSplitInfos();
    }

    private static int count(TimeseriesClient client, int wanted) {
        return split(client, new SplitTimeseriesScanTaskRequest(TABLE, wanted)).size();
    }

    private static Object bySplits(
            TimeseriesClient client, SplitTimeseriesScanTaskRequest request) {
        List<TimeseriesRow> rows = new ArrayList<>();
        for (TimeseriesScanSplitInfo each : split(client, request)) {
            ScanTimeseriesDataRequest scan = new ScanTimeseriesDataRequest(TABLE);
            scan.setSplitInfo(each);
            rows.addAll(read(client, scan, Printing.list()));
        }
        return sorted(rows);
    }

    /** The rows of all pages; `pages` gets the number of rows of each. */
    private static List<TimeseriesRow> read(
            TimeseriesClient client, ScanTimeseriesDataRequest request, List<Object> pages) {
        List<TimeseriesRow> rows = new ArrayList<>();
        ScanTimeseriesDataResponse page;
        do {
            page = client.scanTimeseriesData(request);
            rows.addAll(page.getRows());
            pages.add(page.getRows().size());
            request.setNextToken(page.getNextToken());
        } while (page.getNextToken() != null);
        return rows;
    }

    /** Measurement, source and time of each row, by these. */
    private static Object sorted(List<TimeseriesRow> rows) {
        List<TimeseriesRow> ordered = new ArrayList<>(rows);
        ordered.sort(
                (one, other) -> {
                    int keys = one.getTimeseriesKey().compareTo(other.getTimeseriesKey());
                    return keys != 0 ? keys : Long.compare(one.getTimeInUs(), other.getTimeInUs());
                });
        List<Object> told = Printing.list();
        for (TimeseriesRow row : ordered) {
            TimeseriesKey key = row.getTimeseriesKey();
            told.add(
                    Printing.list(
                            key.getMeasurementName(), key.getDataSource(), row.getTimeInUs()));
        }
        return told;
    }
}
