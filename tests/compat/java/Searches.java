import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.model.ColumnValue;
import com.alicloud.openservices.tablestore.model.ComputeSplitsRequest;
import com.alicloud.openservices.tablestore.model.ComputeSplitsResponse;
import com.alicloud.openservices.tablestore.model.CreateTableRequest;
import com.alicloud.openservices.tablestore.model.DeleteTableRequest;
import com.alicloud.openservices.tablestore.model.PrimaryKeyType;
import com.alicloud.openservices.tablestore.model.PutRowRequest;
import com.alicloud.openservices.tablestore.model.Row;
import com.alicloud.openservices.tablestore.model.RowPutChange;
import com.alicloud.openservices.tablestore.model.SearchIndexSplitsOptions;
import com.alicloud.openservices.tablestore.model.TableMeta;
import com.alicloud.openservices.tablestore.model.TableOptions;
import com.alicloud.openservices.tablestore.model.search.CreateSearchIndexRequest;
import com.alicloud.openservices.tablestore.model.search.DeleteSearchIndexRequest;
import com.alicloud.openservices.tablestore.model.search.DescribeSearchIndexRequest;
import com.alicloud.openservices.tablestore.model.search.DescribeSearchIndexResponse;
import com.alicloud.openservices.tablestore.model.search.FieldSchema;
import com.alicloud.openservices.tablestore.model.search.FieldType;
import com.alicloud.openservices.tablestore.model.search.IndexSchema;
import com.alicloud.openservices.tablestore.model.search.ListSearchIndexRequest;
import com.alicloud.openservices.tablestore.model.search.ParallelScanRequest;
import com.alicloud.openservices.tablestore.model.search.ParallelScanResponse;
import com.alicloud.openservices.tablestore.model.search.ScanQuery;
import com.alicloud.openservices.tablestore.model.search.SearchIndexInfo;
import com.alicloud.openservices.tablestore.model.search.SearchQuery;
import com.alicloud.openservices.tablestore.model.search.SearchRequest;
import com.alicloud.openservices.tablestore.model.search.SearchResponse;
import com.alicloud.openservices.tablestore.model.search.UpdateSearchIndexRequest;
import com.alicloud.openservices.tablestore.model.search.agg.AggregationBuilders;
import com.alicloud.openservices.tablestore.model.search.agg.AggregationResults;
import com.alicloud.openservices.tablestore.model.search.groupby.GroupByBuilders;
import com.alicloud.openservices.tablestore.model.search.groupby.GroupByFieldResultItem;
import com.alicloud.openservices.tablestore.model.search.groupby.GroupByRangeResultItem;
import com.alicloud.openservices.tablestore.model.search.query.QueryBuilder;
import com.alicloud.openservices.tablestore.model.search.query.QueryBuilders;
import com.alicloud.openservices.tablestore.model.search.query.ScoreFunction;
import com.alicloud.openservices.tablestore.model.search.query.ScoreMode;
import com.alicloud.openservices.tablestore.model.search.sort.FieldSort;
import com.alicloud.openservices.tablestore.model.search.sort.Sort;
import com.alicloud.openservices.tablestore.model.search.sort.SortOrder;
import com.alicloud.openservices.tablestore.model.search.vector.VectorDataType;
import com.alicloud.openservices.tablestore.model.search.vector.VectorMetricType;
import com.alicloud.openservices.tablestore.model.search.vector.VectorOptions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Search indexes. */
final class Searches {
    private static final String TABLE = "searched";
    private static final String INDEX = "x";
    private static final int ROWS = 10;
    private static final int PATIENCE_S = 200;

    private Searches() {}

    /** From the creation of an index to its end, with every type of query. */
    static Map<String, Object> searches(SyncClient client) throws Exception {
        create(client);
        Map<String, Object> seen = Printing.facts("described", described(client));
        seen.put("queries", queries(client));
        seen.put("orders", orders(client));
        seen.put("breakdown", breakdown(client));
        seen.put("scanned", scanned(client));
        UpdateSearchIndexRequest update = new UpdateSearchIndexRequest(TABLE, INDEX);
        update.setTimeToLive(8_000_000, TimeUnit.SECONDS);
        client.updateSearchIndex(update);
        seen.put("changed", described(client).get("ttl"));
        remove(client);
        seen.put("left", listed(client));
        client.deleteTable(new DeleteTableRequest(TABLE));
        return seen;
    }

    private static void create(SyncClient client) throws Exception {
        TableMeta meta = new TableMeta(TABLE);
        meta.addPrimaryKeyColumn("pk", PrimaryKeyType.STRING);
        meta.addPrimaryKeyColumn("n", PrimaryKeyType.INTEGER);
        TableOptions options = new TableOptions(-1, 1);
        options.setAllowUpdate(false);
        client.createTable(new CreateTableRequest(meta, options));
        IndexSchema schema = new IndexSchema();
        FieldSchema nested = new FieldSchema("o", FieldType.NESTED);
        nested.setSubFieldSchemas(List.of(new FieldSchema("l", FieldType.LONG).setIndex(true)));
        schema.setFieldSchemas(
                List.of(
                        new FieldSchema("l", FieldType.LONG).setIndex(true),
                        new FieldSchema("k", FieldType.KEYWORD).setIndex(true),
                        new FieldSchema("f", FieldType.FUZZY_KEYWORD).setIndex(true),
                        new FieldSchema("t", FieldType.TEXT).setIndex(true),
                        new FieldSchema("ip", FieldType.IP).setIndex(true),
                        new FieldSchema("g", FieldType.GEO_POINT).setIndex(true),
                        new FieldSchema("date", FieldType.DATE)
                                .setDateFormats(List.of("yyyy-MM-dd HH:mm:ss")),
                        new FieldSchema("v", FieldType.VECTOR)
                                .setVectorOptions(
                                        new VectorOptions(
                                                VectorDataType.FLOAT_32,
                                                2,
                                                VectorMetricType.EUCLIDEAN)),
                        nested));
        CreateSearchIndexRequest request = new CreateSearchIndexRequest(TABLE, INDEX);
        request.setIndexSchema(schema);
        request.setTimeToLive(900_000, TimeUnit.SECONDS);
        client.createSearchIndex(request);
        for (int n = 1; n <= ROWS; n++) {
            RowPutChange change = new RowPutChange(TABLE, Rows.key("a", n));
            change.addColumn("l", ColumnValue.fromLong(n));
            text(change, "k", n % 2 == 0 ? "even" : "odd");
            text(change, "f", "file" + n + (n % 2 == 0 ? ".txt" : ".png"));
            text(change, "t", "street " + n);
            text(change, "ip", "192.168." + n % 2 + "." + n);
            text(change, "g", n + ",0");
            text(change, "date", String.format("2017-05-%02d 00:00:00", n));
            text(change, "v", "[" + n + ",0]");
            text(change, "o", "[{\"l\":" + n + "},{\"l\":0}]");
            client.putRow(new PutRowRequest(change));
        }
        awaitBuild(client);
    }

    /** A build over a shared store begins when all servers know of the index. */
    private static void awaitBuild(SyncClient client) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
        while (!"INCR".equals(described(client).get("phase"))) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("the index is not built");
            }
            Thread.sleep(50);
        }
    }

    private static void text(RowPutChange change, String name, String value) {
        change.addColumn(name, ColumnValue.fromString(value));
    }

    private static Map<String, Object> described(SyncClient client) {
        DescribeSearchIndexRequest request = new DescribeSearchIndexRequest();
        request.setTableName(TABLE);
        request.setIndexName(INDEX);
        DescribeSearchIndexResponse found = client.describeSearchIndex(request);
        return Printing.facts(
                "fields",
                found.getSchema().getFieldSchemas().stream()
                        .map(field -> field.getFieldName() + " " + field.getFieldType())
                        .collect(Collectors.toList()),
                "phase",
                String.valueOf(found.getSyncStat().getSyncPhase()),
                "ttl",
                found.getTimeToLive());
    }

    private static SearchResponse ask(SyncClient client, SearchQuery query) {
        SearchResponse found =
                client.search(
                        SearchRequest.newBuilder()
                                .tableName(TABLE)
                                .indexName(INDEX)
                                .searchQuery(query)
                                .addColumnsToGet("l")
                                .build());
        if (!found.isAllSuccess() || found.getSearchHits().size() != found.getRows().size()) {
            throw new IllegalStateException("an answer without what every one has");
        }
        return found;
    }

    private static List<Object> numbers(List<Row> rows) {
        return rows.stream()
                .map(row -> row.getPrimaryKey().getPrimaryKeyColumn("n").getValue().asLong())
                .sorted()
                .collect(Collectors.toList());
    }

    private static Map<String, Object> queries(SyncClient client) {
        QueryBuilder odd = QueryBuilders.term("k", "odd");
        Map<String, QueryBuilder> asked = new LinkedHashMap<>();
        asked.put("all", QueryBuilders.matchAll());
        asked.put("match", QueryBuilders.match("t", "street 3"));
        asked.put("phrase", QueryBuilders.matchPhrase("t", "street 3"));
        asked.put("term", odd);
        asked.put("terms", QueryBuilders.terms("l").terms(1, 2, 99));
        asked.put("range", QueryBuilders.range("l").lessThanOrEqual(2.0));
        asked.put("dates", QueryBuilders.range("date").lessThan("2017-05-03 00:00"));
        asked.put("prefix", QueryBuilders.prefix("k", "ev"));
        asked.put("suffix", QueryBuilders.suffix("f", ".png"));
        asked.put("wildcard", QueryBuilders.wildcard("f", "*1*"));
        asked.put("exists", QueryBuilders.exists("v"));
        asked.put("net", QueryBuilders.term("ip", "192.168.1.1/24"));
        asked.put("bool", QueryBuilders.bool().must(odd).mustNot(QueryBuilders.term("l", 1)));
        asked.put("const", QueryBuilders.constScore().filter(odd));
        asked.put(
                "functions",
                QueryBuilders.functionsScore()
                        .query(odd)
                        .addFunction(ScoreFunction.newBuilder().weight(2).build()));
        asked.put(
                "nested",
                QueryBuilders.nested()
                        .path("o")
                        .scoreMode(ScoreMode.Max)
                        .query(QueryBuilders.range("o.l").greaterThan(8)));
        asked.put("box", QueryBuilders.geoBoundingBox("g").topLeft("2.5,-1").bottomRight("0.5,1"));
        asked.put(
                "distance",
                QueryBuilders.geoDistance("g").centerPoint("1,0").distanceInMeter(120_000));
        asked.put("polygon", QueryBuilders.geoPolygon("g").addPoint("0,-1").addPoint("0,1").addPoint("2.5,0"));
        asked.put("nearest", QueryBuilders.knnVector("v", 2, new float[] {5, 0}).filter(odd.build()));
        Map<String, Object> seen = new LinkedHashMap<>();
        asked.forEach(
                (name, query) -> {
                    SearchQuery.Builder whole =
                            SearchQuery.newBuilder()
                                    .query(query)
                                    .limit(name.equals("nearest") ? 2 : 20)
                                    .trackTotalCount(SearchQuery.TRACK_TOTAL_COUNT);
                    SearchResponse found = ask(client, whole.build());
                    seen.put(name, Printing.list(found.getTotalCount(), numbers(found.getRows())));
                });
        return seen;
    }

    private static Map<String, Object> orders(SyncClient client) {
        FieldSort descending = new FieldSort("l", SortOrder.DESC);
        SearchQuery.Builder query =
                SearchQuery.newBuilder().limit(3).sort(new Sort(List.of(descending)));
        SearchResponse first = ask(client, query.build());
        List<Object> pages = new ArrayList<>();
        SearchResponse page = first;
        while (true) {
            pages.add(page.getRows().size());
            if (page.getNextToken() == null) {
                break;
            }
            page = ask(client, SearchQuery.newBuilder().limit(3).token(page.getNextToken()).build());
        }
        return Printing.facts(
                "first", numbers(first.getRows()),
                "column", first.getRows().get(0).getLatestColumn("l").getValue().asLong(),
                "score", Double.isNaN(first.getSearchHits().get(0).getScore()),
                "pages", pages);
    }

    private static Map<String, Object> breakdown(SyncClient client) {
        SearchQuery query =
                SearchQuery.newBuilder()
                        .limit(0)
                        .addAggregation(AggregationBuilders.avg("avg", "l"))
                        .addAggregation(AggregationBuilders.sum("sum", "l"))
                        .addAggregation(AggregationBuilders.max("max", "l"))
                        .addAggregation(AggregationBuilders.min("min", "l"))
                        .addAggregation(AggregationBuilders.count("count", "k"))
                        .addAggregation(AggregationBuilders.distinctCount("distinct", "k"))
                        .addAggregation(AggregationBuilders.topRows("top").limit(2))
                        .addGroupBy(
                                GroupByBuilders.groupByField("field", "k")
                                        .addSubAggregation(AggregationBuilders.min("least", "l")))
                        .addGroupBy(
                                GroupByBuilders.groupByRange("range", "l")
                                        .addRange(Double.MIN_VALUE, 4)
                                        .addRange(4, Double.MAX_VALUE))
                        .build();
        SearchResponse found = ask(client, query);
        AggregationResults metrics = found.getAggregationResults();
        List<Object> fields = new ArrayList<>();
        for (GroupByFieldResultItem item :
                found.getGroupByResults().getAsGroupByFieldResult("field").getGroupByFieldResultItems()) {
            fields.add(
                    Printing.list(
                            item.getKey(),
                            item.getRowCount(),
                            item.getSubAggregationResults().getAsMinAggregationResult("least").getValue()));
        }
        List<Object> ranges = new ArrayList<>();
        for (GroupByRangeResultItem item :
                found.getGroupByResults().getAsGroupByRangeResult("range").getGroupByRangeResultItems()) {
            ranges.add(item.getRowCount());
        }
        return Printing.facts(
                "metrics",
                Printing.list(
                        metrics.getAsAvgAggregationResult("avg").getValue(),
                        metrics.getAsSumAggregationResult("sum").getValue(),
                        metrics.getAsMaxAggregationResult("max").getValue(),
                        metrics.getAsMinAggregationResult("min").getValue(),
                        metrics.getAsCountAggregationResult("count").getValue(),
                        metrics.getAsDistinctCountAggregationResult("distinct").getValue()),
                "top",
                numbers(metrics.getAsTopRowsAggregationResult("top").getRows()),
                "field",
                fields,
                "range",
                ranges);
    }

    private static Map<String, Object> scanned(SyncClient client) {
        ComputeSplitsRequest splits = new ComputeSplitsRequest();
        splits.setTableName(TABLE);
        splits.setSplitsOptions(new SearchIndexSplitsOptions(INDEX));
        ComputeSplitsResponse computed = client.computeSplits(splits);
        List<Object> pages = new ArrayList<>();
        byte[] token = null;
        do {
            ScanQuery.Builder query =
                    ScanQuery.newBuilder()
                            .query(QueryBuilders.matchAll())
                            .limit(7)
                            .currentParallelId(0)
                            .maxParallel(computed.getSplitsSize());
            ScanQuery asked = token == null ? query.build() : query.token(token).build();
            ParallelScanResponse page =
                    client.parallelScan(
                            ParallelScanRequest.newBuilder()
                                    .tableName(TABLE)
                                    .indexName(INDEX)
                                    .scanQuery(asked)
                                    .addColumnsToGet("l")
                                    .sessionId(computed.getSessionId())
                                    .build());
            pages.add(page.getRows().size());
            token = page.getNextToken();
        } while (token != null);
        return Printing.facts("splits", computed.getSplitsSize(), "pages", pages);
    }

    private static void remove(SyncClient client) {
        DeleteSearchIndexRequest request = new DeleteSearchIndexRequest();
        request.setTableName(TABLE);
        request.setIndexName(INDEX);
        client.deleteSearchIndex(request);
    }

    private static List<Object> listed(SyncClient client) {
        ListSearchIndexRequest request = new ListSearchIndexRequest();
        request.setTableName(TABLE);
        return client.listSearchIndex(request).getIndexInfos().stream()
                .map(SearchIndexInfo::getIndexName)
                .collect(Collectors.toList());
    }
}
