import com.alicloud.openservices.tablestore.ecosystem.Filter;
import com.aliyun.openservices.tablestore.hadoop.*;
import java.io.IOException;
import java.util.List;
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
  public static void main(String[] words) throws Exception {
    Job job = Job.getInstance(new Configuration(), "count");
    job.setMapperClass(One.class);
    job.setReducerClass(LongSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(LongWritable.class);
    job.setInputFormatClass(TableStoreInputFormat.class);
    TableStoreInputFormat.setCredential(job, "widerow", "widerow");
    TableStoreInputFormat.setEndpoint(job, words[0], "widerow");
    Configuration conf = job.getConfiguration();
    conf.set(TableStoreInputFormat.TABLE_NAME, "usertable");
    conf.set(TableStoreInputFormat.COMPUTE_PARAMS, new ComputeParams(100, 100, "KV").serialize()); // MB
    conf.set(TableStoreInputFormat.FILTER,
        new TableStoreFilterWritable(Filter.emptyFilter(), List.of("id")).serialize());
    FileOutputFormat.setOutputPath(job, new Path(words[1]));
    job.waitForCompletion(false);
    System.out.println(job.getCounters().findCounter(TaskCounter.MAP_INPUT_RECORDS).getValue());
  }
}
