import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.TunnelClient;
import com.alicloud.openservices.tablestore.model.PutRowRequest;
import com.alicloud.openservices.tablestore.model.StreamRecord;
import com.alicloud.openservices.tablestore.model.tunnel.ChannelInfo;
import com.alicloud.openservices.tablestore.model.tunnel.CreateTunnelRequest;
import com.alicloud.openservices.tablestore.model.tunnel.DeleteTunnelRequest;
import com.alicloud.openservices.tablestore.model.tunnel.DescribeTunnelRequest;
import com.alicloud.openservices.tablestore.model.tunnel.DescribeTunnelResponse;
import com.alicloud.openservices.tablestore.model.tunnel.ListTunnelRequest;
import com.alicloud.openservices.tablestore.model.tunnel.StartOffsetFlag;
import com.alicloud.openservices.tablestore.model.tunnel.StreamTunnelConfig;
import com.alicloud.openservices.tablestore.model.tunnel.TunnelInfo;
import com.alicloud.openservices.tablestore.model.tunnel.TunnelType;
import com.alicloud.openservices.tablestore.model.tunnel.internal.Channel;
import com.alicloud.openservices.tablestore.model.tunnel.internal.CheckpointRequest;
import com.alicloud.openservices.tablestore.model.tunnel.internal.ConnectTunnelRequest;
import com.alicloud.openservices.tablestore.model.tunnel.internal.GetCheckpointRequest;
import com.alicloud.openservices.tablestore.model.tunnel.internal.GetCheckpointResponse;
import com.alicloud.openservices.tablestore.model.tunnel.internal.HeartbeatRequest;
import com.alicloud.openservices.tablestore.model.tunnel.internal.ReadRecordsRequest;
import com.alicloud.openservices.tablestore.model.tunnel.internal.ReadRecordsResponse;
import com.alicloud.openservices.tablestore.model.tunnel.internal.ShutdownTunnelRequest;
import com.alicloud.openservices.tablestore.tunnel.worker.TunnelClientConfig;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The calls of the tunnel client, those among them that otherwise a worker makes. */
final class Tunnels {
    private static final String TABLE = "tunnelled";
    private static final String FINISHED = "finished";
    private static final int ROWS = 5;
    private static final long START = System.currentTimeMillis() - 1000;
    private static final long END = START + 3_600_000;

    private Tunnels() {}

    /** Tunnels of every type, described and consumed by hand, deleted. */
    static Map<String, Object> tunnels(SyncClient client) throws Exception {
        Tables.create(client, TABLE, 1);
        for (long n = 0; n < ROWS; n++) {
            client.putRow(
                    new PutRowRequest(Rows.put(TABLE, Rows.key("a", n), "c", Rows.number(n))));
        }
        TunnelClient tunnels =
                new TunnelClient(
                        client.getEndpoint(), "widerow", "widerow", client.getInstanceName());
        try {
            return all(tunnels);
        } finally {
            tunnels.shutdown();
        }
    }

    private static Map<String, Object> all(TunnelClient client) throws Exception {
        CreateTunnelRequest base = new CreateTunnelRequest(TABLE, "base", TunnelType.BaseData);
        CreateTunnelRequest stream = new CreateTunnelRequest(TABLE, "stream", TunnelType.Stream);
        stream.setStreamTunnelConfig(new StreamTunnelConfig(StartOffsetFlag.EARLIEST));
        CreateTunnelRequest both =
                new CreateTunnelRequest(TABLE, "both", TunnelType.BaseAndStream);
        CreateTunnelRequest reversed =
                new CreateTunnelRequest(TABLE, "reversed", TunnelType.Stream);
        reversed.setStreamTunnelConfig(new StreamTunnelConfig(END, START));
        Map<String, String> ids = new TreeMap<>();
        ids.put("base", client.createTunnel(base).getTunnelId());
        ids.put("stream", client.createTunnel(stream).getTunnelId());
        both.setStreamTunnelConfig(new StreamTunnelConfig(START, END));
        ids.put("both", client.createTunnel(both).getTunnelId());
        Map<String, Object> seen =
                Printing.facts(
                        "twice", Printing.refusal(() -> client.createTunnel(base)),
                        "reversed", Printing.refusal(() -> client.createTunnel(reversed)),
                        "listed", listed(client, ids));
        for (String name : ids.keySet()) {
            seen.put(name, described(client, name, ids.get(name)));
        }
        consume(client, ids.get("base"), seen);
        for (String name : ids.keySet()) {
            client.deleteTunnel(new DeleteTunnelRequest(TABLE, name));
        }
        seen.put(
                "deleted again",
                Printing.refusal(
                        () -> client.deleteTunnel(new DeleteTunnelRequest(TABLE, "base"))));
        seen.put("left", client.listTunnel(new ListTunnelRequest(TABLE)).getTunnelInfos().size());
        return seen;
    }

    /** What a worker does with a channel, step by step, and what another client may do. */
    private static void consume(TunnelClient client, String tunnel, Map<String, Object> seen)
            throws Exception {
        String who =
                client.connectTunnel(
                                new ConnectTunnelRequest(tunnel, new TunnelClientConfig(60, "tag")))
                        .getClientId();
        List<Channel> channels =
                client.heartbeat(new HeartbeatRequest(tunnel, who, List.of())).getChannels();
        String channel = channels.get(0).getChannelId();
        GetCheckpointResponse start =
                client.getCheckpoint(new GetCheckpointRequest(tunnel, who, channel));
        ReadRecordsResponse page =
                client.readRecords(
                        new ReadRecordsRequest(tunnel, who, channel, start.getCheckpoint()));
        long number = start.getSequenceNumber();
        // The SDK has no token for the end of a channel; its worker notes it with this word.
        String next = page.getNextToken() == null ? FINISHED : page.getNextToken();
        client.checkpoint(new CheckpointRequest(tunnel, who, channel, next, number + 1));
        GetCheckpointResponse after =
                client.getCheckpoint(new GetCheckpointRequest(tunnel, who, channel));
        List<Object> keys = Printing.list();
        for (StreamRecord record : page.getRecords()) {
            keys.add(record.getPrimaryKey().getPrimaryKeyColumn("n").getValue().asLong());
        }
        seen.put("tagged", who.startsWith("tag_"));
        seen.put("channel", Printing.list(channels.size(), channels.get(0).getStatus().name()));
        seen.put("owner", describe(client, "base").getChannelInfos().get(0).getClientId().equals(who));
        seen.put("records", keys);
        seen.put("first action", page.getRecords().get(0).getRecordType().name());
        seen.put("next token", next);
        seen.put(
                "checkpoint",
                Printing.list(
                        after.getCheckpoint(), after.getSequenceNumber() - number));
        seen.put(
                "wrong number",
                Printing.refusal(
                        () ->
                                client.checkpoint(
                                        new CheckpointRequest(
                                                tunnel, who, channel, FINISHED, number + 7))));
        seen.put(
                "stranger",
                Printing.refusal(
                        () ->
                                client.getCheckpoint(
                                        new GetCheckpointRequest(tunnel, "stranger", channel))));
        client.shutdownTunnel(new ShutdownTunnelRequest(tunnel, who));
        seen.put(
                "after shutdown",
                client.readRecords(
                                new ReadRecordsRequest(tunnel, "", channel, start.getCheckpoint()))
                        .getRecords()
                        .size());
        seen.put(
                "heartbeat after shutdown",
                Printing.refusal(
                        () -> client.heartbeat(new HeartbeatRequest(tunnel, who, List.of()))));
    }

    private static Object listed(TunnelClient client, Map<String, String> ids) {
        Map<String, Object> told = new TreeMap<>();
        for (TunnelInfo info : client.listTunnel(new ListTunnelRequest(TABLE)).getTunnelInfos()) {
            told.put(
                    info.getTunnelName(),
                    Printing.list(
                            info.getTunnelName(),
                            info.getTunnelType().name(),
                            info.getTableName(),
                            info.getInstanceName(),
                            info.getTunnelId().equals(ids.get(info.getTunnelName()))));
        }
        return told.values();
    }

    private static DescribeTunnelResponse describe(TunnelClient client, String name) {
        return client.describeTunnel(new DescribeTunnelRequest(TABLE, name));
    }

    private static Object described(TunnelClient client, String name, String id) {
        DescribeTunnelResponse found = describe(client, name);
        TunnelInfo info = found.getTunnelInfo();
        StreamTunnelConfig config = info.getStreamTunnelConfig();
        List<Object> channels = Printing.list();
        for (ChannelInfo each : found.getChannelInfos()) {
            channels.add(
                    Printing.list(
                            each.getChannelType().name(),
                            each.getChannelStatus().name(),
                            each.getClientId()));
        }
        return Printing.facts(
                "id", info.getTunnelId().equals(id),
                "stage", info.getStage().name(),
                "expired", info.isExpired(),
                "channels", channels,
                "flag", config.getFlag().name(),
                "start", config.getStartOffset() == START,
                "end", config.getEndOffset() == END);
    }
}
