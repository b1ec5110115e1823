import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HColumnDescriptor;
import org.apache.hadoop.hbase.HTableDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.*;
import org.apache.hadoop.hbase.util.Bytes;

/** The vendor's HBase client over widerow: java HbaseRows [ENDPOINT]. */
public final class HbaseRows {
  public static void main(String[] words) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.client.connection.impl", "com.alicloud.tablestore.hbase.TablestoreConnection");
    conf.set("tablestore.client.endpoint", words.length > 0 ? words[0] : "http://127.0.0.1:8087");
    conf.set("tablestore.client.instancename", "widerow");
    conf.set("tablestore.client.accesskeyid", "widerow");
    conf.set("tablestore.client.accesskeysecret", "widerow");
    conf.set("hbase.client.tablestore.family", "f"); // there is one family, and this is its name
    byte[] family = Bytes.toBytes("f");
    TableName name = TableName.valueOf("hbase_rows");
    try (Connection connection = ConnectionFactory.createConnection(conf);
        Admin admin = connection.getAdmin();
        Table table = connection.getTable(name)) {
      HTableDescriptor made = new HTableDescriptor(name);
      made.addFamily(new HColumnDescriptor(family));
      admin.createTable(made);
      table.put(new Put(Bytes.toBytes("r1")).addColumn(family, Bytes.toBytes("c"), Bytes.toBytes("v")));
      for (Result row : table.getScanner(new Scan())) {
        System.out.println(Bytes.toString(row.getRow()) + " "
            + Bytes.toString(row.getValue(family, Bytes.toBytes("c"))));
      }
    }
  }
}
