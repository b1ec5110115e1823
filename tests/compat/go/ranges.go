package main

import (
	"fmt"

	"github.com/aliyun/aliyun-tablestore-go-sdk/tablestore"
)

// ranges: both directions, in pages, over one partition key value and over all.
func ranges(client *tablestore.TableStoreClient) facts {
	create(client, "ranges", 1)
	for _, pk := range []string{"a", "b"} {
		for n := int64(1); n <= 4; n++ {
			putRow(client, withColumn(putChange("ranges", key(pk, n)), "c", fmt.Sprint(pk, n)))
		}
	}
	least, most := everything()
	forward, sizes := scan(client, span("ranges", least, most, tablestore.FORWARD, 3))
	backward, _ := scan(client, span("ranges", most, least, tablestore.BACKWARD, 3))
	inner, _ := scan(client, span("ranges", key("a", 2), key("b", 2), tablestore.FORWARD, 0))
	exact, exactSizes := scan(client, span("ranges", least, most, tablestore.FORWARD, 8))
	matrix := func(columns ...string) *tablestore.RangeRowQueryCriteria {
		wanted := span("ranges", key("a", 1), key("a", 3), tablestore.FORWARD, 0)
		wanted.DataBlockType = tablestore.SimpleRowMatrix
		wanted.ColumnsToGet = columns
		return wanted
	}
	isMatrix := func(columns ...string) bool {
		got, err := client.GetRange(
			&tablestore.GetRangeRequest{RangeRowQueryCriteria: matrix(columns...)})
		must(err)
		return got.DataBlockType == tablestore.SimpleRowMatrix
	}
	named, _ := scan(client, matrix("c", "none"))
	all, _ := scan(client, matrix())
	_, empty := client.GetRange(&tablestore.GetRangeRequest{
		RangeRowQueryCriteria: span("ranges", key("b", 1), key("a", 1), tablestore.FORWARD, 0),
	})
	return facts{
		"forward":     forward,
		"page sizes":  sizes,
		"backward":    backward,
		"inner":       inner,
		"exact limit": list{len(exact), exactSizes},
		"matrix":      list{isMatrix("c", "none"), named},
		"no matrix":   list{isMatrix(), all},
		"wrong way":   refusal(empty),
	}
}

// splitPoints: the SDK puts bounds and locations together and fails if their numbers differ.
func splitPoints(client *tablestore.TableStoreClient) facts {
	create(client, "sized", 1)
	for n := int64(0); n < 40; n++ {
		pk := fmt.Sprintf("k%02d", n)
		putRow(client, withColumn(putChange("sized", key(pk, n)), "c", make([]byte, 100000)))
	}
	unit, limit := int64(1048576), int32(1)
	found, err := client.ComputeSplitPointsBySize(&tablestore.ComputeSplitPointsBySizeRequest{
		TableName: "sized", SplitSize: 1, SplitSizeUnitInByte: &unit})
	must(err)
	halves, err := client.ComputeSplitPointsBySize(&tablestore.ComputeSplitPointsBySizeRequest{
		TableName: "sized", SplitSize: 1, SplitSizeUnitInByte: &unit, SplitPointLimit: &limit})
	must(err)
	_, none := client.ComputeSplitPointsBySize(
		&tablestore.ComputeSplitPointsBySizeRequest{TableName: "sized"})
	_, missing := client.ComputeSplitPointsBySize(
		&tablestore.ComputeSplitPointsBySizeRequest{TableName: "nothing", SplitSize: 1})
	bounds, places := list{}, map[string]bool{}
	for _, split := range found.Splits {
		bounds = append(bounds, split.LowerBound.PrimaryKeys[0].Value)
		places[split.Location] = true
	}
	return facts{
		"columns": len(found.Splits[1].LowerBound.PrimaryKeys),
		"bounds":  bounds[1:],
		"places":  len(places),
		"halves":  len(halves.Splits),
		"none":    refusal(none),
		"missing": refusal(missing),
	}
}

// longRange: more rows than one answer carries, so that the second begins where the first ended.
func longRange(client *tablestore.TableStoreClient) facts {
	create(client, "long", 1)
	for batch := int64(0); batch < 26; batch++ {
		request := &tablestore.BatchWriteRowRequest{}
		for n := batch * 200; n < (batch+1)*200; n++ {
			request.AddRowChange(withColumn(putChange("long", key("a", n)), "c", n))
		}
		_, err := client.BatchWriteRow(request)
		must(err)
	}
	least, most := everything()
	rows, sizes := scan(client, span("long", least, most, tablestore.FORWARD, 0))
	return facts{"rows": len(rows), "first": rows[0], "last": rows[len(rows)-1], "sizes": sizes}
}

// filters: one column, several, a page of columns, an expression over a text.
func filters(client *tablestore.TableStoreClient) facts {
	create(client, "filters", 1)
	for n := int64(1); n <= 5; n++ {
		change := putChange("filters", key("a", n))
		change.AddColumn("price", n*10)
		change.AddColumn("tag", fmt.Sprintf("t1:%d,t2:x", n))
		if n%2 == 0 {
			change.AddColumn("even", true)
		}
		putRow(client, change)
	}
	kept := func(filter tablestore.ColumnFilter) list {
		least, most := everything()
		wanted := span("filters", least, most, tablestore.FORWARD, 0)
		wanted.Filter = filter
		rows, _ := scan(client, wanted)
		numbers := list{}
		for _, row := range rows {
			numbers = append(numbers, row.(list)[0].(list)[1].(list)[1])
		}
		return numbers
	}
	compare := func(
		name string, comparator tablestore.ComparatorType, value any,
	) *tablestore.SingleColumnCondition {
		return tablestore.NewSingleColumnCondition(name, comparator, value)
	}
	combine := func(
		operator tablestore.LogicalOperator, parts ...tablestore.ColumnFilter,
	) tablestore.ColumnFilter {
		combined := tablestore.NewCompositeColumnCondition(operator)
		for _, part := range parts {
			combined.AddFilter(part)
		}
		return combined
	}
	present := compare("even", tablestore.CT_EQUAL, true)
	present.FilterIfMissing = true
	above := compare("price", tablestore.CT_GREATER_THAN, int64(20))
	expression := tablestore.NewSingleColumnValueRegexFilter(
		"tag", tablestore.CT_GREATER_EQUAL,
		tablestore.NewValueTransferRule("t1:([0-9]+),", tablestore.Variant_INTEGER), int64(4))
	page := criteria("filters", key("a", 2))
	page.SetFilter(&tablestore.PaginationFilter{Offset: 1, Limit: 1})
	rejected := criteria("filters", key("a", 1))
	rejected.SetFilter(above)
	return facts{
		"above":           kept(above),
		"missing passes":  kept(compare("even", tablestore.CT_EQUAL, true)),
		"missing filters": kept(present),
		"and":             kept(combine(tablestore.LO_AND, above, present)),
		"not":             kept(combine(tablestore.LO_NOT, above)),
		"or of not": kept(combine(
			tablestore.LO_OR, combine(tablestore.LO_NOT, above),
			compare("price", tablestore.CT_EQUAL, int64(50)))),
		"expression": kept(expression),
		"page":       plainCells(get(client, page).Columns),
		"rejected":   plainCells(get(client, rejected).Columns),
	}
}

// --- requests --------------------------------------------------------------------------------

// everything is the bounds of a whole table.
func everything() (least, most *tablestore.PrimaryKey) {
	least, most = &tablestore.PrimaryKey{}, &tablestore.PrimaryKey{}
	for _, name := range []string{"pk", "n"} {
		least.AddPrimaryKeyColumnWithMinValue(name)
		most.AddPrimaryKeyColumnWithMaxValue(name)
	}
	return least, most
}

func span(
	table string, start, end *tablestore.PrimaryKey, direction tablestore.Direction, limit int32,
) *tablestore.RangeRowQueryCriteria {
	return &tablestore.RangeRowQueryCriteria{
		TableName: table, StartPrimaryKey: start, EndPrimaryKey: end,
		Direction: direction, MaxVersion: 1, Limit: limit,
	}
}

// scan reads page after page, and tells the rows and how many each page had.
func scan(
	client *tablestore.TableStoreClient, wanted *tablestore.RangeRowQueryCriteria,
) (rows, sizes list) {
	rows = list{}
	for wanted.StartPrimaryKey != nil {
		got, err := client.GetRange(&tablestore.GetRangeRequest{RangeRowQueryCriteria: wanted})
		must(err)
		for _, row := range got.Rows {
			rows = append(rows, list{printedKey(*row.PrimaryKey), plainCells(row.Columns)})
		}
		sizes = append(sizes, len(got.Rows))
		wanted.StartPrimaryKey = got.NextStartPrimaryKey
	}
	return rows, sizes
}
