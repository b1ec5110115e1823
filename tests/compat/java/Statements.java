import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.model.ColumnType;
import com.alicloud.openservices.tablestore.model.ColumnValue;
import com.alicloud.openservices.tablestore.model.PutRowRequest;
import com.alicloud.openservices.tablestore.model.RowPutChange;
import com.alicloud.openservices.tablestore.model.sql.SQLColumnSchema;
import com.alicloud.openservices.tablestore.model.sql.SQLQueryRequest;
import com.alicloud.openservices.tablestore.model.sql.SQLQueryResponse;
import com.alicloud.openservices.tablestore.model.sql.SQLResultSet;
import com.alicloud.openservices.tablestore.model.sql.SQLRow;
import java.util.List;
import java.util.Map;

/** SQL. */
final class Statements {
    private static final String CREATE =
            "CREATE TABLE stated (pk VARCHAR(1024), n BIGINT(20), i BIGINT(20), d DOUBLE,"
                    + " b BOOL, s MEDIUMTEXT, x MEDIUMBLOB, PRIMARY KEY (pk, n))";
    private static final String GROUPS =
            "SELECT pk, count(*) AS number, sum(i) AS total, max(d) FROM stated"
                    + " GROUP BY pk ORDER BY pk";
    private static final String TIMES =
            "SELECT from_unixtime(1668585138.995),"
                    + " timediff(from_unixtime(1668585138.995),from_unixtime(1668585013.712)),"
                    + " date(from_unixtime(1668585138.995))";

    private Statements() {}

    /**
     * Statements of every kind that this version of the SDK names, and those that write. It hands
     * over no count of the rows that they wrote.
     */
    static Map<String, Object> sql(SyncClient client) throws Exception {
        write(client);
        SQLQueryResponse created = asked(client, CREATE);
        SQLQueryResponse everything = asked(client, "SELECT * FROM stated");
        Map<String, Object> seen =
                Printing.facts(
                        "everything", result(everything),
                        "consumed", consumed(everything),
                        "nothing", result(client, "SELECT i, s FROM stated WHERE n > 5"),
                        "groups", result(client, GROUPS),
                        "last", result(client, "SELECT n, s FROM stated ORDER BY i DESC LIMIT 1"),
                        "times", result(client, TIMES),
                        "tables", result(client, "SHOW TABLES"),
                        "described", result(client, "DESCRIBE stated"));
        asked(client, "INSERT INTO stated (pk, n, i) VALUES ('c', 1, 40), ('c', 2, 50)");
        asked(client, "UPDATE stated SET i = i + 2, s = 'new' WHERE pk = 'c' AND n = 1");
        asked(client, "DELETE FROM stated WHERE pk = 'c' AND n = 2");
        seen.put("changed", result(client, "SELECT n, i, s FROM stated WHERE pk = 'c'"));
        seen.put("refused", Printing.refusal(() -> asked(client, "SELECT nope FROM stated")));
        SQLQueryResponse dropped = asked(client, "DROP MAPPING TABLE stated");
        seen.put("without", Printing.list(withoutRows(created), withoutRows(dropped)));
        seen.put("left", result(client, "DESCRIBE stated"));
        return seen;
    }

    private static void write(SyncClient client) {
        Tables.create(client, "stated", 1);
        put(client, 7, 0.5, true, "é 值", new byte[] {0, -1}, 1);
        put(client, -1, 2.0, false, "other", new byte[] {1}, 2);
        client.putRow(new PutRowRequest(new RowPutChange("stated", Rows.key("b", 1))));
    }

    private static void put(
            SyncClient client, long i, double d, boolean b, String s, byte[] x, long n) {
        RowPutChange change = new RowPutChange("stated", Rows.key("a", n));
        change.addColumn("i", Rows.number(i));
        change.addColumn("d", ColumnValue.fromDouble(d));
        change.addColumn("b", ColumnValue.fromBoolean(b));
        change.addColumn("s", Rows.text(s));
        change.addColumn("x", ColumnValue.fromBinary(x));
        client.putRow(new PutRowRequest(change));
    }

    private static SQLQueryResponse asked(SyncClient client, String text) {
        return client.sqlQuery(new SQLQueryRequest(text));
    }

    /** The statement, and how many columns it has: none, as it should have no result set. */
    private static Object withoutRows(SQLQueryResponse answer) {
        SQLResultSet found = answer.getSQLResultSet();
        int columns = found == null ? 0 : found.getSQLTableMeta().getSchema().size();
        return Printing.list(answer.getSQLStatementType(), columns);
    }

    private static Object consumed(SQLQueryResponse answer) {
        List<Object> told = Printing.list();
        answer.getConsumedCapacity()
                .forEach(
                        (table, used) ->
                                told.add(
                                        Printing.list(
                                                table,
                                                used.getCapacityUnit().getReadCapacityUnit(),
                                                used.getCapacityUnit().getWriteCapacityUnit())));
        return told;
    }

    private static Object result(SyncClient client, String text) {
        return result(asked(client, text));
    }

    /** Which statement was answered, columns with their types, and rows. */
    private static Object result(SQLQueryResponse answer) {
        SQLResultSet found = answer.getSQLResultSet();
        List<SQLColumnSchema> schema = found.getSQLTableMeta().getSchema();
        List<Object> columns = Printing.list();
        schema.forEach(each -> columns.add(Printing.list(each.getName(), each.getType())));
        List<Object> rows = Printing.list();
        while (found.hasNext()) {
            SQLRow row = found.next();
            List<Object> cells = Printing.list();
            for (int at = 0; at < schema.size(); at++) {
                cells.add(row.get(at) == null ? null : cell(row, at, schema.get(at).getType()));
            }
            rows.add(cells);
        }
        return Printing.facts(
                "statement", answer.getSQLStatementType(), "columns", columns, "rows", rows);
    }

    /** A value by the getter of its type: the SDK refuses every other one. */
    private static Object cell(SQLRow row, int at, ColumnType type) {
        switch (type) {
            case STRING:
                return row.getString(at);
            case INTEGER:
                return row.getLong(at);
            case BOOLEAN:
                return row.getBoolean(at);
            case DOUBLE:
                return Printing.printed(ColumnValue.fromDouble(row.getDouble(at)));
            case BINARY:
                byte[] data = new byte[row.getBinary(at).remaining()];
                row.getBinary(at).get(data);
                return Printing.printed(ColumnValue.fromBinary(data));
            case DATETIME:
                return row.getDateTime(at).toInstant().toString();
            case TIME:
                return row.getTime(at).toNanos();
            default:
                return row.getDate(at).toString();
        }
    }
}
