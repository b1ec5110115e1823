import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.model.BatchWriteRowRequest;
import com.alicloud.openservices.tablestore.model.ColumnValue;
import com.alicloud.openservices.tablestore.model.ComputeSplitsBySizeRequest;
import com.alicloud.openservices.tablestore.model.Direction;
import com.alicloud.openservices.tablestore.model.GetRangeRequest;
import com.alicloud.openservices.tablestore.model.GetRangeResponse;
import com.alicloud.openservices.tablestore.model.PrimaryKey;
import com.alicloud.openservices.tablestore.model.PrimaryKeyBuilder;
import com.alicloud.openservices.tablestore.model.PrimaryKeyValue;
import com.alicloud.openservices.tablestore.model.PutRowRequest;
import com.alicloud.openservices.tablestore.model.RangeIteratorParameter;
import com.alicloud.openservices.tablestore.model.RangeRowQueryCriteria;
import com.alicloud.openservices.tablestore.model.Row;
import com.alicloud.openservices.tablestore.model.RowPutChange;
import com.alicloud.openservices.tablestore.model.SingleRowQueryCriteria;
import com.alicloud.openservices.tablestore.model.Split;
import com.alicloud.openservices.tablestore.model.filter.ColumnPaginationFilter;
import com.alicloud.openservices.tablestore.model.filter.ColumnValueFilter;
import com.alicloud.openservices.tablestore.model.filter.CompositeColumnValueFilter;
import com.alicloud.openservices.tablestore.model.filter.Filter;
import com.alicloud.openservices.tablestore.model.filter.RegexRule;
import com.alicloud.openservices.tablestore.model.filter.SingleColumnValueFilter;
import com.alicloud.openservices.tablestore.model.filter.SingleColumnValueRegexFilter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** GetRange, filters and split points. */
final class Ranges {
    private static final long MEBIBYTE = 1048576;

    private Ranges() {}

    /** Both directions, in pages, over one partition key value and over all. */
    static Map<String, Object> ranges(SyncClient client) throws Exception {
        Tables.create(client, "ranges", 1);
        for (String pk : List.of("a", "b")) {
            for (long n = 1; n <= 4; n++) {
                client.putRow(
                        new PutRowRequest(
                                Rows.put("ranges", Rows.key(pk, n), "c", Rows.text(pk + n))));
            }
        }
        List<Object> sizes = Printing.list();
        List<Object> exactSizes = Printing.list();
        RangeRowQueryCriteria forward = span("ranges", least(), most(), Direction.FORWARD);
        forward.setLimit(3);
        RangeRowQueryCriteria backward = span("ranges", most(), least(), Direction.BACKWARD);
        backward.setLimit(3);
        RangeRowQueryCriteria exact = span("ranges", least(), most(), Direction.FORWARD);
        exact.setLimit(8);
        RangeRowQueryCriteria inner =
                span("ranges", Rows.key("a", 2), Rows.key("b", 2), Direction.FORWARD);
        RangeRowQueryCriteria wrongWay =
                span("ranges", Rows.key("b", 1), Rows.key("a", 1), Direction.FORWARD);
        return Printing.facts(
                "forward", printed(scan(client, forward, sizes)),
                "page sizes", sizes,
                "backward", printed(scan(client, backward, Printing.list())),
                "inner", printed(scan(client, inner, Printing.list())),
                "exact limit", Printing.list(scan(client, exact, exactSizes).size(), exactSizes),
                "wrong way",
                        Printing.refusal(() -> client.getRange(new GetRangeRequest(wrongWay))));
    }

    /** More rows than one answer carries, as the SDK's own iterator reads them. */
    static Map<String, Object> iterator(SyncClient client) throws Exception {
        Tables.create(client, "long", 1);
        for (long batch = 0; batch < 26; batch++) {
            BatchWriteRowRequest request = new BatchWriteRowRequest();
            for (long n = batch * 200; n < (batch + 1) * 200; n++) {
                request.addRowChange(Rows.put("long", Rows.key("a", n), "c", Rows.number(n)));
            }
            client.batchWriteRow(request);
        }
        RangeIteratorParameter parameter = new RangeIteratorParameter("long");
        parameter.setMaxVersions(1);
        parameter.setInclusiveStartPrimaryKey(least());
        parameter.setExclusiveEndPrimaryKey(most());
        List<Row> rows = new ArrayList<>();
        Iterator<Row> all = client.createRangeIterator(parameter);
        while (all.hasNext()) {
            rows.add(all.next());
        }
        return Printing.facts(
                "rows", rows.size(),
                "first", Printing.row(rows.get(0)),
                "last", Printing.row(rows.get(rows.size() - 1)));
    }

    /** The parts of a table of four megabytes: where they begin, and where they are. */
    static Map<String, Object> splitPoints(SyncClient client) throws Exception {
        Tables.create(client, "sized", 1);
        ColumnValue tenth = ColumnValue.fromBinary(new byte[100000]);
        for (int n = 0; n < 40; n++) {
            PrimaryKey key = Rows.key(String.format("k%02d", n), 1);
            client.putRow(new PutRowRequest(Rows.put("sized", key, "c", tenth)));
        }
        ComputeSplitsBySizeRequest request = new ComputeSplitsBySizeRequest("sized", 1, MEBIBYTE);
        List<Split> found = client.computeSplitsBySize(request).getSplits();
        List<Object> bounds = Printing.list();
        Set<String> places = new HashSet<>();
        for (Split split : found) {
            PrimaryKeyValue bound = split.getLowerBound().getPrimaryKeyColumn(0).getValue();
            bounds.add(bound.isInfMin() ? "least" : bound.asString());
            places.add(split.getLocation());
        }
        request.setSplitPointLimit(1);
        return Printing.facts(
                "columns", found.get(1).getLowerBound().size(),
                "bounds", bounds,
                "places", places.size(),
                "halves", client.computeSplitsBySize(request).getSplits().size(),
                "missing",
                        Printing.refusal(
                                () ->
                                        client.computeSplitsBySize(
                                                new ComputeSplitsBySizeRequest("nothing", 1))));
    }

    /** One column, several, a page of columns, an expression over a text. */
    static Map<String, Object> filters(SyncClient client) {
        Tables.create(client, "filters", 1);
        for (long n = 1; n <= 5; n++) {
            RowPutChange change = new RowPutChange("filters", Rows.key("a", n));
            change.addColumn("price", Rows.number(n * 10));
            change.addColumn("tag", Rows.text("t1:" + n + ",t2:x"));
            if (n % 2 == 0) {
                change.addColumn("even", ColumnValue.fromBoolean(true));
            }
            client.putRow(new PutRowRequest(change));
        }
        ColumnValue yes = ColumnValue.fromBoolean(true);
        SingleColumnValueFilter even =
                new SingleColumnValueFilter(
                        "even", SingleColumnValueFilter.CompareOperator.EQUAL, yes);
        SingleColumnValueFilter present =
                new SingleColumnValueFilter(
                        "even", SingleColumnValueFilter.CompareOperator.EQUAL, yes);
        present.setPassIfMissing(false);
        SingleColumnValueFilter above =
                price(SingleColumnValueFilter.CompareOperator.GREATER_THAN, 20);
        ColumnValueFilter fifty = price(SingleColumnValueFilter.CompareOperator.EQUAL, 50);
        ColumnValueFilter low =
                combined(CompositeColumnValueFilter.LogicOperator.NOT, above);
        ColumnValueFilter expression =
                new SingleColumnValueRegexFilter(
                        "tag",
                        new RegexRule("t1:([0-9]+),", RegexRule.CastType.VT_INTEGER),
                        SingleColumnValueRegexFilter.CompareOperator.GREATER_EQUAL,
                        Rows.number(4));
        return Printing.facts(
                "above", kept(client, above),
                "missing passes", kept(client, even),
                "missing filters", kept(client, present),
                "and",
                        kept(client, combined(
                                CompositeColumnValueFilter.LogicOperator.AND, above, present)),
                "not", kept(client, low),
                "or of not",
                        kept(client, combined(
                                CompositeColumnValueFilter.LogicOperator.OR, low, fifty)),
                "expression", kept(client, expression),
                "page", Printing.cells(filtered(client, 2, new ColumnPaginationFilter(1, 1))),
                "rejected", Printing.cells(filtered(client, 1, above)));
    }

    // --- requests ----------------------------------------------------------------------------

    private static SingleColumnValueFilter price(
            SingleColumnValueFilter.CompareOperator operator, long constant) {
        return new SingleColumnValueFilter("price", operator, Rows.number(constant));
    }

    private static ColumnValueFilter combined(
            CompositeColumnValueFilter.LogicOperator operator, ColumnValueFilter... parts) {
        CompositeColumnValueFilter combined = new CompositeColumnValueFilter(operator);
        for (ColumnValueFilter part : parts) {
            combined.addFilter(part);
        }
        return combined;
    }

    /** The second key column of the rows that pass. */
    private static Object kept(SyncClient client, Filter filter) {
        RangeRowQueryCriteria wanted = span("filters", least(), most(), Direction.FORWARD);
        wanted.setFilter(filter);
        List<Object> numbers = Printing.list();
        for (Row row : scan(client, wanted, Printing.list())) {
            numbers.add(row.getPrimaryKey().getPrimaryKeyColumn("n").getValue().asLong());
        }
        return numbers;
    }

    private static Row filtered(SyncClient client, long n, Filter filter) {
        SingleRowQueryCriteria wanted = Rows.wanted("filters", Rows.key("a", n));
        wanted.setFilter(filter);
        return Rows.get(client, wanted);
    }

    static PrimaryKey least() {
        return bound(PrimaryKeyValue.INF_MIN, "pk", "n");
    }

    static PrimaryKey most() {
        return bound(PrimaryKeyValue.INF_MAX, "pk", "n");
    }

    static PrimaryKey bound(PrimaryKeyValue value, String... names) {
        PrimaryKeyBuilder made = PrimaryKeyBuilder.createPrimaryKeyBuilder();
        for (String name : names) {
            made.addPrimaryKeyColumn(name, value);
        }
        return made.build();
    }

    static RangeRowQueryCriteria span(
            String table, PrimaryKey start, PrimaryKey end, Direction direction) {
        RangeRowQueryCriteria criteria = new RangeRowQueryCriteria(table);
        criteria.setInclusiveStartPrimaryKey(start);
        criteria.setExclusiveEndPrimaryKey(end);
        criteria.setDirection(direction);
        criteria.setMaxVersions(1);
        return criteria;
    }

    /** Reads page after page. */
    static Object rows(SyncClient client, RangeRowQueryCriteria wanted) throws Exception {
        return printed(scan(client, wanted, Printing.list()));
    }

    /** Reads page after page, and adds how many rows each had to `sizes`. */
    private static List<Row> scan(
            SyncClient client, RangeRowQueryCriteria wanted, List<Object> sizes) {
        List<Row> rows = new ArrayList<>();
        PrimaryKey next = wanted.getInclusiveStartPrimaryKey();
        while (next != null) {
            wanted.setInclusiveStartPrimaryKey(next);
            GetRangeResponse got = client.getRange(new GetRangeRequest(wanted));
            rows.addAll(got.getRows());
            sizes.add(got.getRows().size());
            next = got.getNextStartPrimaryKey();
        }
        return rows;
    }

    static Object printed(List<Row> rows) throws Exception {
        List<Object> printed = Printing.list();
        for (Row row : rows) {
            printed.add(Printing.row(row));
        }
        return printed;
    }
}
