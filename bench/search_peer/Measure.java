import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.elasticsearch.action.bulk.BulkRequestBuilder;
import org.elasticsearch.action.search.SearchRequestBuilder;
import org.elasticsearch.action.support.WriteRequest;
import org.elasticsearch.client.Client;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.index.query.Operator;
import org.elasticsearch.index.query.QueryBuilders;
import org.elasticsearch.node.InternalSettingsPreparer;
import org.elasticsearch.node.Node;
import org.elasticsearch.search.aggregations.AggregationBuilders;
import org.elasticsearch.search.sort.SortOrder;
import org.elasticsearch.transport.Netty4Plugin;
import org.elasticsearch.xcontent.XContentType;

/**
 * Elasticsearch in this process, asked through its own client without HTTP: the work of
 * bench/search.py, on the same documents and words.
 *
 * <p>java -cp 'target/dependency/*' Measure.java DOCUMENTS.jsonl QUERIES.txt DIRECTORY. Documents
 * are lines of JSON with a number; queries are lines of words. Prints one JSON document; times are
 * milliseconds on the clock, index_us microseconds and cpu_ms milliseconds of
 * CPU time of the process.
 */
public final class Measure {
  private static final String INDEX = "measured";
  private static final int BATCH = 1000;
  private static final int REPLACED = 30;

  private static final class Embedded extends Node {
    Embedded(Environment environment) {
      super(environment, List.of(Netty4Plugin.class), false);
    }
  }

  public static void main(String[] arguments) throws Exception {
    Settings settings =
        Settings.builder()
            .put("path.home", arguments[2])
            .put("discovery.type", "single-node")
            .put("cluster.name", "measured")
            .put("node.name", "measured")
            .put("transport.type", "netty4")
            .put("http.type", "netty4")
            .put("http.port", "0")
            .put("transport.port", "0")
            .build();
    Environment environment =
        InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "measured");
    try (Node node = new Embedded(environment).start()) {
      Client client = node.client();
      create(client);
      double used = fill(client, Path.of(arguments[0]));
      List<String[]> words = new ArrayList<>();
      for (String line : Files.readAllLines(Path.of(arguments[1]), StandardCharsets.UTF_8)) {
        words.add(line.split(" "));
      }
      System.out.println("{\"index_us\": " + used + times(client, words) + replaced(client) + "}");
    }
    System.exit(0);
  }

  private static void create(Client client) {
    String properties =
        "{\"properties\": {\"body\": {\"type\": \"text\"}, \"category\": {\"type\": \"keyword\"},"
            + "\"author\": {\"type\": \"keyword\"}, \"state\": {\"type\": \"keyword\"},"
            + "\"price\": {\"type\": \"double\"}, \"stock\": {\"type\": \"long\"},"
            + "\"created\": {\"type\": \"long\"}, \"visible\": {\"type\": \"boolean\"},"
            + "\"rating\": {\"type\": \"long\"}, \"weight\": {\"type\": \"double\"}}}";
    client
        .admin()
        .indices()
        .prepareCreate(INDEX)
        .setSettings(
            Settings.builder().put("number_of_shards", 1).put("number_of_replicas", 0)
                .put("refresh_interval", "-1"))
        .addMapping("_doc", properties, XContentType.JSON)
        .get();
  }

  /** Index every document; microseconds of CPU time of the process for each. */
  private static double fill(Client client, Path documents) throws Exception {
    long before = cpuNanoseconds();
    int count = 0;
    try (BufferedReader lines = Files.newBufferedReader(documents)) {
      BulkRequestBuilder bulk = client.prepareBulk();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        bulk.add(client.prepareIndex(INDEX, "_doc", Integer.toString(count++))
                .setSource(line, XContentType.JSON));
        if (bulk.numberOfActions() == BATCH) {
          bulk.get();
          bulk = client.prepareBulk();
        }
      }
      if (bulk.numberOfActions() > 0) {
        bulk.get();
      }
    }
    client.admin().indices().prepareRefresh(INDEX).get();
    return (cpuNanoseconds() - before) / 1e3 / count;
  }

  private static long cpuNanoseconds() {
    return ((com.sun.management.OperatingSystemMXBean)
            java.lang.management.ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  private static String times(Client client, List<String[]> words) {
    Map<String, Function<String[], SearchRequestBuilder>> cases = new java.util.LinkedHashMap<>();
    cases.put("term", each -> ask(client).setQuery(QueryBuilders.matchQuery("body", each[0])));
    cases.put(
        "any",
        each -> ask(client).setQuery(QueryBuilders.matchQuery("body", String.join(" ", each))));
    cases.put(
        "all",
        each ->
            ask(client)
                .setQuery(
                    QueryBuilders.matchQuery("body", each[0] + " " + each[1])
                        .operator(Operator.AND)));
    cases.put(
        "phrase",
        each ->
            ask(client).setQuery(QueryBuilders.matchPhraseQuery("body", each[0] + " " + each[1])));
    cases.put(
        "sort",
        each ->
            ask(client)
                .setQuery(
                    QueryBuilders.boolQuery()
                        .filter(QueryBuilders.termQuery("body", each[0]))
                        .filter(QueryBuilders.rangeQuery("price").gte(10.0).lt(60.0)))
                .addSort("state", SortOrder.ASC)
                .addSort("created", SortOrder.DESC));
    cases.put(
        "groups",
        each ->
            ask(client)
                .setSize(0)
                .addAggregation(AggregationBuilders.terms("of").field("category").size(2000)));
    StringBuilder told = new StringBuilder();
    cases.forEach(
        (name, made) -> {
          words.forEach(each -> made.apply(each).get()); // warm: Java compiles what is hot
          words.forEach(each -> made.apply(each).get());
          double[][] seen = new double[2][words.size()];
          for (int at = 0; at < words.size(); at++) {
            long used = cpuNanoseconds();
            seen[0][at] = time(made.apply(words.get(at)));
            seen[1][at] = (cpuNanoseconds() - used) / 1e6;
          }
          told.append(figures(name, seen));
        });
    return told.toString();
  }

  /** Without the request cache, which would answer what was asked before. */
  private static SearchRequestBuilder ask(Client client) {
    return client
        .prepareSearch(INDEX)
        .setSize(10)
        .setFetchSource(false)
        .setRequestCache(false)
        .setTrackTotalHits(true);
  }

  private static double time(SearchRequestBuilder request) {
    long began = System.nanoTime();
    request.get();
    return (System.nanoTime() - began) / 1e6;
  }

  /** Of times on the clock and of CPU time, those of all threads of the process. */
  private static String figures(String name, double[][] seen) {
    Arrays.sort(seen[0]);
    return ", \"" + name + "_p50_ms\": " + seen[0][seen[0].length / 2]
        + ", \"" + name + "_p99_ms\": " + seen[0][(int) (seen[0].length * 0.99)]
        + ", \"" + name + "_cpu_ms\": " + Arrays.stream(seen[1]).average().orElse(0);
  }

  /** Replace a document, wait until it can be found, find it. */
  private static String replaced(Client client) {
    double[][] seen = new double[2][REPLACED];
    for (int at = 0; at < REPLACED; at++) {
      long began = System.nanoTime();
      long used = cpuNanoseconds();
      client
          .prepareIndex(INDEX, "_doc", Integer.toString(at))
          .setSource("{\"body\": \"only" + at + "\"}", XContentType.JSON)
          .setRefreshPolicy(WriteRequest.RefreshPolicy.IMMEDIATE)
          .get();
      long found =
          ask(client).setQuery(QueryBuilders.matchQuery("body", "only" + at)).get().getHits()
              .getTotalHits().value;
      if (found != 1) {
        throw new IllegalStateException("only" + at + " is found " + found + " times");
      }
      seen[0][at] = (System.nanoTime() - began) / 1e6;
      seen[1][at] = (cpuNanoseconds() - used) / 1e6;
    }
    return figures("replace", seen);
  }
}
