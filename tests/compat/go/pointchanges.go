package main

import (
	"fmt"
	"time"

	"github.com/aliyun/aliyun-tablestore-go-sdk/tablestore"
)

const (
	changedTable  = "changed_series"
	changedIndex  = "changed_last"
	changedPoints = 10
)

// pointChanges: ten points of one request, as records of the table and of its last-point index.
//
// The SDK's DescribeStream has no word for timeseries tables, so that no program of it is told the
// shards. The other calls work for whoever knows one: a table that was never split has the first.
func pointChanges(client *tablestore.TableStoreClient) facts {
	must(createSeries(changedTable, -1, func(_ *tablestore.TimeseriesTableMeta, request *tablestore.CreateTimeseriesTableRequest) {
		request.SetLastpointIndexNames([]string{changedIndex})
	}))
	points := []*tablestore.TimeseriesRow{}
	for at := int64(0); at < changedPoints; at++ {
		points = append(points, pointAt(firstSeries(), 1000*at, facts{"time": "now", "v": at}))
	}
	putPoints(changedTable, points...)
	name := changedTable
	listed, err := client.ListStream(&tablestore.ListStreamRequest{TableName: &name})
	must(err)
	stream := listed.Streams[0].Id
	_, err = client.DescribeStream(&tablestore.DescribeStreamRequest{StreamId: stream})
	seen := facts{"listed": len(listed.Streams), "not said": refusal(err)}
	shard := tablestore.ShardId("shard-0")
	first := iteratorOf(client, stream, &shard, nil)
	seen["rows"] = toldChanges(awaitedChanges(client, first, nil))
	index := changedIndex
	seen["updates"] = toldChanges(awaitedChanges(client, first, &index))
	return seen
}

// awaitedChanges waits for one of each point: over a database it may come after its put is answered.
func awaitedChanges(
	client *tablestore.TableStoreClient, iterator *tablestore.ShardIterator, table *string,
) []*tablestore.StreamRecord {
	for deadline := time.Now().Add(recordPatience); ; time.Sleep(20 * time.Millisecond) {
		page, err := client.GetStreamRecord(
			&tablestore.GetStreamRecordRequest{ShardIterator: iterator, TableName: table})
		must(err)
		if len(page.Records) >= changedPoints || time.Now().After(deadline) {
			return page.Records
		}
	}
}

func toldChanges(records []*tablestore.StreamRecord) list {
	told := list{}
	for _, record := range records {
		key, cells := list{}, list{}
		for _, column := range record.PrimaryKey.PrimaryKeys {
			key = append(key, column.ColumnName)
		}
		for _, column := range record.Columns {
			cells = append(cells, list{*column.Name, fmt.Sprint(column.Value)})
		}
		told = append(told, list{actions[record.Type], key, cells})
	}
	return told
}
