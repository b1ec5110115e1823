package main

import (
	"time"

	"github.com/aliyun/aliyun-tablestore-go-sdk/tablestore"
	"github.com/aliyun/aliyun-tablestore-go-sdk/tablestore/otsprotocol"
)

// seriesClient makes the calls of timeseries tables.
var seriesClient *tablestore.TimeseriesClient

// t0 is the time of the first point of most series, in microseconds.
const t0 = int64(1_600_000_000_000_000)

func seriesKey(measurement, source string, namesAndValues ...string) *tablestore.TimeseriesKey {
	made := tablestore.NewTimeseriesKey()
	made.SetMeasurementName(measurement)
	made.SetDataSource(source)
	for at := 0; at < len(namesAndValues); at += 2 {
		made.AddTag(namesAndValues[at], namesAndValues[at+1])
	}
	return made
}

func firstSeries() *tablestore.TimeseriesKey {
	return seriesKey("cpu", "host1", "region", "杭州", "os", "linux")
}

func secondSeries() *tablestore.TimeseriesKey { return seriesKey("cpu", "host2", "region", "eu") }

func bareSeries() *tablestore.TimeseriesKey { return seriesKey("mem", "") }

// pointAt is a point some microseconds after t0.
func pointAt(series *tablestore.TimeseriesKey, at int64, fields facts) *tablestore.TimeseriesRow {
	row := tablestore.NewTimeseriesRow(series)
	row.SetTimeInus(t0 + at)
	for name, value := range fields {
		row.AddField(name, fieldOf(value))
	}
	return row
}

func fieldOf(value any) *tablestore.ColumnValue {
	switch value.(type) {
	case int64:
		return tablestore.NewColumnValue(tablestore.ColumnType_INTEGER, value)
	case float64:
		return tablestore.NewColumnValue(tablestore.ColumnType_DOUBLE, value)
	case bool:
		return tablestore.NewColumnValue(tablestore.ColumnType_BOOLEAN, value)
	case []byte:
		return tablestore.NewColumnValue(tablestore.ColumnType_BINARY, value)
	default:
		return tablestore.NewColumnValue(tablestore.ColumnType_STRING, value)
	}
}

// tried puts points and gives the positions of those that failed.
func tried(table string, points ...*tablestore.TimeseriesRow) (list, error) {
	request := tablestore.NewPutTimeseriesDataRequest(table)
	request.AddTimeseriesRows(points...)
	answer, err := seriesClient.PutTimeseriesData(request)
	if err != nil {
		return nil, err
	}
	return positions(answer.GetFailedRowResults()), nil
}

func putPoints(table string, points ...*tablestore.TimeseriesRow) list {
	failed, err := tried(table, points...)
	must(err)
	return failed
}

func putRefused(table string, points ...*tablestore.TimeseriesRow) any {
	_, err := tried(table, points...)
	return refusal(err)
}

func positions(failed []*tablestore.FailedRowResult) list {
	found := list{}
	for _, each := range failed {
		found = append(found, each.Index)
	}
	return found
}

// createSeries makes a timeseries table; `change` adds to the request.
func createSeries(
	name string, ttl int64, change func(*tablestore.TimeseriesTableMeta, *tablestore.CreateTimeseriesTableRequest),
) error {
	meta := tablestore.NewTimeseriesTableMeta(name)
	meta.SetTimeseriesTableOptions(tablestore.NewTimeseriesTableOptions(ttl))
	request := tablestore.NewCreateTimeseriesTableRequest()
	request.SetTimeseriesTableMeta(meta)
	request.SetEnableAnalyticalStore(false)
	if change != nil {
		change(meta, request)
	}
	_, err := seriesClient.CreateTimeseriesTable(request)
	return err
}

func describedTable(name string) *tablestore.DescribeTimeseriesTableResponse {
	answer, err := seriesClient.DescribeTimeseriesTable(tablestore.NewDescribeTimeseriesTableRequset(name))
	must(err)
	return answer
}

func deleteSeries(name string) error {
	_, err := seriesClient.DeleteTimeseriesTable(tablestore.NewDeleteTimeseriesTableRequest(name))
	return err
}

func toldTable(meta *tablestore.TimeseriesTableMeta) facts {
	keys, fieldKeys := list{}, list{}
	for _, name := range meta.GetTimeseriesKeys() {
		keys = append(keys, name)
	}
	for _, column := range meta.GetFieldPrimaryKeys() {
		kind := map[tablestore.PrimaryKeyType]string{
			tablestore.PrimaryKeyType_INTEGER: "INTEGER", tablestore.PrimaryKeyType_STRING: "STRING",
		}[*column.Type]
		fieldKeys = append(fieldKeys, list{*column.Name, kind})
	}
	return facts{
		"name":       meta.GetTimeseriesTableName(),
		"ttl":        meta.GetTimeseriesTableOPtions().GetTimeToLive(),
		"keys":       keys,
		"field keys": fieldKeys,
	}
}

// seriesTables: timeseries tables, and the data tables that they share names with.
func seriesTables(client *tablestore.TableStoreClient) facts {
	must(createSeries("listed_tables", 864_000, nil))
	must(createSeries("listed_other", -1, nil))
	create(client, "listed_data", 1)
	seen := facts{
		"described": toldTable(describedTable("listed_tables").GetTimeseriesTableMeta()),
		"again":     refusal(createSeries("listed_tables", -1, nil)),
	}
	meta := &tablestore.TableMeta{TableName: "listed_other"}
	meta.AddPrimaryKeyColumn("pk", tablestore.PrimaryKeyType_STRING)
	_, err := client.CreateTable(&tablestore.CreateTableRequest{
		TableMeta: meta, TableOption: tablestore.NewTableOptionWithMaxVersion(1),
		ReservedThroughput: &tablestore.ReservedThroughput{},
	})
	seen["as data table"] = refusal(err)
	change := tablestore.NewUpdateTimeseriesTableRequest("listed_tables")
	change.SetTimeseriesTableOptions(tablestore.NewTimeseriesTableOptions(1_728_000))
	_, err = seriesClient.UpdateTimeseriesTable(change)
	must(err)
	seen["changed"] = toldTable(describedTable("listed_tables").GetTimeseriesTableMeta())
	found, err := seriesClient.ListTimeseriesTable()
	must(err)
	listed := list{}
	for _, meta := range found.GetTimeseriesTableMeta() {
		if len(tablesOf([]string{meta.GetTimeseriesTableName()}, "listed_")) == 1 {
			listed = append(listed, toldTable(meta))
		}
	}
	seen["listed"] = listed
	data, err := client.ListTable()
	must(err)
	seen["data tables"] = tablesOf(data.TableNames, "listed_")
	must(deleteSeries("listed_tables"))
	_, err = seriesClient.DescribeTimeseriesTable(
		tablestore.NewDescribeTimeseriesTableRequset("listed_tables"))
	seen["gone"] = refusal(err)
	seen["unknown"] = refusal(deleteSeries("listed_tables"))
	return seen
}

// wantedPoints asks for the points of a series around t0.
func wantedPoints(table string, series *tablestore.TimeseriesKey) *tablestore.GetTimeseriesDataRequest {
	request := tablestore.NewGetTimeseriesDataRequest(table)
	request.SetTimeseriesKey(series)
	request.SetTimeRange(0, t0+1_000_000)
	return request
}

func readPoints(request *tablestore.GetTimeseriesDataRequest) list {
	answer, err := seriesClient.GetTimeseriesData(request)
	must(err)
	read := list{}
	for _, row := range answer.GetRows() {
		fields := facts{}
		for name, value := range row.GetFieldsMap() {
			fields[name] = printed(value.Value)
		}
		series := row.GetTimeseriesKey()
		read = append(read, list{
			series.GetMeasurementName(), series.GetDataSource(), series.GetTags(), row.GetTimeInus(), fields,
		})
	}
	return read
}

// readPages tells the times of each page, and whether there is a token behind it.
func readPages(request *tablestore.GetTimeseriesDataRequest) list {
	pages := list{}
	for {
		answer, err := seriesClient.GetTimeseriesData(request)
		must(err)
		times := list{}
		for _, row := range answer.GetRows() {
			times = append(times, row.GetTimeInus())
		}
		more := answer.GetNextToken() != nil
		pages = append(pages, list{times, more})
		if !more {
			return pages
		}
		request.SetNextToken(answer.GetNextToken())
	}
}

func pagesOf(backward bool) list {
	request := wantedPoints("series", firstSeries())
	request.SetLimit(2)
	request.SetBackward(backward)
	return readPages(request)
}

func chosenPoints(fields ...*tablestore.FieldToGet) list {
	request := wantedPoints("series", firstSeries())
	request.SetFieldsToGet(fields)
	return readPoints(request)
}

// measured: points there and back, and metas. The SDK sends points as FlatBuffers or as messages.
func measured(form otsprotocol.RowsSerializeType) scenario {
	return func(*tablestore.TableStoreClient) facts {
		tablestore.RowsSerializeType = form
		defer func() { tablestore.RowsSerializeType = otsprotocol.RowsSerializeType_RST_FLAT_BUFFER }()
		if err := deleteSeries("series"); err != nil && refusal(err).(facts)["status"] != 404 {
			panic(err)
		}
		must(createSeries("series", -1, nil))
		seen := points()
		ofMetas(seen)
		return seen
	}
}

func points() facts {
	filled := facts{"b": true, "d": 1.5, "l": int64(7), "n": []byte{0, 255}, "s": "值 \t\n\""}
	failed := putPoints("series",
		pointAt(firstSeries(), 2, facts{"d": 2.0, "l": int64(9)}),
		pointAt(firstSeries(), 0, filled),
		pointAt(firstSeries(), 1, facts{"l": int64(8)}),
		pointAt(secondSeries(), 0, facts{"l": int64(1)}),
		pointAt(bareSeries(), 5, facts{"s": "x"}))
	nothing, err := seriesClient.GetTimeseriesData(wantedPoints("series", seriesKey("none", "")))
	must(err)
	between := wantedPoints("series", firstSeries())
	between.SetTimeRange(t0+1, t0+2)
	long, text := tablestore.ColumnType_INTEGER, tablestore.ColumnType_STRING
	seen := facts{
		"failed":   failed,
		"points":   readPoints(wantedPoints("series", firstSeries())),
		"bare":     readPoints(wantedPoints("series", bareSeries())),
		"nothing":  list{readPoints(wantedPoints("series", seriesKey("none", ""))), nothing.GetNextToken() != nil},
		"pages":    pagesOf(false),
		"backward": pagesOf(true),
		"between":  readPages(between),
		"chosen": chosenPoints(
			&tablestore.FieldToGet{Name: "l", Type: long}, &tablestore.FieldToGet{Name: "d", Type: text}),
		"rare": chosenPoints(&tablestore.FieldToGet{Name: "s", Type: text}),
	}
	putPoints("series",
		pointAt(firstSeries(), 1, facts{"d": 0.25}), pointAt(firstSeries(), 0, facts{"l": "text"}))
	seen["merged"] = readPoints(wantedPoints("series", firstSeries()))
	one := facts{"l": int64(1)}
	seen["bad measurement"] = putRefused("series", pointAt(seriesKey("##AA##", ""), 0, one))
	seen["no table"] = putRefused("series_none", pointAt(bareSeries(), 0, one))
	return seen
}

func metas(request *tablestore.QueryTimeseriesMetaRequest) *tablestore.QueryTimeseriesMetaResponse {
	answer, err := seriesClient.QueryTimeseriesMeta(request)
	must(err)
	return answer
}

func everyMeta(table string) *tablestore.QueryTimeseriesMetaResponse {
	return metas(tablestore.NewQueryTimeseriesMetaRequest(table))
}

func toldMetas(found *tablestore.QueryTimeseriesMetaResponse) list {
	told := list{}
	for _, meta := range found.GetTimeseriesMetas() {
		series := meta.GetTimeseriesKey()
		told = append(told, list{
			series.GetMeasurementName(), series.GetDataSource(), series.GetTags(), meta.GetAttributes(),
		})
	}
	return told
}

func stamped(found *tablestore.QueryTimeseriesMetaResponse) bool {
	for _, meta := range found.GetTimeseriesMetas() {
		if meta.GetUpdateTimeInUs() <= 0 {
			return false
		}
	}
	return true
}

// namedMetas gives measurement and source of each.
func namedMetas(found *tablestore.QueryTimeseriesMetaResponse) list {
	named := list{}
	for _, meta := range found.GetTimeseriesMetas() {
		series := meta.GetTimeseriesKey()
		named = append(named, list{series.GetMeasurementName(), series.GetDataSource()})
	}
	return named
}

func metasWhere(condition tablestore.MetaQueryCondition) list {
	request := tablestore.NewQueryTimeseriesMetaRequest("series")
	request.SetCondition(condition)
	return namedMetas(metas(request))
}

func foundMetas() facts {
	linux := tablestore.NewTagMetaQueryCondition(tablestore.OP_EQUAL, "os", "linux")
	cpu := tablestore.NewMeasurementQueryCondition(tablestore.OP_EQUAL, "cpu")
	mem := tablestore.NewMeasurementQueryCondition(tablestore.OP_EQUAL, "mem")
	later := tablestore.NewDataSourceMetaQueryCondition(tablestore.OP_GREATER_THAN, "host1")
	tomorrow := time.Now().Add(24*time.Hour).UnixNano() / 1000
	found := facts{}
	for name, condition := range map[string]tablestore.MetaQueryCondition{
		"measurement":   mem,
		"at least":      tablestore.NewMeasurementQueryCondition(tablestore.OP_GREATER_EQUAL, ""),
		"source prefix": tablestore.NewDataSourceMetaQueryCondition(tablestore.OP_PREFIX, "host"),
		"no source":     tablestore.NewDataSourceMetaQueryCondition(tablestore.OP_EQUAL, ""),
		"tag":           linux,
		"tag greater":   tablestore.NewTagMetaQueryCondition(tablestore.OP_GREATER_THAN, "region", "eu"),
		"and":           tablestore.NewCompositeMetaQueryCondition(tablestore.OP_AND, cpu, later),
		"or":            tablestore.NewCompositeMetaQueryCondition(tablestore.OP_OR, mem, linux),
		"not":           tablestore.NewCompositeMetaQueryCondition(tablestore.OP_NOT, cpu),
		"before":        tablestore.NewUpdateTimeMetaQueryCondition(tablestore.OP_LESS_THAN, tomorrow),
		"after":         tablestore.NewUpdateTimeMetaQueryCondition(tablestore.OP_GREATER_EQUAL, tomorrow),
	} {
		found[name] = metasWhere(condition)
	}
	return found
}

func ofMetas(seen facts) {
	counting := tablestore.NewQueryTimeseriesMetaRequest("series")
	counting.SetTotalHits(true)
	counting.SetLimit(1)
	counted := metas(counting)
	following := tablestore.NewQueryTimeseriesMetaRequest("series")
	following.SetLimit(5)
	following.SetNextToken(counted.GetNextToken())
	rest := metas(following)
	seen["metas"] = toldMetas(everyMeta("series"))
	seen["stamped"] = stamped(everyMeta("series"))
	seen["counted"] = list{namedMetas(counted), counted.GetTotalHits(), counted.GetNextToken() != nil}
	seen["rest"] = list{namedMetas(rest), rest.GetNextToken() != nil}
	seen["found"] = foundMetas()

	disk := seriesKey("disk", "d1", "id", "0")
	owned, new := tablestore.NewTimeseriesMeta(firstSeries()), tablestore.NewTimeseriesMeta(disk)
	owned.AddAttributes(map[string]string{"room": "1", "owner": "me"})
	new.AddAttribute("kind", "ssd")
	change := tablestore.NewUpdateTimeseriesMetaRequest("series")
	change.AddTimeseriesMetas(owned, new)
	written, err := seriesClient.UpdateTimeseriesMeta(change)
	must(err)
	seen["written"] = positions(written.GetFailedRowResults())
	seen["attributes"] = toldMetas(everyMeta("series"))
	seen["by attribute"] = metasWhere(
		tablestore.NewAttributeMetaQueryCondition(tablestore.OP_EQUAL, "kind", "ssd"))

	deletion := tablestore.NewDeleteTimeseriesMetaRequest("series")
	deletion.AddTimeseriesKeys(secondSeries(), disk)
	deleted, err := seriesClient.DeleteTimeseriesMeta(deletion)
	must(err)
	seen["deleted"] = positions(deleted.GetFailedRowResults())
	seen["left"] = namedMetas(everyMeta("series"))
	seen["kept"] = readPages(wantedPoints("series", secondSeries()))
	putPoints("series", pointAt(secondSeries(), 1, facts{"l": int64(2)}))
	seen["made again"] = namedMetas(everyMeta("series"))
}

// keyedSeries: a key of one's own, and fields that are key columns.
func keyedSeries(*tablestore.TableStoreClient) facts {
	must(createSeries("series_keyed", -1, func(meta *tablestore.TimeseriesTableMeta, _ *tablestore.CreateTimeseriesTableRequest) {
		meta.AddTimeseriesKey("_m_name")
		meta.AddTimeseriesKey("cluster")
		meta.AddFieldPrimaryKey("core", tablestore.PrimaryKeyType_INTEGER)
		meta.AddFieldPrimaryKey("label", tablestore.PrimaryKeyType_STRING)
	}))
	series := seriesKey("cpu", "", "cluster", "a")
	full := facts{"core": int64(0), "label": "a", "v": 3.0}
	putPoints("series_keyed",
		pointAt(series, 0, facts{"core": int64(1), "label": "b", "v": 1.0}),
		pointAt(series, 0, facts{"core": int64(0), "label": "z", "v": 2.0}),
		pointAt(series, 0, full))
	return facts{
		"described":    toldTable(describedTable("series_keyed").GetTimeseriesTableMeta()),
		"points":       readPoints(wantedPoints("series_keyed", series)),
		"metas":        toldMetas(everyMeta("series_keyed")),
		"no field key": putRefused("series_keyed", pointAt(series, 0, facts{"core": int64(1), "v": 1.0})),
		"other tag": putRefused(
			"series_keyed", pointAt(seriesKey("cpu", "", "cluster", "a", "more", "b"), 0, full)),
		"source": putRefused("series_keyed", pointAt(seriesKey("cpu", "host", "cluster", "a"), 0, full)),
	}
}
