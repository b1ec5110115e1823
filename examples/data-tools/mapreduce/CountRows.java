import com.alicloud.openservices.tablestore.model.*;
import com.aliyun.openservices.tablestore.hadoop.*;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.*;
import org.apache.hadoop.mapreduce.*;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.LongSumReducer;

/** Counts the rows of `usertable`, whose key is the column `id`: CountRows ENDPOINT FOLDER. */
public final class CountRows {
  public static final class One extends Mapper<PrimaryKeyWritable, RowWritable, Text, LongWritable> {
    protected void map(PrimaryKeyWritable k, RowWritable r, Context out) throws IOException, InterruptedException {
      out.write(new Text("rows"), new LongWritable(1));
    }
  }
  private static PrimaryKey key(PrimaryKeyValue id) {
    return new PrimaryKey(new PrimaryKeyColumn[] {new PrimaryKeyColumn("id", id)});
  }
  public static void main(String[] words) throws Exception {
    Job job = Job.getInstance(new Configuration(), "count");
    job.setMapperClass(One.class);
    job.setReducerClass(LongSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(LongWritable.class);
    job.setInputFormatClass(TableStoreInputFormat.class);
    Configuration conf = job.getConfiguration();
    TableStoreInputFormat.setCredential(conf, new Credential("widerow", "widerow"));
    TableStoreInputFormat.setEndpoint(conf, new Endpoint(words[0], "widerow"));
    RangeRowQueryCriteria all = new RangeRowQueryCriteria("usertable");
    all.setMaxVersions(1);
    all.setInclusiveStartPrimaryKey(key(PrimaryKeyValue.INF_MIN));
    all.setExclusiveEndPrimaryKey(key(PrimaryKeyValue.INF_MAX));
    TableStoreInputFormat.addCriteria(conf, all);
    FileOutputFormat.setOutputPath(job, new Path(words[1]));
    job.waitForCompletion(true);
  }
}
