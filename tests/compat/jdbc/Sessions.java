import com.google.gson.GsonBuilder;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** What a program sees through the vendor's JDBC driver, alone and under a pool, as one JSON object. */
public final class Sessions {
  private static final String DRIVER = "com.alicloud.openservices.tablestore.jdbc.OTSDriver";

  private Sessions() {}

  /** Arguments: the URL, and the key's id and secret. The table `books` has rows. */
  public static void main(String[] arguments) throws Exception {
    Class.forName(DRIVER);
    Map<String, Object> seen = new TreeMap<>();
    try (Connection connection =
        DriverManager.getConnection(arguments[0], arguments[1], arguments[2])) {
      answered(connection, seen);
      prepared(connection, seen);
      described(connection, seen);
      refused(connection, seen);
    }
    pooled(arguments, seen);
    System.out.println(new GsonBuilder().serializeNulls().create().toJson(seen));
    System.exit(0); // the driver's threads would go on
  }

  private static void answered(Connection connection, Map<String, Object> seen) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("DROP MAPPING TABLE IF EXISTS books");
      statement.execute(
          "CREATE TABLE books (shelf VARCHAR(1024), n BIGINT, title MEDIUMTEXT, price DOUBLE,"
              + " lent BOOL, cover MEDIUMBLOB, PRIMARY KEY (shelf, n))");
      seen.put("all", rows(statement.executeQuery("SELECT * FROM books")));
      seen.put(
          "groups",
          rows(statement.executeQuery("SELECT shelf, count(*) AS c, sum(price) FROM books GROUP BY shelf")));
    }
  }

  private static void prepared(Connection connection, Map<String, Object> seen)
      throws SQLException {
    String text = "SELECT n, title FROM books WHERE shelf = ? AND (title = ? OR price < ?) LIMIT 5";
    try (PreparedStatement statement = connection.prepareStatement(text)) {
      statement.setString(1, "a");
      statement.setString(2, "It's");
      statement.setDouble(3, 3.0);
      seen.put("prepared", rows(statement.executeQuery()));
      statement.setString(2, "' OR '1' = '1");
      seen.put("quoted", rows(statement.executeQuery()));
    }
    try (PreparedStatement statement =
        connection.prepareStatement("SELECT n FROM books WHERE shelf = 'a' AND cover = ?")) {
      statement.setBytes(1, new byte[] {0, (byte) 0xff});
      seen.put("bytes", rows(statement.executeQuery()));
    }
  }

  private static void described(Connection connection, Map<String, Object> seen)
      throws SQLException {
    DatabaseMetaData told = connection.getMetaData();
    String catalog = connection.getCatalog();
    seen.put("tables", column(told.getTables(catalog, null, "bo%", null), "TABLE_NAME"));
    seen.put("columns", column(told.getColumns(catalog, null, "books", "%"), "COLUMN_NAME"));
    seen.put("types", column(told.getColumns(catalog, null, "books", "%"), "TYPE_NAME"));
    seen.put("nullable", column(told.getColumns(catalog, null, "books", "%"), "IS_NULLABLE"));
    seen.put("key", column(told.getPrimaryKeys(catalog, null, "books"), "COLUMN_NAME"));
  }

  private static void refused(Connection connection, Map<String, Object> seen) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.executeQuery("SELECT nope FROM books");
    } catch (Exception refusal) { // the driver lets those of its SDK through
      seen.put("refused", refusal.getMessage());
    }
  }

  /** Sixteen questions at once, over four connections that a pool lends and tests. */
  private static void pooled(String[] arguments, Map<String, Object> seen) throws Exception {
    HikariConfig config = new HikariConfig();
    config.setDriverClassName(DRIVER);
    config.setJdbcUrl(arguments[0]);
    config.setUsername(arguments[1]);
    config.setPassword(arguments[2]);
    config.setMaximumPoolSize(4);
    config.setConnectionTestQuery("SELECT 1");
    ExecutorService threads = Executors.newFixedThreadPool(16);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      List<Future<Long>> asked = new ArrayList<>();
      for (int number = 0; number < 16; number++) {
        long wanted = number % 3 + 1;
        Callable<Long> ask = () -> ask(pool, wanted);
        asked.add(threads.submit(ask));
      }
      long sum = 0;
      for (Future<Long> each : asked) {
        sum += each.get();
      }
      seen.put("pooled", sum);
    }
    threads.shutdown();
  }

  private static long ask(HikariDataSource pool, long wanted) throws SQLException {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement =
            connection.prepareStatement("SELECT n FROM books WHERE shelf = 'a' AND n = ?")) {
      statement.setLong(1, wanted);
      ResultSet found = statement.executeQuery();
      return found.next() ? found.getLong(1) : -1000;
    }
  }

  private static List<Map<String, Object>> rows(ResultSet found) throws SQLException {
    ResultSetMetaData told = found.getMetaData();
    List<Map<String, Object>> rows = new ArrayList<>();
    while (found.next()) {
      Map<String, Object> row = new HashMap<>();
      for (int column = 1; column <= told.getColumnCount(); column++) {
        Object value = found.getObject(column);
        row.put(told.getColumnLabel(column), value instanceof ByteBuffer ? hex((ByteBuffer) value) : value);
      }
      rows.add(row);
    }
    return rows;
  }

  private static List<Object> column(ResultSet found, String label) throws SQLException {
    List<Object> values = new ArrayList<>();
    while (found.next()) {
      values.add(found.getObject(label));
    }
    return values;
  }

  private static String hex(ByteBuffer data) {
    StringBuilder text = new StringBuilder();
    while (data.hasRemaining()) {
      text.append(String.format("%02x", data.get()));
    }
    return text.toString();
  }
}
