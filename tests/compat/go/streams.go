package main

import (
	"fmt"
	"time"

	"github.com/aliyun/aliyun-tablestore-go-sdk/tablestore"
)

const (
	splitPatience  = 60 * time.Second
	recordPatience = 60 * time.Second
	recordsOfRows  = 6 // that changeRows leaves
	streamedKeys   = 500
	batchRows      = 50
)

// given is the version that versions are written relative to: older than any of the server's.
var given = base - 60_000

var actions = map[tablestore.ActionType]string{
	tablestore.AT_Put: "PUT", tablestore.AT_Update: "UPDATE", tablestore.AT_Delete: "DELETE",
}

var columnActions = map[tablestore.RecordColumnType]string{
	tablestore.RCT_Put:               "put",
	tablestore.RCT_DeleteOneVersion:  "delete one",
	tablestore.RCT_DeleteAllVersions: "delete all",
}

// streams: every kind of change, and what the four actions say of them.
func streams(client *tablestore.TableStoreClient) facts {
	createStreamed(client, "streamed")
	stream := streamOfTable(client, "streamed")
	seen := describedStream(client, stream)
	shard := shardsOf(client, stream)[0].SelfShard
	first := iteratorOf(client, stream, shard, nil)
	changeRows(client)
	awaitRecords(client, first)
	records, pages := readOneByOne(client, first)
	seen["records"], seen["sequence"] = printedRecords(records), sequenceOf(records)
	seen["pages"] = pages
	again, _ := client.GetStreamRecord(&tablestore.GetStreamRecordRequest{ShardIterator: first})
	seen["at once"] = list{len(again.Records), *again.MayMoreRecord}

	third := records[2].Info.Timestamp
	later, err := client.GetStreamRecord(&tablestore.GetStreamRecordRequest{
		ShardIterator: iteratorOf(client, stream, shard, &third),
	})
	must(err)
	seen["from a time"] = len(later.Records)
	now := time.Now().Add(time.Hour).UnixMicro()
	tail := iteratorOf(client, stream, shard, &now)
	none, err := client.GetStreamRecord(&tablestore.GetStreamRecordRequest{ShardIterator: tail})
	must(err)
	seen["from the end"] = list{
		len(none.Records), *none.MayMoreRecord, *none.NextShardIterator == *tail,
	}
	changeStream(client, stream, first, seen)
	return seen
}

// changeStream: other hours and columns, an iterator that is none, the stream off.
func changeStream(
	client *tablestore.TableStoreClient, stream *tablestore.StreamId,
	iterator *tablestore.ShardIterator, seen facts,
) {
	set := func(spec *tablestore.StreamSpecification) {
		_, err := client.UpdateTable(
			&tablestore.UpdateTableRequest{TableName: "streamed", StreamSpec: spec})
		must(err)
	}
	set(&tablestore.StreamSpecification{
		EnableStream: true, ExpirationTime: 48, OriginColumnsToGet: []string{"e"},
	})
	kept := streamOfTable(client, "streamed")
	described, err := client.DescribeStream(&tablestore.DescribeStreamRequest{StreamId: kept})
	must(err)
	seen["changed"] = list{*kept == *stream, described.ExpirationTime}
	forged := tablestore.ShardIterator("forged")
	_, err = client.GetStreamRecord(&tablestore.GetStreamRecordRequest{ShardIterator: &forged})
	seen["forged"] = refusal(err)
	set(&tablestore.StreamSpecification{EnableStream: false})
	name := "streamed"
	listed, err := client.ListStream(&tablestore.ListStreamRequest{TableName: &name})
	must(err)
	seen["off"] = len(listed.Streams)
	_, err = client.DescribeStream(&tablestore.DescribeStreamRequest{StreamId: stream})
	seen["gone"] = refusal(err)
	_, err = client.GetStreamRecord(&tablestore.GetStreamRecordRequest{ShardIterator: iterator})
	seen["unreadable"] = refusal(err)
}

func createStreamed(client *tablestore.TableStoreClient, name string) {
	meta := &tablestore.TableMeta{TableName: name}
	meta.AddPrimaryKeyColumn("pk", tablestore.PrimaryKeyType_STRING)
	meta.AddPrimaryKeyColumn("n", tablestore.PrimaryKeyType_INTEGER)
	_, err := client.CreateTable(&tablestore.CreateTableRequest{
		TableMeta:          meta,
		TableOption:        tablestore.NewTableOptionWithMaxVersion(3),
		ReservedThroughput: &tablestore.ReservedThroughput{},
		StreamSpec: &tablestore.StreamSpecification{
			EnableStream: true, ExpirationTime: 24, OriginColumnsToGet: []string{"d", "c"},
		},
	})
	must(err)
}

func streamOfTable(client *tablestore.TableStoreClient, name string) *tablestore.StreamId {
	listed, err := client.ListStream(&tablestore.ListStreamRequest{TableName: &name})
	must(err)
	return listed.Streams[0].Id
}

func describedStream(client *tablestore.TableStoreClient, stream *tablestore.StreamId) facts {
	all, err := client.ListStream(&tablestore.ListStreamRequest{})
	must(err)
	tables := list{}
	for _, each := range all.Streams {
		if *each.TableName != "split" {
			tables = append(tables, *each.TableName)
		}
	}
	described, err := client.DescribeStream(&tablestore.DescribeStreamRequest{StreamId: stream})
	must(err)
	age := time.Since(time.UnixMicro(described.CreationTime))
	return facts{
		"streams of all": tables,
		"stream": facts{
			"table":   *described.TableName,
			"hours":   described.ExpirationTime,
			"active":  described.Status == tablestore.SS_Active,
			"recent":  age > -time.Minute && age < time.Minute,
			"shards":  len(described.Shards),
			"parents": described.Shards[0].FatherShard != nil,
			"more":    described.NextShardId != nil,
		},
	}
}

func shardsOf(
	client *tablestore.TableStoreClient, stream *tablestore.StreamId,
) []*tablestore.StreamShard {
	described, err := client.DescribeStream(&tablestore.DescribeStreamRequest{StreamId: stream})
	must(err)
	return described.Shards
}

func iteratorOf(
	client *tablestore.TableStoreClient, stream *tablestore.StreamId, shard *tablestore.ShardId,
	timestamp *int64,
) *tablestore.ShardIterator {
	found, err := client.GetShardIterator(&tablestore.GetShardIteratorRequest{
		StreamId: stream, ShardId: shard, Timestamp: timestamp,
	})
	must(err)
	return found.ShardIterator
}

// changeRows: a put, a put over it, an update of every kind, a delete, and two puts in one batch.
func changeRows(client *tablestore.TableStoreClient) {
	first := putChange("streamed", key("a", 1))
	first.AddColumnWithTimestamp("c", "old", given+1)
	first.AddColumnWithTimestamp("k", int64(40), given+1)
	putRow(client, first)
	second := putChange("streamed", key("a", 1))
	second.AddColumnWithTimestamp("c", "new", given+2)
	second.AddColumnWithTimestamp("d", 2.5, given+2)
	second.AddColumnWithTimestamp("k", int64(40), given+2)
	putRow(client, second)
	update := updateChange("streamed", key("a", 1))
	update.PutColumnWithTimestamp("c", []byte{1}, given+3)
	update.DeleteColumn("d")
	update.DeleteColumnWithTimestamp("e", given+1)
	update.IncrementColumn("k", 2)
	_, err := client.UpdateRow(&tablestore.UpdateRowRequest{UpdateRowChange: update})
	must(err)
	_, err = client.DeleteRow(deletion("streamed", key("a", 1)))
	must(err)
	batch := &tablestore.BatchWriteRowRequest{}
	for n := int64(2); n < 4; n++ {
		change := putChange("streamed", key("a", n))
		change.AddColumnWithTimestamp("c", true, given+4)
		batch.AddRowChange(change)
	}
	_, err = client.BatchWriteRow(batch)
	must(err)
}

// awaitRecords waits for all of them: on a shared store they follow their rows after a moment.
func awaitRecords(client *tablestore.TableStoreClient, iterator *tablestore.ShardIterator) {
	for deadline := time.Now().Add(recordPatience); ; time.Sleep(20 * time.Millisecond) {
		page, err := client.GetStreamRecord(
			&tablestore.GetStreamRecordRequest{ShardIterator: iterator})
		must(err)
		if len(page.Records) == recordsOfRows && !*page.MayMoreRecord {
			return
		}
		if time.Now().After(deadline) {
			panic("the records of the stream do not come")
		}
	}
}

// readOneByOne reads as the samples of the SDK do, until an iterator comes back as it was sent. For
// each page it tells the number of records and whether there may be more.
func readOneByOne(
	client *tablestore.TableStoreClient, iterator *tablestore.ShardIterator,
) (records []*tablestore.StreamRecord, pages list) {
	one := int32(1)
	for {
		page, err := client.GetStreamRecord(
			&tablestore.GetStreamRecordRequest{ShardIterator: iterator, Limit: &one})
		must(err)
		records = append(records, page.Records...)
		pages = append(pages, list{len(page.Records), *page.MayMoreRecord})
		if *page.NextShardIterator == *iterator {
			return records, pages
		}
		iterator = page.NextShardIterator
	}
}

func printedRecords(records []*tablestore.StreamRecord) list {
	told := list{}
	for _, record := range records {
		told = append(told, facts{
			"action": actions[record.Type],
			"key":    printedKey(*record.PrimaryKey),
			"cells":  printedColumns(record.Columns),
			"origin": printedColumns(record.OriginColumns),
		})
	}
	return told
}

// printedColumns leaves versions out that the server gave.
func printedColumns(columns []*tablestore.RecordColumn) list {
	told := list{}
	for _, column := range columns {
		var version any
		if column.Timestamp != nil && *column.Timestamp-given < 10 {
			version = *column.Timestamp - given
		}
		told = append(told, list{
			*column.Name, columnActions[column.Type], printed(column.Value), version,
		})
	}
	return told
}

// sequenceOf: which records ascend from the one before, which share its time, how old they are.
func sequenceOf(records []*tablestore.StreamRecord) facts {
	ascend, together, recent := list{}, list{}, list{}
	for at, record := range records {
		age := time.Since(time.UnixMicro(record.Info.Timestamp))
		recent = append(recent, age > -time.Minute && age < time.Minute && record.Info.Epoch == 0)
		if at > 0 {
			before := records[at-1].Info
			same := record.Info.Timestamp == before.Timestamp
			together = append(together, same)
			ascend = append(ascend, record.Info.Timestamp > before.Timestamp ||
				same && record.Info.RowIndex > before.RowIndex)
		}
	}
	return facts{"ascend": ascend, "together": together, "recent": recent}
}

// --- a split while somebody reads ----------------------------------------------------------------

// reader is one shard as far as it was read.
type reader struct {
	shard    *tablestore.StreamShard
	iterator *tablestore.ShardIterator // nil at the end of a closed shard
	records  list
}

// follower reads a stream: each shard behind its parents.
type follower struct {
	client  *tablestore.TableStoreClient
	stream  *tablestore.StreamId
	readers map[tablestore.ShardId]*reader
	order   []*reader
}

// streamSplit writes until the table is split, and reads all the time.
func streamSplit(client *tablestore.TableStoreClient) facts {
	createStreamed(client, "split")
	stream := streamOfTable(client, "split")
	follow := &follower{client, stream, map[tablestore.ShardId]*reader{}, nil}
	written := int64(0)
	for deadline := time.Now().Add(splitPatience); len(follow.readers) < 3; {
		if time.Now().After(deadline) {
			panic("the table was not split")
		}
		written = writeBatch(client, written)
		follow.step()
	}
	for more := 0; more < 4; more++ {
		written = writeBatch(client, written)
	}
	for follow.step() {
	}
	shards := list{}
	for _, each := range follow.order {
		shards = append(shards, facts{
			"shard": each.shard.SelfShard, "parent": each.shard.FatherShard,
			"sibling": each.shard.MotherShard,
			"ended":   each.iterator == nil, "records": each.records,
		})
	}
	least, most := everything()
	rows, _ := scan(client, span("split", least, most, tablestore.FORWARD, 0))
	return facts{"written": written, "shards": shards, "rows": rows}
}

// writeBatch gives the next rows their numbers; keys come again and again.
func writeBatch(client *tablestore.TableStoreClient, written int64) int64 {
	batch := &tablestore.BatchWriteRowRequest{}
	for end := written + batchRows; written < end; written++ {
		pk := fmt.Sprintf("k%03d", written*7%streamedKeys)
		batch.AddRowChange(withColumn(putChange("split", key(pk, 0)), "v", written))
	}
	_, err := client.BatchWriteRow(batch)
	must(err)
	return written
}

// step reads a page of every shard that may be read; false if nothing was new.
func (follow *follower) step() bool {
	news := false
	for _, shard := range shardsOf(follow.client, follow.stream) {
		known, ok := follow.readers[*shard.SelfShard]
		if !ok && follow.done(shard.FatherShard) && follow.done(shard.MotherShard) {
			start := iteratorOf(follow.client, follow.stream, shard.SelfShard, nil)
			known = &reader{shard: shard, iterator: start, records: list{}}
			follow.readers[*shard.SelfShard] = known
			follow.order = append(follow.order, known)
			news, ok = true, true
		}
		if ok && known.iterator != nil {
			news = follow.page(known) || news
		}
	}
	return news
}

func (follow *follower) done(parent *tablestore.ShardId) bool {
	if parent == nil {
		return true
	}
	known, ok := follow.readers[*parent]
	return ok && known.iterator == nil
}

func (follow *follower) page(known *reader) bool {
	page, err := follow.client.GetStreamRecord(
		&tablestore.GetStreamRecordRequest{ShardIterator: known.iterator})
	must(err)
	for _, record := range page.Records {
		known.records = append(known.records, list{
			record.PrimaryKey.PrimaryKeys[0].Value, record.Columns[0].Value,
			record.Info.Timestamp, record.Info.RowIndex,
		})
	}
	known.iterator = page.NextShardIterator
	return len(page.Records) > 0 || *page.MayMoreRecord || known.iterator == nil
}
