package main

import (
	"fmt"
	"math"
	"time"

	"github.com/aliyun/aliyun-tablestore-go-sdk/tablestore"
	"github.com/aliyun/aliyun-tablestore-go-sdk/tablestore/search"
	"github.com/aliyun/aliyun-tablestore-go-sdk/tablestore/search/model"
	"github.com/golang/protobuf/proto"
)

const searched = "searched"

func field(name string, kind tablestore.FieldType) *tablestore.FieldSchema {
	return &tablestore.FieldSchema{FieldName: proto.String(name), FieldType: kind}
}

func searchSchema() *tablestore.IndexSchema {
	text := field("t", tablestore.FieldType_TEXT)
	text.EnableHighlighting = proto.Bool(true)
	date := field("date", tablestore.FieldType_DATE)
	date.DateFormats = []string{"yyyy-MM-dd", "epoch_millis"}
	many := field("la", tablestore.FieldType_LONG)
	many.IsArray = proto.Bool(true)
	vector := field("v", tablestore.FieldType_VECTOR)
	vector.VectorOptions = &tablestore.VectorOptions{
		VectorDataType:   tablestore.VectorDataType_FLOAT_32.Enum(),
		VectorMetricType: tablestore.VectorMetricType_EUCLIDEAN.Enum(),
		Dimension:        proto.Int32(2),
	}
	return &tablestore.IndexSchema{FieldSchemas: []*tablestore.FieldSchema{
		field("l", tablestore.FieldType_LONG), field("d", tablestore.FieldType_DOUBLE),
		field("k", tablestore.FieldType_KEYWORD), field("b", tablestore.FieldType_BOOLEAN),
		field("g", tablestore.FieldType_GEO_POINT), text, date, many, vector,
	}}
}

func nestedSchema() *tablestore.IndexSchema {
	inner := field("t", tablestore.FieldType_TEXT)
	inner.EnableHighlighting = proto.Bool(true)
	deep := field("m", tablestore.FieldType_NESTED)
	deep.FieldSchemas = []*tablestore.FieldSchema{inner}
	outer := field("o", tablestore.FieldType_NESTED)
	outer.FieldSchemas = []*tablestore.FieldSchema{inner, field("l", tablestore.FieldType_LONG), deep}
	return &tablestore.IndexSchema{FieldSchemas: []*tablestore.FieldSchema{outer}}
}

func createSearchIndex(client *tablestore.TableStoreClient, request tablestore.CreateSearchIndexRequest) {
	request.TableName = searched
	_, err := client.CreateSearchIndex(&request)
	must(err)
}

// searches: an index from its creation to its end, with every kind of query, aggregation and group.
func searches(client *tablestore.TableStoreClient) facts {
	meta := &tablestore.TableMeta{TableName: searched}
	meta.AddPrimaryKeyColumn("pk", tablestore.PrimaryKeyType_STRING)
	meta.AddPrimaryKeyColumn("n", tablestore.PrimaryKeyType_INTEGER)
	option := tablestore.NewTableOptionWithMaxVersion(1)
	option.AllowUpdate = proto.Bool(false)
	_, err := client.CreateTable(&tablestore.CreateTableRequest{
		TableMeta: meta, TableOption: option, ReservedThroughput: &tablestore.ReservedThroughput{},
	})
	must(err)
	createSearchIndex(client, tablestore.CreateSearchIndexRequest{
		IndexName: "x", IndexSchema: searchSchema(), TimeToLive: proto.Int32(864000),
	})
	createSearchIndex(client, tablestore.CreateSearchIndexRequest{
		IndexName: "nested", IndexSchema: nestedSchema(),
	})
	for n := int64(1); n <= 10; n++ {
		change := putChange(searched, key("a", n))
		change.AddColumn("l", n)
		change.AddColumn("d", float64(n)-0.9)
		change.AddColumn("k", []string{"even", "odd"}[n%2])
		change.AddColumn("b", n <= 4)
		change.AddColumn("g", fmt.Sprintf("30.%02d,120.0", n))
		change.AddColumn("t", fmt.Sprintf("<em>street</em> %d", n))
		change.AddColumn("date", fmt.Sprintf("2024-01-%02d", n))
		change.AddColumn("la", fmt.Sprintf("[-1,%d]", n))
		change.AddColumn("v", fmt.Sprintf("[%d,0]", n))
		change.AddColumn("o", fmt.Sprintf(
			`[{"t":"main street","l":%d,"m":[{"t":"dengcai street %d"}]},{"t":"lane","l":0}]`, n, n,
		))
		putRow(client, change)
	}
	awaitSearchIndex(client, "x")
	awaitSearchIndex(client, "nested")
	return facts{
		"described": describedSearchIndex(client, "x"),
		"listed":    listedSearchIndexes(client),
		"queries":   queries(client),
		"orders":    searchOrders(client),
		"metrics":   metrics(client),
		"groups":    groups(client),
		"nested":    nestedHits(client),
		"scanned":   scanned(client),
		"refused":   searchRefusals(client),
		"changed":   changedSearchIndexes(client),
	}
}

// awaitSearchIndex waits until an index is built.
func awaitSearchIndex(client *tablestore.TableStoreClient, name string) {
	for deadline := time.Now().Add(buildPatience); describedSearchIndex(client, name)["phase"] != "INCR"; {
		if time.Now().After(deadline) {
			panic("the index is not built")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func describedSearchIndex(client *tablestore.TableStoreClient, name string) facts {
	found, err := client.DescribeSearchIndex(
		&tablestore.DescribeSearchIndexRequest{TableName: searched, IndexName: name},
	)
	must(err)
	fields := list{}
	for _, each := range found.Schema.FieldSchemas {
		fields = append(fields, list{*each.FieldName, int(each.FieldType), each.DateFormats})
	}
	sorters := 0
	if found.Schema.IndexSort != nil {
		sorters = len(found.Schema.IndexSort.Sorters)
	}
	weights := list{}
	for _, each := range found.QueryFlowWeights {
		weights = append(weights, list{each.IndexName, each.Weight})
	}
	return facts{
		"fields": fields, "sorters": sorters, "ttl": found.TimeToLive,
		"phase": found.SyncStat.SyncPhase.String(), "rows": found.MeteringInfo.RowCount,
		"routing": found.Schema.IndexSetting.RoutingFields, "weights": weights,
	}
}

func listedSearchIndexes(client *tablestore.TableStoreClient) list {
	found, err := client.ListSearchIndex(&tablestore.ListSearchIndexRequest{TableName: searched})
	must(err)
	names := list{}
	for _, each := range found.IndexInfo {
		names = append(names, list{each.TableName, each.IndexName})
	}
	return names
}

func ask(
	client *tablestore.TableStoreClient, index string, query search.SearchQuery,
) *tablestore.SearchResponse {
	request := &tablestore.SearchRequest{}
	request.SetTableName(searched).SetIndexName(index).SetSearchQuery(query)
	found, err := client.Search(request)
	must(err)
	if !found.IsAllSuccess || found.ConsumedCapacityUnit == nil || len(found.SearchHits) != len(found.Rows) {
		panic("an answer without what every one has")
	}
	return found
}

func numbersOf(rows []*tablestore.Row) list {
	numbers := list{}
	for _, row := range rows {
		numbers = append(numbers, row.PrimaryKey.PrimaryKeys[1].Value)
	}
	return numbers
}

func queries(client *tablestore.TableStoreClient) facts {
	seen := facts{}
	for name, query := range map[string]search.Query{
		"all":      &search.MatchAllQuery{},
		"match":    &search.MatchQuery{FieldName: "t", Text: "street 3"},
		"phrase":   &search.MatchPhraseQuery{FieldName: "t", Text: "street em 3"},
		"term":     &search.TermQuery{FieldName: "l", Term: int64(3)},
		"terms":    &search.TermsQuery{FieldName: "k", Terms: []interface{}{"odd", "none"}},
		"range":    &search.RangeQuery{FieldName: "d", From: 1.0, To: 4.1, IncludeLower: true, IncludeUpper: true},
		"prefix":   &search.PrefixQuery{FieldName: "k", Prefix: "ev"},
		"wildcard": &search.WildcardQuery{FieldName: "k", Value: "*d?"},
		"exists":   &search.ExistsQuery{FieldName: "v"},
		"bool": &search.BoolQuery{
			MustQueries:    []search.Query{&search.TermQuery{FieldName: "k", Term: "odd"}},
			MustNotQueries: []search.Query{&search.TermQuery{FieldName: "b", Term: true}},
		},
		"const": &search.ConstScoreQuery{Filter: &search.TermQuery{FieldName: "la", Term: int64(7)}},
		"function": &search.FunctionScoreQuery{
			Query:            &search.MatchAllQuery{},
			FieldValueFactor: &search.FieldValueFactor{FieldName: "l"},
		},
		"box":      &search.GeoBoundingBoxQuery{FieldName: "g", TopLeft: "30.045,119", BottomRight: "30.0,121"},
		"distance": &search.GeoDistanceQuery{FieldName: "g", CenterPoint: "30.01,120", DistanceInMeter: 2500},
		"polygon":  &search.GeoPolygonQuery{FieldName: "g", Points: []string{"29,119", "29,121", "30.055,121", "30.055,119"}},
		"date":     &search.RangeQuery{FieldName: "date", From: "2024-01-09"},
		"nearest": &search.KnnVectorQuery{
			FieldName: "v", TopK: proto.Int32(2), Float32QueryVector: []float32{3, 0},
		},
	} {
		asked := search.NewSearchQuery().SetQuery(query).SetGetTotalCount(true).SetLimit(20)
		if name == "nearest" {
			asked.SetLimit(2)
		}
		found := ask(client, "x", asked)
		seen[name] = list{found.TotalCount, numbersOf(found.Rows)}
	}
	return seen
}

func searchOrders(client *tablestore.TableStoreClient) facts {
	tied := func(disable bool) list {
		all := list{}
		sort := &search.Sort{
			Sorters:                []search.Sorter{search.NewFieldSort("k", search.SortOrder_ASC)},
			DisableDefaultPkSorter: proto.Bool(disable),
		}
		query := search.NewSearchQuery().SetQuery(&search.TermQuery{FieldName: "k", Term: "odd"})
		query.SetSort(sort).SetLimit(3)
		for {
			found := ask(client, "x", query)
			all = append(all, numbersOf(found.Rows)...)
			if len(found.NextToken) == 0 {
				return all
			}
			query.SetSort(nil).SetToken(found.NextToken)
		}
	}
	gauss := search.NewDecayFunction()
	gauss.SetFieldName("d").SetMathFunction(search.GAUSS)
	gauss.SetDecayParam(search.NewDecayFuncNumericParam().SetOrigin(2.1).SetScale(1).SetOffset(0))
	scored := search.NewFunctionsScoreQuery().SetQuery(&search.MatchAllQuery{})
	scored.AddFunction(search.NewScoreFunction().SetDecayFunction(gauss).SetWeight(2))
	scored.SetScoreMode(search.SM_MAX).SetCombineMode(search.CM_MAX)
	first := search.NewSearchQuery().SetQuery(scored).SetLimit(1)
	first.SetSort(&search.Sort{Sorters: []search.Sorter{search.NewScoreSort()}})
	best := ask(client, "x", first)
	marked := search.NewHighlight().SetHighlightEncoder(search.HtmlMode)
	marked.AddFieldHighlightParameter("t", search.NewHighlightParameter().SetPreTag("<b>").SetPostTag("</b>"))
	shown := search.NewSearchQuery().SetQuery(&search.MatchQuery{FieldName: "t", Text: "street"})
	shown.SetHighlight(marked).SetLimit(1)
	hit := ask(client, "x", shown).SearchHits[0]
	unscored := search.NewSearchQuery().SetQuery(&search.MatchAllQuery{}).SetLimit(1)
	unscored.SetSort(&search.Sort{Sorters: []search.Sorter{search.NewPrimaryKeySort()}})
	grouped := search.NewSearchQuery().SetQuery(&search.MatchAllQuery{}).SetCollapse(&search.Collapse{FieldName: "k"})
	return facts{
		"tied":        len(tied(true)),
		"whole":       tied(false),
		"best":        list{numbersOf(best.Rows), *best.SearchHits[0].Score},
		"unscored":    math.IsNaN(*ask(client, "x", unscored).SearchHits[0].Score),
		"highlighted": hit.HighlightResultItem.HighlightFields["t"].Fragments,
		"collapsed":   numbersOf(ask(client, "x", grouped).Rows),
		"total":       ask(client, "x", search.NewSearchQuery().SetLimit(0)).TotalCount,
	}
}

func metrics(client *tablestore.TableStoreClient) facts {
	query := search.NewSearchQuery().SetQuery(&search.MatchAllQuery{}).SetLimit(0)
	none := search.NewSearchQuery().SetQuery(&search.TermQuery{FieldName: "l", Term: int64(99)}).SetLimit(0)
	all := []search.Aggregation{
		search.NewAvgAggregation("avg", "d"), search.NewSumAggregation("sum", "d"),
		search.NewMaxAggregation("max", "l"), search.NewMinAggregation("min", "l"),
		search.NewCountAggregation("count", "la"), search.NewDistinctCountAggregation("distinct", "k"),
	}
	found := ask(client, "x", query.Aggregation(append(all,
		search.NewPercentilesAggregation("percentiles", "l").SetPercents([]float64{50}),
		search.NewTopRowsAggregation("top").SetLimit(2),
	)...)).AggregationResults
	empty := ask(client, "x", none.Aggregation(all...)).AggregationResults
	percentiles, err := found.Percentiles("percentiles")
	must(err)
	top, err := found.TopRows("top")
	must(err)
	return facts{
		"values":      numbersOfMetrics(found),
		"empty":       infinities(empty),
		"percentiles": list{percentiles.PercentilesAggregationItems[0].Key, percentiles.PercentilesAggregationItems[0].Value.Value},
		"top":         len(top.Value),
	}
}

func numbersOfMetrics(found search.AggregationResults) list {
	avg, err := found.Avg("avg")
	must(err)
	sum, err := found.Sum("sum")
	must(err)
	greatest, err := found.Max("max")
	must(err)
	least, err := found.Min("min")
	must(err)
	count, err := found.Count("count")
	must(err)
	distinct, err := found.DistinctCount("distinct")
	must(err)
	return list{avg.Value, sum.Value, greatest.Value, least.Value, count.Value, distinct.Value}
}

func infinities(found search.AggregationResults) list {
	avg, err := found.Avg("avg")
	must(err)
	greatest, err := found.Max("max")
	must(err)
	least, err := found.Min("min")
	must(err)
	sum, err := found.Sum("sum")
	must(err)
	return list{avg.HasValue(), greatest.HasValue(), least.HasValue(), sum.Value}
}

func groups(client *tablestore.TableStoreClient) facts {
	one := proto.Int32(1)
	day := model.DateTimeUnit_DAY
	by := search.NewSearchQuery().SetQuery(&search.MatchAllQuery{}).SetLimit(0).GroupBy(
		search.NewGroupByField("field", "k").GroupBySorters([]search.GroupBySorter{
			&search.SubAggGroupBySort{Order: search.SortOrder_ASC.Enum(), SubAggName: "least"},
		}).SubAggregation(search.NewMinAggregation("least", "l")).SubGroupBy(
			search.NewGroupByRange("below", "l").Range(1, 4),
		),
		search.NewGroupByRange("range", "l").Range(3, 4).Range(math.Inf(-1), 3).Range(4, math.Inf(1)),
		search.NewGroupByFilter("filter").Query(&search.TermQuery{FieldName: "b", Term: true}).Query(
			&search.TermQuery{FieldName: "l", Term: int64(99)},
		),
		search.NewGroupByGeoDistance("distance", "g", search.GeoPoint{Lat: 30.01, Lon: 120}).
			Range(100, 5000).Range(math.Inf(-1), 100).Range(5000, math.Inf(1)),
		search.NewGroupByHistogram("histogram", "l").SetInterval(int64(5)).SetFiledRange(int64(0), int64(20)),
		search.NewGroupByDateHistogram("date", "date").SetInterval(model.DateTimeValue{Value: one, Unit: &day}),
		search.NewGroupByGeoGrid("grid", "g").SetPrecision(model.GHP_156KM_156KM_3),
		search.NewGroupByComposite("composite").SourceGroupBy(search.NewGroupByField("s1", "k")).
			SourceGroupBy(search.NewGroupByField("s2", "b")).SetSize(10),
	)
	found := ask(client, "x", by).GroupByResults
	seen := facts{}
	fields, err := found.GroupByField("field")
	must(err)
	seen["field"] = list{}
	for _, item := range fields.Items {
		below, err := item.SubGroupBys.GroupByRange("below")
		must(err)
		seen["field"] = append(seen["field"].(list), list{item.Key, item.RowCount, below.Items[0].RowCount})
	}
	ranges, err := found.GroupByRange("range")
	must(err)
	seen["range"] = list{}
	for _, item := range ranges.Items {
		seen["range"] = append(seen["range"].(list), list{fmt.Sprint(item.From), fmt.Sprint(item.To), item.RowCount})
	}
	filters, err := found.GroupByFilter("filter")
	must(err)
	seen["filter"] = list{filters.Items[0].RowCount, filters.Items[1].RowCount}
	distances, err := found.GroupByGeoDistance("distance")
	must(err)
	seen["distance"] = list{}
	for _, item := range distances.Items {
		seen["distance"] = append(seen["distance"].(list), list{fmt.Sprint(item.From), fmt.Sprint(item.To), item.RowCount})
	}
	histogram, err := found.GroupByHistogram("histogram")
	must(err)
	seen["histogram"] = list{}
	for _, item := range histogram.Items {
		seen["histogram"] = append(seen["histogram"].(list), list{item.Key.Value, item.Value})
	}
	dates, err := found.GroupByDateHistogram("date")
	must(err)
	seen["date"] = list{len(dates.Items), dates.Items[0].Timestamp, dates.Items[0].RowCount}
	grid, err := found.GroupByGeoGrid("grid")
	must(err)
	seen["grid"] = list{grid.Items[0].Key, grid.Items[0].RowCount, grid.Items[0].GeoGrid.TopLeft.Lat}
	composite, err := found.GroupByComposite("composite")
	must(err)
	seen["composite"] = list{composite.SourceGroupByNames, len(composite.Items), composite.NextToken == nil}
	return seen
}

// nestedHits: documents below a row, two levels of them, with their marks.
func nestedHits(client *tablestore.TableStoreClient) facts {
	marks := func(field, tag string) *search.Highlight {
		parameter := search.NewHighlightParameter().SetPreTag("<" + tag + ">").SetPostTag("</" + tag + ">")
		return search.NewHighlight().AddFieldHighlightParameter(field, parameter)
	}
	query := &search.NestedQuery{
		Path: "o",
		Query: &search.NestedQuery{
			Path:      "o.m",
			Query:     &search.MatchQuery{FieldName: "o.m.t", Text: "dengcai"},
			ScoreMode: search.ScoreMode_Avg,
			InnerHits: &search.InnerHits{Highlight: marks("o.m.t", "b")},
		},
		ScoreMode: search.ScoreMode_Avg,
		InnerHits: &search.InnerHits{},
	}
	found := ask(client, "nested", search.NewSearchQuery().SetQuery(query).SetLimit(1))
	outer := found.SearchHits[0].SearchInnerHits["o"]
	inner := outer.SearchHits[0].SearchInnerHits["o.m"]
	total := search.NewSearchQuery().SetQuery(&search.NestedQuery{
		Path: "o", Query: &search.RangeQuery{FieldName: "o.l", From: int64(8)},
	}).SetGetTotalCount(true)
	return facts{
		"path":   outer.Path,
		"offset": *outer.SearchHits[0].NestedDocOffset,
		"marked": inner.SearchHits[0].HighlightResultItem.HighlightFields["o.m.t"].Fragments,
		"total":  ask(client, "nested", total).TotalCount,
		"token":  len(ask(client, "nested", total).NextToken),
	}
}

func scanned(client *tablestore.TableStoreClient) facts {
	splits := &tablestore.ComputeSplitsRequest{}
	splits.SetTableName(searched)
	splits.SetSearchIndexSplitsOptions(tablestore.SearchIndexSplitsOptions{IndexName: "x"})
	computed, err := client.ComputeSplits(splits)
	must(err)
	pages, keys, token := list{}, list{}, []byte(nil)
	for {
		query := search.NewScanQuery().SetQuery(&search.MatchAllQuery{}).SetLimit(7).SetToken(token)
		request := &tablestore.ParallelScanRequest{}
		request.SetTableName(searched).SetIndexName("x").SetScanQuery(query).SetSessionId(computed.SessionId)
		request.SetColumnsToGet(&tablestore.ColumnsToGet{Columns: []string{"l"}})
		found, err := client.ParallelScan(request)
		must(err)
		pages = append(pages, len(found.Rows))
		keys = append(keys, numbersOf(found.Rows)...)
		token = found.NextToken
		if len(token) == 0 {
			return facts{"splits": computed.SplitsSize, "pages": pages, "keys": len(keys)}
		}
	}
}

func searchRefusals(client *tablestore.TableStoreClient) facts {
	refused := func(index string, query search.SearchQuery) any {
		request := &tablestore.SearchRequest{}
		_, err := client.Search(request.SetTableName(searched).SetIndexName(index).SetSearchQuery(query))
		return refusal(err)
	}
	_, missing := client.ComputeSplits((&tablestore.ComputeSplitsRequest{}).SetTableName(searched))
	unknown := search.NewSearchQuery().SetQuery(&search.TermQuery{FieldName: "unknown", Term: "x"})
	twice := search.NewSearchQuery().Aggregation(
		search.NewMaxAggregation("a", "l"), search.NewMaxAggregation("a", "l"),
	)
	return facts{
		"no index":   refused("none", search.NewSearchQuery()),
		"no field":   refused("x", unknown),
		"no options": refusal(missing),
		"boolean":    refused("x", search.NewSearchQuery().Aggregation(search.NewSumAggregation("a", "b"))),
		"twice":      refused("x", twice),
	}
}

// changedSearchIndexes: expiry, an index that replaces another one, weights, and the end.
func changedSearchIndexes(client *tablestore.TableStoreClient) facts {
	update := func(request tablestore.UpdateSearchIndexRequest) {
		request.TableName, request.IndexName = searched, "x"
		_, err := client.UpdateSearchIndex(&request)
		must(err)
	}
	update(tablestore.UpdateSearchIndexRequest{TimeToLive: proto.Int32(604800)})
	seen := facts{"ttl": describedSearchIndex(client, "x")["ttl"]}
	schema := &tablestore.IndexSchema{FieldSchemas: []*tablestore.FieldSchema{field("l", tablestore.FieldType_LONG)}}
	createSearchIndex(client, tablestore.CreateSearchIndexRequest{
		IndexName: "x_reindex", IndexSchema: schema, SourceIndexName: proto.String("x"),
	})
	update(tablestore.UpdateSearchIndexRequest{QueryFlowWeights: []*tablestore.QueryFlowWeight{
		{IndexName: "x", Weight: 0}, {IndexName: "x_reindex", Weight: 100},
	}})
	seen["weights"] = describedSearchIndex(client, "x")["weights"]
	update(tablestore.UpdateSearchIndexRequest{SwitchIndexName: proto.String("x_reindex")})
	seen["switched"] = list{
		len(describedSearchIndex(client, "x")["fields"].(list)),
		len(describedSearchIndex(client, "x_reindex")["fields"].(list)),
	}
	for _, name := range []string{"x", "x_reindex", "nested"} {
		_, err := client.DeleteSearchIndex(&tablestore.DeleteSearchIndexRequest{TableName: searched, IndexName: name})
		must(err)
	}
	seen["left"] = listedSearchIndexes(client)
	_, err := client.DeleteTable(&tablestore.DeleteTableRequest{TableName: searched})
	must(err)
	return seen
}
