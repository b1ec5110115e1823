package main

import "github.com/aliyun/aliyun-tablestore-go-sdk/tablestore"

// batchGet: rows of two tables, one that is not there, one of a wrong key.
func batchGet(client *tablestore.TableStoreClient) facts {
	create(client, "batch_get", 1)
	createBinary(client, "batch_get_binary")
	putRow(client, withColumn(putChange("batch_get", key("a", 1)), "c", "first"))
	putRow(client, withColumn(putChange("batch_get", key("a", 2)), "c", "second"))
	binary := &tablestore.PrimaryKey{}
	binary.AddPrimaryKeyColumn("b", []byte{7})
	putRow(client, withColumn(putChange("batch_get_binary", binary), "c", "third"))

	rows := &tablestore.MultiRowQueryCriteria{TableName: "batch_get", MaxVersion: 1}
	for n := int64(1); n <= 3; n++ {
		rows.AddRow(key("a", n))
	}
	short := &tablestore.PrimaryKey{}
	short.AddPrimaryKeyColumn("pk", "a")
	rows.AddRow(short)
	others := &tablestore.MultiRowQueryCriteria{TableName: "batch_get_binary", MaxVersion: 1}
	others.AddRow(binary)
	got, err := client.BatchGetRow(&tablestore.BatchGetRowRequest{
		MultiRowQueryCriteria: []*tablestore.MultiRowQueryCriteria{rows, others},
	})
	must(err)
	return facts{
		"rows":   results(got.TableToRowsResult["batch_get"]),
		"others": results(got.TableToRowsResult["batch_get_binary"]),
		"tables": len(got.TableToRowsResult),
	}
}

// batchWrite: every kind of change; a failed condition, a wrong key and a missing table in between.
func batchWrite(client *tablestore.TableStoreClient) facts {
	create(client, "batch_write", 1)
	putRow(client, withColumn(putChange("batch_write", key("update", 1)), "count", int64(1)))
	putRow(client, withColumn(putChange("batch_write", key("delete", 1)), "c", "x"))

	request := &tablestore.BatchWriteRowRequest{}
	put := withColumn(putChange("batch_write", key("put", 1)), "c", "put")
	put.SetReturnPk()
	request.AddRowChange(put)
	refused := withColumn(putChange("batch_write", key("refused", 1)), "c", "x")
	refused.SetCondition(tablestore.RowExistenceExpectation_EXPECT_EXIST)
	request.AddRowChange(refused)
	update := updateChange("batch_write", key("update", 1))
	update.IncrementColumn("count", 41)
	update.SetReturnIncrementValue()
	update.AppendIncrementColumnToReturn("count")
	request.AddRowChange(update)
	request.AddRowChange(deletion("batch_write", key("delete", 1)).DeleteRowChange)
	misnamed := &tablestore.PrimaryKey{}
	misnamed.AddPrimaryKeyColumn("pk", "a")
	misnamed.AddPrimaryKeyColumn("m", int64(1))
	request.AddRowChange(withColumn(putChange("batch_write", misnamed), "c", "x"))
	request.AddRowChange(withColumn(putChange("batch_none", key("a", 1)), "c", "x"))
	written, err := client.BatchWriteRow(request)
	must(err)

	cells := func(pk string) list {
		return plainCells(get(client, criteria("batch_write", key(pk, 1))).Columns)
	}
	return facts{
		"rows":  results(written.TableToRowsResult["batch_write"]),
		"none":  results(written.TableToRowsResult["batch_none"]),
		"after": list{cells("put"), cells("refused"), cells("update"), cells("delete")},
	}
}

// atomicBatch: all rows or none of one partition key value; rows of two of them.
func atomicBatch(client *tablestore.TableStoreClient) facts {
	create(client, "atomic", 1)
	write := func(changes ...tablestore.RowChange) list {
		request := &tablestore.BatchWriteRowRequest{IsAtomic: true}
		for _, change := range changes {
			request.AddRowChange(change)
		}
		written, err := client.BatchWriteRow(request)
		must(err)
		return results(written.TableToRowsResult["atomic"])
	}
	change := func(pk string, n int64) *tablestore.PutRowChange {
		return withColumn(putChange("atomic", key(pk, n)), "c", n)
	}
	both := write(change("a", 1), change("a", 2))
	absent := change("a", 4)
	absent.SetCondition(tablestore.RowExistenceExpectation_EXPECT_EXIST)
	failed := write(change("a", 3), absent)
	apart := write(change("b", 1), change("c", 1))
	cells := func(pk string, n int64) list {
		return plainCells(get(client, criteria("atomic", key(pk, n))).Columns)
	}
	return facts{
		"both":   both,
		"failed": failed,
		"apart":  apart,
		"after":  list{cells("a", 1), cells("a", 2), cells("a", 3), cells("b", 1)},
	}
}

func results(rows []tablestore.RowResult) list {
	printedRows := list{}
	for _, row := range rows {
		seen := facts{"ok": row.IsSucceed}
		if row.IsSucceed {
			seen["key"] = printedKey(row.PrimaryKey)
			seen["cells"] = plainCells(row.Columns)
			seen["units"] = units(row.ConsumedCapacityUnit)
		} else {
			seen["code"], seen["message"] = row.Error.Code, row.Error.Message
		}
		printedRows = append(printedRows, seen)
	}
	return printedRows
}
