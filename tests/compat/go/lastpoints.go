package main

import (
	"github.com/aliyun/aliyun-tablestore-go-sdk/tablestore"
)

// analyticalStores: those that come with a table, and those that are made later.
func analyticalStores(*tablestore.TableStoreClient) facts {
	full := tablestore.NewTimeseriesAnalyticalStore("first")
	createStored("stored", false, full)
	createStored("stored_default", true)
	createStored("stored_none", false)
	seen := facts{
		"listed":     listedStores("stored"),
		"by default": listedStores("stored_default"),
		"none":       listedStores("stored_none"),
		"described":  describedStore("stored", "first"),
	}
	full.SetTimeToLive(2_592_000)
	_, err := seriesClient.UpdateTimeseriesAnalyticalStore(
		tablestore.NewUpdateTimeseriesAnalyticalStoreRequest("stored", full))
	must(err)
	seen["changed"] = describedStore("stored", "first")
	late := tablestore.NewTimeseriesAnalyticalStore("late")
	late.SetTimeToLive(5_184_000)
	late.SetSyncOption(tablestore.SYNC_TYPE_FULL)
	creation := tablestore.NewCreateTimeseriesAnalyticalStoreRequest("stored", late)
	_, err = seriesClient.CreateTimeseriesAnalyticalStore(creation)
	seen["second"] = refusal(err)
	_, err = seriesClient.DeleteTimeseriesAnalyticalStore(
		tablestore.NewDeleteTimeseriesAnalyticalStoreRequest("stored", "first"))
	must(err)
	_, err = seriesClient.DescribeTimeseriesAnalyticalStore(
		tablestore.NewDescribeTimeseriesAnalyticalStoreRequest("stored", "first"))
	seen["gone"] = refusal(err)
	_, err = seriesClient.CreateTimeseriesAnalyticalStore(creation)
	must(err)
	seen["full"] = describedStore("stored", "late")
	must(deleteSeries("stored")) // with the store in it
	return seen
}

func createStored(name string, enabled bool, stores ...*tablestore.TimeseriesAnalyticalStore) {
	must(createSeries(name, -1, func(_ *tablestore.TimeseriesTableMeta, request *tablestore.CreateTimeseriesTableRequest) {
		request.SetEnableAnalyticalStore(enabled)
		request.SetAnalyticalStores(stores)
	}))
}

func listedStores(table string) list {
	stores := list{}
	for _, each := range describedTable(table).GetAnalyticalStores() {
		stores = append(stores, toldStore(&each))
	}
	return stores
}

func toldStore(store *tablestore.TimeseriesAnalyticalStore) list {
	return list{store.StoreName, *store.TimeToLive, phaseOf(*store.SyncOption)}
}

func phaseOf(option tablestore.AnalyticalStoreSyncType) string {
	return map[tablestore.AnalyticalStoreSyncType]string{
		tablestore.SYNC_TYPE_FULL: "FULL", tablestore.SYNC_TYPE_INCR: "INCR",
	}[option]
}

func describedStore(table, name string) list {
	answer, err := seriesClient.DescribeTimeseriesAnalyticalStore(
		tablestore.NewDescribeTimeseriesAnalyticalStoreRequest(table, name))
	must(err)
	var size any
	if answer.StorageSize != nil {
		size = answer.StorageSize.Size
	}
	stat := answer.SyncStat
	return list{toldStore(answer.AnalyticalStore), phaseOf(stat.SyncPhase), stat.CurrentSyncTimestamp, size}
}

// lastPoints: an index made with its table, one made over points, one made for those that come.
func lastPoints(client *tablestore.TableStoreClient) facts {
	must(createSeries("last_series", -1, func(_ *tablestore.TimeseriesTableMeta, request *tablestore.CreateTimeseriesTableRequest) {
		request.SetLastpointIndexNames([]string{"last_made"})
	}))
	putPoints("last_series",
		pointAt(firstSeries(), 4000, facts{"d": 2.0}),
		pointAt(firstSeries(), 0, facts{"d": 0.5, "l": int64(7), "s": "x"}),
		pointAt(firstSeries(), 2000, facts{"l": int64(8)}),
		pointAt(secondSeries(), 0, facts{"l": int64(1)}))
	rows, key := lastRows(client, "last_made")
	got := get(client, criteria("last_made", key))
	seen := facts{
		"rows":  rows,
		"row":   lastRow(&got.PrimaryKey, got.Columns),
		"batch": lastBatch(client, key),
	}
	createLast("last_full", true)
	createLast("last_bare", false)
	seen["with points"], _ = lastRows(client, "last_full")
	seen["without"], _ = lastRows(client, "last_bare")
	seen["listed"] = lastNames()
	seen["described"] = describedAsTable(client, "last_made")[0]
	tables, err := client.ListTable()
	must(err)
	seen["data tables"] = tablesOf(tables.TableNames, "last_")
	write := putChange("last_made", key)
	write.AddColumn("l", int64(1))
	_, err = client.PutRow(&tablestore.PutRowRequest{PutRowChange: write})
	seen["written"] = refusal(err)
	putPoints("last_series", pointAt(secondSeries(), 9000, facts{"d": 0.5}))
	seen["then"], _ = lastRows(client, "last_bare")
	for _, name := range []string{"last_bare", "last_full", "last_made"} {
		must(deleteLast(name))
	}
	seen["left"] = lastNames()
	_, err = client.DescribeTable(&tablestore.DescribeTableRequest{TableName: "last_made"})
	seen["gone"] = refusal(err)
	seen["unknown"] = refusal(deleteLast("last_made"))
	return seen
}

func createLast(name string, withPoints bool) {
	_, err := seriesClient.CreateTimeseriesLastpointIndex(
		tablestore.NewCreateTimeseriesLastpointIndexRequest("last_series", name, withPoints))
	must(err)
}

func deleteLast(name string) error {
	_, err := seriesClient.DeleteTimeseriesLastpointIndex(
		tablestore.NewDeleteTimeseriesLastpointIndexRequest("last_series", name))
	return err
}

func lastNames() list {
	names := list{}
	for _, name := range describedTable("last_series").GetLastpointIndexNames() {
		names = append(names, name)
	}
	return names
}

// lastRow leaves out the first column of the key, a hash, and gives each cell its version.
func lastRow(key *tablestore.PrimaryKey, columns []*tablestore.AttributeColumn) list {
	names, cells := list{}, list{}
	for _, column := range key.PrimaryKeys[1:] {
		names = append(names, printed(column.Value))
	}
	for _, column := range columns {
		cells = append(cells, list{column.ColumnName, printed(column.Value), column.Timestamp})
	}
	return list{names, cells}
}

// lastRows gives all rows of an index, and the key of the first series.
func lastRows(client *tablestore.TableStoreClient, index string) (list, *tablestore.PrimaryKey) {
	least, most := &tablestore.PrimaryKey{}, &tablestore.PrimaryKey{}
	for _, name := range []string{"_#h", "_m_name", "_data_source", "_tags"} {
		least.AddPrimaryKeyColumnWithMinValue(name)
		most.AddPrimaryKeyColumnWithMaxValue(name)
	}
	got, err := client.GetRange(&tablestore.GetRangeRequest{
		RangeRowQueryCriteria: span(index, least, most, tablestore.FORWARD, 100),
	})
	must(err)
	rows, key := list{}, (*tablestore.PrimaryKey)(nil)
	for _, row := range got.Rows {
		rows = append(rows, lastRow(row.PrimaryKey, row.Columns))
		if row.PrimaryKey.PrimaryKeys[2].Value == "host1" {
			key = row.PrimaryKey
		}
	}
	return rows, key
}

func lastBatch(client *tablestore.TableStoreClient, key *tablestore.PrimaryKey) list {
	wanted := &tablestore.MultiRowQueryCriteria{TableName: "last_made", MaxVersion: 1}
	wanted.AddRow(key)
	got, err := client.BatchGetRow(&tablestore.BatchGetRowRequest{
		MultiRowQueryCriteria: []*tablestore.MultiRowQueryCriteria{wanted},
	})
	must(err)
	rows := list{}
	for _, row := range got.TableToRowsResult["last_made"] {
		rows = append(rows, lastRow(&row.PrimaryKey, row.Columns))
	}
	return rows
}
