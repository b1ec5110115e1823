import com.alicloud.openservices.tablestore.ClientException;
import com.alicloud.openservices.tablestore.TableStoreException;
import com.alicloud.openservices.tablestore.model.Column;
import com.alicloud.openservices.tablestore.model.ColumnType;
import com.alicloud.openservices.tablestore.model.ColumnValue;
import com.alicloud.openservices.tablestore.model.ConsumedCapacity;
import com.alicloud.openservices.tablestore.model.PrimaryKey;
import com.alicloud.openservices.tablestore.model.PrimaryKeyColumn;
import com.alicloud.openservices.tablestore.model.Row;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What came back, ready for JSON. */
final class Printing {
    /** Versions are written and printed relative to this; a table takes those of today. */
    static final long BASE = System.currentTimeMillis();

    private Printing() {}

    /** A JSON object of names and values in turn. */
    static Map<String, Object> facts(Object... namesAndValues) {
        Map<String, Object> made = new LinkedHashMap<>();
        for (int at = 0; at < namesAndValues.length; at += 2) {
            made.put((String) namesAndValues[at], namesAndValues[at + 1]);
        }
        return made;
    }

    /** A JSON array of values of several kinds. */
    static List<Object> list(Object... values) {
        return new ArrayList<>(Arrays.asList(values));
    }

    /** Keeps the type of a value visible in JSON. */
    static Object printed(ColumnValue value) {
        if (value.getType() == ColumnType.DOUBLE) {
            return facts("double", value.asDouble());
        }
        if (value.getType() == ColumnType.BINARY) {
            return facts("binary", hex(value.asBinary()));
        }
        return value.getValue();
    }

    private static String hex(byte[] data) {
        StringBuilder digits = new StringBuilder();
        for (byte each : data) {
            digits.append(String.format("%02x", each));
        }
        return digits.toString();
    }

    static Object key(PrimaryKey key) throws Exception {
        if (key == null) {
            return null;
        }
        List<Object> columns = list();
        for (PrimaryKeyColumn column : key.getPrimaryKeyColumns()) {
            columns.add(list(column.getName(), printed(column.getValue().toColumnValue())));
        }
        return columns;
    }

    /** Key and cells of a row, cells without their versions; null if there is none. */
    static Object row(Row row) throws Exception {
        return row == null ? null : list(key(row.getPrimaryKey()), cells(row));
    }

    /** Name and value of every cell, for those that the server dated; null if there is no row. */
    static Object cells(Row row) {
        if (row == null) {
            return null;
        }
        List<Object> cells = list();
        for (Column column : row.getColumns()) {
            cells.add(list(column.getName(), printed(column.getValue())));
        }
        return cells;
    }

    /** Name, value and version of every cell; null if there is no row. */
    static Object datedCells(Row row) {
        if (row == null) {
            return null;
        }
        List<Object> cells = list();
        for (Column column : row.getColumns()) {
            long version = column.getTimestamp() - BASE;
            cells.add(list(column.getName(), printed(column.getValue()), version));
        }
        return cells;
    }

    static Object units(ConsumedCapacity used) {
        return list(
                used.getCapacityUnit().getReadCapacityUnit(),
                used.getCapacityUnit().getWriteCapacityUnit());
    }

    /** A call that may be refused. */
    interface Call {
        void make() throws Exception;
    }

    /** What the error of a call says; one that succeeds is a finding too. */
    static Object refusal(Call call) throws Exception {
        try {
            call.make();
        } catch (TableStoreException refused) {
            return facts(
                    "status", refused.getHttpStatus(),
                    "code", refused.getErrorCode(),
                    "message", refused.getMessage(),
                    "request id", refused.getRequestId().length());
        } catch (ClientException failed) {
            return facts("client error", String.valueOf(failed.getMessage()));
        }
        return "no error";
    }
}
