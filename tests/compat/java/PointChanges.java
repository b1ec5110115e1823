import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.TimeseriesClient;
import com.alicloud.openservices.tablestore.TunnelClient;
import com.alicloud.openservices.tablestore.model.DescribeStreamRequest;
import com.alicloud.openservices.tablestore.model.DescribeStreamResponse;
import com.alicloud.openservices.tablestore.model.GetShardIteratorRequest;
import com.alicloud.openservices.tablestore.model.GetStreamRecordRequest;
import com.alicloud.openservices.tablestore.model.GetStreamRecordResponse;
import com.alicloud.openservices.tablestore.model.ListStreamRequest;
import com.alicloud.openservices.tablestore.model.PrimaryKeyColumn;
import com.alicloud.openservices.tablestore.model.RecordColumn;
import com.alicloud.openservices.tablestore.model.Stream;
import com.alicloud.openservices.tablestore.model.StreamRecord;
import com.alicloud.openservices.tablestore.model.timeseries.CreateTimeseriesTableRequest;
import com.alicloud.openservices.tablestore.model.timeseries.TimeseriesRow;
import com.alicloud.openservices.tablestore.model.tunnel.CreateTunnelRequest;
import com.alicloud.openservices.tablestore.model.tunnel.DeleteTunnelRequest;
import com.alicloud.openservices.tablestore.model.tunnel.TunnelType;
import com.alicloud.openservices.tablestore.model.tunnel.internal.Channel;
import com.alicloud.openservices.tablestore.model.tunnel.internal.ConnectTunnelRequest;
import com.alicloud.openservices.tablestore.model.tunnel.internal.GetCheckpointRequest;
import com.alicloud.openservices.tablestore.model.tunnel.internal.HeartbeatRequest;
import com.alicloud.openservices.tablestore.model.tunnel.internal.ReadRecordsRequest;
import com.alicloud.openservices.tablestore.tunnel.worker.TunnelClientConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The stream of a timeseries table, and a tunnel of it. */
final class PointChanges {
    private static final String TABLE = "changed_series";
    private static final String INDEX = "changed_last";
    private static final int POINTS = 10;
    private static final long RECORD_PATIENCE_MS = 60_000;

    private PointChanges() {}

    /** Ten points of one request, as records of the table, of its index, and of a tunnel. */
    static Map<String, Object> changes(SyncClient data) throws Exception {
        TimeseriesClient client = data.asTimeseriesClient();
        Series.create(
                client,
                TABLE,
                -1,
                request ->
                        request.addLastpointIndex(
                                new CreateTimeseriesTableRequest.LastpointIndex(INDEX)));
        TimeseriesRow[] points = new TimeseriesRow[POINTS];
        for (int at = 0; at < POINTS; at++) {
            points[at] =
                    Series.point(
                            Series.FIRST, 1000L * at, Series.fields("time", "now", "v", (long) at));
        }
        Series.put(client, TABLE, points);
        String stream =
                data.listStream(new ListStreamRequest()).getStreams().stream()
                        .filter(each -> each.getTableName().equals(TABLE))
                        .map(Stream::getStreamId)
                        .collect(Collectors.joining(" "));
        DescribeStreamRequest asked = new DescribeStreamRequest(stream);
        Map<String, Object> seen =
                Printing.facts(
                        "listed", data.listStream(new ListStreamRequest(TABLE)).getStreams().size(),
                        "not said", Printing.refusal(() -> data.describeStream(asked)));
        asked.setSupportTimeseriesTable(true);
        DescribeStreamResponse described = data.describeStream(asked);
        String shard = described.getShards().get(0).getShardId();
        seen.put(
                "described",
                Printing.list(
                        described.getTableName(),
                        described.getExpirationTime(),
                        described.getShards().size()));
        String first =
                data.getShardIterator(new GetShardIteratorRequest(stream, shard))
                        .getShardIterator();
        GetStreamRecordRequest asPoints = new GetStreamRecordRequest(first);
        asPoints.setParseInTimeseriesDataFormat(true);
        List<StreamRecord> records = awaited(data, asPoints);
        seen.put("records", printed(records));
        GetStreamRecordRequest asRows = new GetStreamRecordRequest(first);
        asRows.setTableName(INDEX);
        seen.put("updates", printed(awaited(data, asRows)));
        seen.put("tunnel", consumed(data));
        return seen;
    }

    /** Over a database a record may come a moment after its put is answered. */
    private static List<StreamRecord> awaited(SyncClient data, GetStreamRecordRequest request)
            throws Exception {
        long until = System.currentTimeMillis() + RECORD_PATIENCE_MS;
        while (true) {
            GetStreamRecordResponse page = data.getStreamRecord(request);
            if (page.getRecords().size() >= POINTS || System.currentTimeMillis() > until) {
                return page.getRecords();
            }
            Thread.sleep(50);
        }
    }

    /** The rows of a tunnel of both kinds, whose first channel has them. */
    private static Object consumed(SyncClient data) throws Exception {
        TunnelClient client =
                new TunnelClient(data.getEndpoint(), "widerow", "widerow", data.getInstanceName());
        try {
            String tunnel =
                    client.createTunnel(
                                    new CreateTunnelRequest(
                                            TABLE, "points", TunnelType.BaseAndStream))
                            .getTunnelId();
            String who =
                    client.connectTunnel(
                                    new ConnectTunnelRequest(
                                            tunnel, new TunnelClientConfig(60, "tag")))
                            .getClientId();
            List<Channel> channels =
                    client.heartbeat(new HeartbeatRequest(tunnel, who, List.of())).getChannels();
            String channel = channels.get(0).getChannelId();
            String token =
                    client.getCheckpoint(new GetCheckpointRequest(tunnel, who, channel))
                            .getCheckpoint();
            List<Object> seen =
                    printed(
                            client.readRecords(new ReadRecordsRequest(tunnel, who, channel, token))
                                    .getRecords());
            client.deleteTunnel(new DeleteTunnelRequest(TABLE, "points"));
            return seen;
        } finally {
            client.shutdown();
        }
    }

    private static List<Object> printed(List<StreamRecord> records) {
        return records.stream().map(PointChanges::printed).collect(Collectors.toList());
    }

    private static List<Object> printed(StreamRecord record) {
        List<Object> key = new ArrayList<>();
        for (PrimaryKeyColumn each : record.getPrimaryKey().getPrimaryKeyColumns()) {
            key.add(each.getName());
        }
        List<Object> cells = new ArrayList<>();
        for (RecordColumn each : record.getColumns()) {
            cells.add(
                    Printing.list(
                            each.getColumn().getName(), each.getColumn().getValue().toString()));
        }
        return Printing.list(record.getRecordType().name(), key, cells);
    }
}
