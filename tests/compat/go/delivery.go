package main

import (
	"time"

	"github.com/aliyun/aliyun-tablestore-go-sdk/tablestore"
)

// delivery: a task is created, described until it delivers changes, listed and deleted.
func delivery(client *tablestore.TableStoreClient) facts {
	create(client, "delivery", 1)
	putRow(client, withColumn(putChange("delivery", key("a", 1)), "c", "value"))
	config := &tablestore.OSSTaskConfig{
		OssPrefix:       "year=$yyyy",
		OssBucket:       "go-bucket",
		OssEndpoint:     "oss.example",
		OssRoleName:     "role",
		EventTimeColumn: &tablestore.EventColumn{ColumnName: "at", TimeFormat: tablestore.EventColumnRFC3339},
		Schema: []*tablestore.TaskSchema{
			{ColumnName: "pk", OssColumnName: "key", Type: tablestore.ParquetUtf8},
			{ColumnName: "n", OssColumnName: "n", Type: tablestore.ParquetInt64},
		},
	}
	request := &tablestore.CreateDeliveryTaskRequest{
		TableName: "delivery", TaskName: "task", TaskType: tablestore.BaseIncTask, TaskConfig: config,
	}
	_, err := client.CreateDeliveryTask(request)
	must(err)
	seen := facts{}
	_, err = client.CreateDeliveryTask(request)
	seen["twice"] = refusal(err)
	asked := &tablestore.DescribeDeliveryTaskRequest{TableName: "delivery", TaskName: "task"}
	for tries := 0; tries < 300; tries++ {
		described, err := client.DescribeDeliveryTask(asked)
		must(err)
		seen["type"] = described.TaskType
		seen["phase"] = described.TaskSyncStat.TaskSyncPhase
		seen["error"] = described.TaskSyncStat.ErrorCode
		seen["prefix"] = described.TaskConfig.OssPrefix
		seen["event"] = described.TaskConfig.EventTimeColumn.ColumnName
		seen["columns"] = len(described.TaskConfig.Schema)
		if described.TaskSyncStat.TaskSyncPhase == tablestore.TaskIncStat {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	listed, err := client.ListDeliveryTask(&tablestore.ListDeliveryTaskRequest{TableName: "delivery"})
	must(err)
	names := list{}
	for _, each := range listed.Tasks {
		names = append(names, list{each.TableName, each.TaskName, each.TaskType})
	}
	seen["listed"] = names
	gone := &tablestore.DeleteDeliveryTaskRequest{TableName: "delivery", TaskName: "task"}
	_, err = client.DeleteDeliveryTask(gone)
	must(err)
	_, err = client.DeleteDeliveryTask(gone)
	seen["deleted twice"] = refusal(err)
	_, err = client.DescribeDeliveryTask(asked)
	seen["described later"] = refusal(err)
	return seen
}
