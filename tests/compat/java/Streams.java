import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.model.BatchWriteRowRequest;
import com.alicloud.openservices.tablestore.model.Column;
import com.alicloud.openservices.tablestore.model.ColumnValue;
import com.alicloud.openservices.tablestore.model.CreateTableRequest;
import com.alicloud.openservices.tablestore.model.DeleteRowRequest;
import com.alicloud.openservices.tablestore.model.DescribeStreamRequest;
import com.alicloud.openservices.tablestore.model.DescribeStreamResponse;
import com.alicloud.openservices.tablestore.model.Direction;
import com.alicloud.openservices.tablestore.model.GetShardIteratorRequest;
import com.alicloud.openservices.tablestore.model.GetStreamRecordRequest;
import com.alicloud.openservices.tablestore.model.GetStreamRecordResponse;
import com.alicloud.openservices.tablestore.model.ListStreamRequest;
import com.alicloud.openservices.tablestore.model.PrimaryKeyType;
import com.alicloud.openservices.tablestore.model.PutRowRequest;
import com.alicloud.openservices.tablestore.model.RecordColumn;
import com.alicloud.openservices.tablestore.model.RecordSequenceInfo;
import com.alicloud.openservices.tablestore.model.RowDeleteChange;
import com.alicloud.openservices.tablestore.model.RowPutChange;
import com.alicloud.openservices.tablestore.model.RowUpdateChange;
import com.alicloud.openservices.tablestore.model.Stream;
import com.alicloud.openservices.tablestore.model.StreamRecord;
import com.alicloud.openservices.tablestore.model.StreamShard;
import com.alicloud.openservices.tablestore.model.StreamSpecification;
import com.alicloud.openservices.tablestore.model.StreamStatus;
import com.alicloud.openservices.tablestore.model.TableMeta;
import com.alicloud.openservices.tablestore.model.TableOptions;
import com.alicloud.openservices.tablestore.model.UpdateRowRequest;
import com.alicloud.openservices.tablestore.model.UpdateTableRequest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Streams, on a server whose partitions split soon. Arguments and output are those of Actions,
 * without the names of clients.
 */
final class Streams {
    private static final String TABLE = "streamed";
    // What versions are written relative to: older than any of the server's.
    private static final long GIVEN = Printing.BASE - 60_000;
    private static final long SPLIT_PATIENCE_MS = 60_000;
    private static final long RECORD_PATIENCE_MS = 60_000;
    private static final int RECORDS_OF_ROWS = 6; // that changeRows leaves
    private static final int KEYS = 500;
    private static final int BATCH_ROWS = 50;
    private static final Map<RecordColumn.ColumnType, String> CHANGES =
            Map.of(
                    RecordColumn.ColumnType.PUT, "put",
                    RecordColumn.ColumnType.DELETE_ONE_VERSION, "delete one",
                    RecordColumn.ColumnType.DELETE_ALL_VERSION, "delete all");

    private Streams() {}

    public static void main(String[] arguments) throws Exception {
        SyncClient client = new SyncClient(arguments[0], "widerow", "widerow", arguments[1]);
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("streams", Actions.attempt(Streams::streams, client));
        seen.put("split", Actions.attempt(Streams::split, client));
        client.shutdown();
        Actions.print(seen);
    }

    /** Every kind of change, and what the four actions say of them. */
    private static Map<String, Object> streams(SyncClient client) throws Exception {
        create(client, TABLE);
        String stream = streamOf(client, TABLE);
        Map<String, Object> seen = described(client, stream);
        String shard = shards(client, stream).get(0).getShardId();
        String first = iterator(client, stream, shard, 0);
        changeRows(client);
        awaitRecords(client, first);
        List<Object> pages = Printing.list();
        List<StreamRecord> records = readOneByOne(client, first, pages);
        seen.put("records", printed(records));
        seen.put("sequence", sequence(records));
        seen.put("pages", pages);
        GetStreamRecordResponse atOnce = client.getStreamRecord(new GetStreamRecordRequest(first));
        seen.put("at once", Printing.list(atOnce.getRecords().size(), atOnce.getMayMoreRecord()));

        long third = records.get(2).getSequenceInfo().getTimestamp();
        String later = iterator(client, stream, shard, third);
        seen.put(
                "from a time",
                client.getStreamRecord(new GetStreamRecordRequest(later)).getRecords().size());
        long afterAll = (System.currentTimeMillis() + 3_600_000) * 1000;
        String tail = iterator(client, stream, shard, afterAll);
        GetStreamRecordResponse none = client.getStreamRecord(new GetStreamRecordRequest(tail));
        seen.put(
                "from the end",
                Printing.list(
                        none.getRecords().size(),
                        none.getMayMoreRecord(),
                        none.getNextShardIterator().equals(tail)));
        changeStream(client, stream, first, seen);
        return seen;
    }

    /** Other hours and columns, an iterator that is none, the stream off. */
    private static void changeStream(
            SyncClient client, String stream, String iterator, Map<String, Object> seen)
            throws Exception {
        StreamSpecification other = new StreamSpecification(true, 48);
        other.addOriginColumnsToGet(new String[] {"e"});
        set(client, other);
        String kept = streamOf(client, TABLE);
        seen.put(
                "changed",
                Printing.list(
                        kept.equals(stream),
                        client.describeStream(new DescribeStreamRequest(kept))
                                .getExpirationTime()));
        seen.put(
                "forged",
                Printing.refusal(
                        () -> client.getStreamRecord(new GetStreamRecordRequest("forged"))));
        set(client, new StreamSpecification(false));
        seen.put("off", client.listStream(new ListStreamRequest(TABLE)).getStreams().size());
        seen.put(
                "gone",
                Printing.refusal(() -> client.describeStream(new DescribeStreamRequest(stream))));
        seen.put(
                "unreadable",
                Printing.refusal(
                        () -> client.getStreamRecord(new GetStreamRecordRequest(iterator))));
    }

    private static void set(SyncClient client, StreamSpecification stream) {
        UpdateTableRequest request = new UpdateTableRequest(TABLE);
        request.setStreamSpecification(stream);
        client.updateTable(request);
    }

    private static void create(SyncClient client, String name) {
        TableMeta meta = new TableMeta(name);
        meta.addPrimaryKeyColumn("pk", PrimaryKeyType.STRING);
        meta.addPrimaryKeyColumn("n", PrimaryKeyType.INTEGER);
        CreateTableRequest request = new CreateTableRequest(meta, new TableOptions(-1, 3));
        StreamSpecification stream = new StreamSpecification(true, 24);
        stream.addOriginColumnsToGet(new String[] {"d", "c"});
        request.setStreamSpecification(stream);
        client.createTable(request);
    }

    private static String streamOf(SyncClient client, String table) {
        return client.listStream(new ListStreamRequest(table)).getStreams().get(0).getStreamId();
    }

    private static Map<String, Object> described(SyncClient client, String stream) {
        List<Object> tables = Printing.list();
        for (Stream each : client.listStream(new ListStreamRequest()).getStreams()) {
            tables.add(each.getTableName());
        }
        DescribeStreamResponse told = client.describeStream(new DescribeStreamRequest(stream));
        return Printing.facts(
                "streams of all", tables,
                "stream",
                Printing.facts(
                        "table", told.getTableName(),
                        "hours", told.getExpirationTime(),
                        "active", told.getStatus() == StreamStatus.ACTIVE,
                        "recent", isRecent(told.getCreationTime()),
                        "shards", told.getShards().size(),
                        "parents", told.getShards().get(0).getParentId() != null,
                        "more", told.getNextShardId() != null));
    }

    private static boolean isRecent(long micros) {
        return Math.abs(System.currentTimeMillis() - micros / 1000) < 60_000;
    }

    private static List<StreamShard> shards(SyncClient client, String stream) {
        return client.describeStream(new DescribeStreamRequest(stream)).getShards();
    }

    /** From the oldest record on, or from a time in microseconds. */
    private static String iterator(SyncClient client, String stream, String shard, long micros) {
        GetShardIteratorRequest request = new GetShardIteratorRequest(stream, shard);
        if (micros > 0) {
            request.setTimestamp(micros);
        }
        return client.getShardIterator(request).getShardIterator();
    }

    /** A put, a put over it, an update of every kind, a delete, and two puts in one batch. */
    private static void changeRows(SyncClient client) {
        RowPutChange first = new RowPutChange(TABLE, Rows.key("a", 1));
        first.addColumn(new Column("c", Rows.text("old"), GIVEN + 1));
        first.addColumn(new Column("k", Rows.number(40), GIVEN + 1));
        client.putRow(new PutRowRequest(first));
        RowPutChange second = new RowPutChange(TABLE, Rows.key("a", 1));
        second.addColumn(new Column("c", Rows.text("new"), GIVEN + 2));
        second.addColumn(new Column("d", ColumnValue.fromDouble(2.5), GIVEN + 2));
        second.addColumn(new Column("k", Rows.number(40), GIVEN + 2));
        client.putRow(new PutRowRequest(second));
        RowUpdateChange update = new RowUpdateChange(TABLE, Rows.key("a", 1));
        update.put(new Column("c", ColumnValue.fromBinary(new byte[] {1}), GIVEN + 3));
        update.deleteColumns("d");
        update.deleteColumn("e", GIVEN + 1);
        update.increment(new Column("k", Rows.number(2)));
        client.updateRow(new UpdateRowRequest(update));
        client.deleteRow(new DeleteRowRequest(new RowDeleteChange(TABLE, Rows.key("a", 1))));
        BatchWriteRowRequest batch = new BatchWriteRowRequest();
        for (long n = 2; n < 4; n++) {
            RowPutChange change = new RowPutChange(TABLE, Rows.key("a", n));
            change.addColumn(
                    new Column("c", ColumnValue.fromBoolean(true), GIVEN + 4));
            batch.addRowChange(change);
        }
        client.batchWriteRow(batch);
    }

    /** Waits for all of them: on a shared store they follow their rows after a moment. */
    private static void awaitRecords(SyncClient client, String iterator) throws Exception {
        long deadline = System.currentTimeMillis() + RECORD_PATIENCE_MS;
        while (true) {
            GetStreamRecordResponse page =
                    client.getStreamRecord(new GetStreamRecordRequest(iterator));
            if (page.getRecords().size() == RECORDS_OF_ROWS && !page.getMayMoreRecord()) {
                return;
            }
            if (System.currentTimeMillis() > deadline) {
                throw new IllegalStateException("the records of the stream do not come");
            }
            Thread.sleep(20);
        }
    }

    /** Reads one record at a time until an iterator comes back as it was sent. */
    private static List<StreamRecord> readOneByOne(
            SyncClient client, String start, List<Object> pages) {
        List<StreamRecord> records = new ArrayList<>();
        String iterator = start;
        while (true) {
            GetStreamRecordRequest request = new GetStreamRecordRequest(iterator);
            request.setLimit(1);
            GetStreamRecordResponse page = client.getStreamRecord(request);
            records.addAll(page.getRecords());
            pages.add(Printing.list(page.getRecords().size(), page.getMayMoreRecord()));
            if (page.getNextShardIterator().equals(iterator)) {
                return records;
            }
            iterator = page.getNextShardIterator();
        }
    }

    private static Object printed(List<StreamRecord> records) throws Exception {
        List<Object> told = Printing.list();
        for (StreamRecord record : records) {
            told.add(
                    Printing.facts(
                            "action", record.getRecordType().name(),
                            "key", Printing.key(record.getPrimaryKey()),
                            "cells", columns(record.getColumns()),
                            "origin", columns(record.getOriginColumns())));
        }
        return told;
    }

    /** Leaves versions out that the server gave, and values of deleted cells. */
    private static Object columns(List<RecordColumn> columns) {
        List<Object> told = Printing.list();
        for (RecordColumn each : columns) {
            Column column = each.getColumn();
            boolean isPut = each.getColumnType() == RecordColumn.ColumnType.PUT;
            boolean isGiven =
                    column.hasSetTimestamp() && column.getTimestamp() - GIVEN < 10;
            told.add(
                    Printing.list(
                            column.getName(),
                            CHANGES.get(each.getColumnType()),
                            isPut ? Printing.printed(column.getValue()) : null,
                            isGiven ? column.getTimestamp() - GIVEN : null));
        }
        return told;
    }

    /** Which records ascend from the one before, which share its time, which are of now. */
    private static Object sequence(List<StreamRecord> records) {
        List<Object> ascend = Printing.list();
        List<Object> together = Printing.list();
        List<Object> recent = Printing.list();
        RecordSequenceInfo before = null;
        for (StreamRecord record : records) {
            RecordSequenceInfo info = record.getSequenceInfo();
            recent.add(info.getEpoch() == 0 && isRecent(info.getTimestamp()));
            if (before != null) {
                boolean same = info.getTimestamp() == before.getTimestamp();
                together.add(same);
                ascend.add(
                        same
                                ? info.getRowIndex() > before.getRowIndex()
                                : info.getTimestamp() > before.getTimestamp());
            }
            before = info;
        }
        return Printing.facts("ascend", ascend, "together", together, "recent", recent);
    }

    /** Writes until the table is split, and reads all the time. */
    private static Map<String, Object> split(SyncClient client) throws Exception {
        create(client, "split");
        Follower follower = new Follower(client, streamOf(client, "split"));
        long written = 0;
        long deadline = System.currentTimeMillis() + SPLIT_PATIENCE_MS;
        while (follower.readers.size() < 3) {
            if (System.currentTimeMillis() > deadline) {
                throw new IllegalStateException("the table was not split");
            }
            written = writeBatch(client, written);
            follower.step();
        }
        for (int more = 0; more < 4; more++) {
            written = writeBatch(client, written);
        }
        boolean news = true;
        while (news) {
            news = follower.step();
        }
        return Printing.facts(
                "written", written,
                "shards", follower.told(),
                "rows",
                Ranges.rows(
                        client,
                        Ranges.span("split", Ranges.least(), Ranges.most(), Direction.FORWARD)));
    }

    /** Gives the next rows their numbers; keys come again and again. */
    private static long writeBatch(SyncClient client, long from) {
        BatchWriteRowRequest batch = new BatchWriteRowRequest();
        for (long number = from; number < from + BATCH_ROWS; number++) {
            String pk = String.format("k%03d", number * 7 % KEYS);
            batch.addRowChange(Rows.put("split", Rows.key(pk, 0), "v", Rows.number(number)));
        }
        client.batchWriteRow(batch);
        return from + BATCH_ROWS;
    }

    /** One shard as far as it was read. */
    private static final class Reader {
        final StreamShard shard;
        final List<Object> records = Printing.list();
        String iterator; // null at the end of a closed shard

        Reader(StreamShard shard, String iterator) {
            this.shard = shard;
            this.iterator = iterator;
        }
    }

    /** Reads a stream: each shard behind its parents. */
    private static final class Follower {
        final Map<String, Reader> readers = new LinkedHashMap<>();
        private final SyncClient client;
        private final String stream;

        Follower(SyncClient client, String stream) {
            this.client = client;
            this.stream = stream;
        }

        /** Reads a page of every shard that may be read; false if nothing was new. */
        boolean step() {
            boolean news = false;
            for (StreamShard shard : shards(client, stream)) {
                String name = shard.getShardId();
                if (!readers.containsKey(name)
                        && isDone(shard.getParentId())
                        && isDone(shard.getParentSiblingId())) {
                    readers.put(name, new Reader(shard, iterator(client, stream, name, 0)));
                    news = true;
                }
                Reader known = readers.get(name);
                if (known != null && known.iterator != null) {
                    news = page(known) || news;
                }
            }
            return news;
        }

        private boolean isDone(String parent) {
            Reader known = readers.get(parent);
            return parent == null || known != null && known.iterator == null;
        }

        private boolean page(Reader known) {
            GetStreamRecordResponse page =
                    client.getStreamRecord(new GetStreamRecordRequest(known.iterator));
            for (StreamRecord record : page.getRecords()) {
                RecordSequenceInfo info = record.getSequenceInfo();
                known.records.add(
                        Printing.list(
                                record.getPrimaryKey().getPrimaryKeyColumn("pk").getValue()
                                        .asString(),
                                record.getColumns().get(0).getColumn().getValue().asLong(),
                                info.getTimestamp(),
                                info.getRowIndex()));
            }
            known.iterator = page.getNextShardIterator();
            return !page.getRecords().isEmpty()
                    || page.getMayMoreRecord()
                    || known.iterator == null;
        }

        Object told() {
            List<Object> shards = Printing.list();
            for (Reader each : readers.values()) {
                shards.add(
                        Printing.facts(
                                "shard", each.shard.getShardId(),
                                "parent", each.shard.getParentId(),
                                "sibling", each.shard.getParentSiblingId(),
                                "ended", each.iterator == null,
                                "records", each.records));
            }
            return shards;
        }
    }
}
