import com.alicloud.openservices.tablestore.SyncClient;
import com.alicloud.openservices.tablestore.model.PutRowRequest;
import com.alicloud.openservices.tablestore.model.delivery.CreateDeliveryTaskRequest;
import com.alicloud.openservices.tablestore.model.delivery.DataType;
import com.alicloud.openservices.tablestore.model.delivery.DeleteDeliveryTaskRequest;
import com.alicloud.openservices.tablestore.model.delivery.DeliveryTaskInfo;
import com.alicloud.openservices.tablestore.model.delivery.DeliveryTaskType;
import com.alicloud.openservices.tablestore.model.delivery.DescribeDeliveryTaskRequest;
import com.alicloud.openservices.tablestore.model.delivery.DescribeDeliveryTaskResponse;
import com.alicloud.openservices.tablestore.model.delivery.ListDeliveryTaskRequest;
import com.alicloud.openservices.tablestore.model.delivery.OSSTaskConfig;
import com.alicloud.openservices.tablestore.model.delivery.ParquetSchema;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A task that copies a table into files. */
final class Delivery {
    private static final String TABLE = "delivery";
    private static final int TRIES = 300;

    private Delivery() {}

    /** One that is created, described until it delivers changes, listed and deleted. */
    static Map<String, Object> delivery(SyncClient client) throws Exception {
        Tables.create(client, TABLE, 1);
        client.putRow(
                new PutRowRequest(Rows.put(TABLE, Rows.key("a", 1), "c", Rows.text("value"))));
        OSSTaskConfig config = new OSSTaskConfig();
        config.setOssPrefix("year=$yyyy");
        config.setOssBucket("java-bucket");
        config.setOssEndpoint("oss.example");
        config.setOssStsRole("role");
        config.addParquetSchema(new ParquetSchema("pk", "key", DataType.UTF8));
        config.addParquetSchema(new ParquetSchema("n", "n", DataType.INT64));
        CreateDeliveryTaskRequest request = new CreateDeliveryTaskRequest();
        request.setTableName(TABLE);
        request.setTaskName("task");
        request.setTaskType(DeliveryTaskType.BASE_INC);
        request.setTaskConfig(config);
        client.createDeliveryTask(request);
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("twice", Printing.refusal(() -> client.createDeliveryTask(request)));
        DescribeDeliveryTaskRequest asked = new DescribeDeliveryTaskRequest(TABLE, "task");
        for (int tries = 0; tries < TRIES; tries++) {
            DescribeDeliveryTaskResponse described = client.describeDeliveryTask(asked);
            seen.put("type", described.getTaskType().name());
            seen.put("phase", described.getTaskSyncStat().getTaskSyncPhase().name());
            seen.put("prefix", described.getTaskConfig().getOssPrefix());
            seen.put("columns", described.getTaskConfig().getParquetSchemaList().size());
            if (described.getTaskSyncStat().getTaskSyncPhase().name().equals("INCR")) {
                break;
            }
            Thread.sleep(100);
        }
        List<Object> names = Printing.list();
        ListDeliveryTaskRequest all = new ListDeliveryTaskRequest(TABLE);
        for (DeliveryTaskInfo each : client.listDeliveryTask(all).getTaskInfos()) {
            names.add(
                    Printing.list(
                            each.getTableName(), each.getTaskName(), each.getTaskType().name()));
        }
        seen.put("listed", names);
        DeleteDeliveryTaskRequest gone = new DeleteDeliveryTaskRequest(TABLE, "task");
        client.deleteDeliveryTask(gone);
        seen.put("deleted twice", Printing.refusal(() -> client.deleteDeliveryTask(gone)));
        seen.put("described later", Printing.refusal(() -> client.describeDeliveryTask(asked)));
        return seen;
    }
}
