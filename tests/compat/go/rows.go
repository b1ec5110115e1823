package main

import (
	"fmt"
	"time"

	"github.com/aliyun/aliyun-tablestore-go-sdk/tablestore"
)

// values: every type of value, with versions given and not, there and back.
func values(client *tablestore.TableStoreClient) facts {
	create(client, "values", 3)
	change := putChange("values", key("värde 值", 1))
	change.AddColumn("text", "héllo 世界")
	change.AddColumn("empty", "")
	change.AddColumn("least", int64(-1<<63))
	change.AddColumn("most", int64(1<<63-1))
	change.AddColumn("double", 2.5)
	change.AddColumn("yes", true)
	change.AddColumn("no", false)
	change.AddColumn("bytes", []byte{0, 255, 16})
	put, err := client.PutRow(&tablestore.PutRowRequest{PutRowChange: change})
	must(err)
	got := get(client, criteria("values", key("värde 值", 1)))
	age := time.Since(time.UnixMilli(got.Columns[0].Timestamp))

	dated := putChange("values", key("dated", 1))
	for version := int64(1); version <= 4; version++ {
		dated.AddColumnWithTimestamp("c", version, base+version)
	}
	putRow(client, dated)
	all := criteria("values", key("dated", 1))
	all.MaxVersion = 10

	createBinary(client, "values_binary")
	binary := &tablestore.PrimaryKey{}
	binary.AddPrimaryKeyColumn("b", []byte{0, 1, 255})
	putRow(client, putChange("values_binary", binary))
	onlyKey := get(client, criteria("values_binary", binary))
	return facts{
		"key":          printedKey(got.PrimaryKey),
		"cells":        plainCells(got.Columns),
		"dated now":    age > -time.Minute && age < time.Minute,
		"put units":    units(put.ConsumedCapacityUnit),
		"get units":    units(got.ConsumedCapacityUnit),
		"request id":   len(got.RequestId),
		"versions":     datedCells(get(client, all).Columns),
		"only the key": list{printedKey(onlyKey.PrimaryKey), plainCells(onlyKey.Columns)},
	}
}

// selections: columns, column ranges, versions and times of a row; a row that is not there.
func selections(client *tablestore.TableStoreClient) facts {
	create(client, "selections", 3)
	change := putChange("selections", key("a", 1))
	for _, name := range []string{"a", "b", "c", "d"} {
		change.AddColumnWithTimestamp(name, name+" old", base+1)
		change.AddColumnWithTimestamp(name, name+" new", base+2)
	}
	putRow(client, change)
	cells := func(narrow func(*tablestore.SingleRowQueryCriteria)) list {
		wanted := criteria("selections", key("a", 1))
		narrow(wanted)
		return datedCells(get(client, wanted).Columns)
	}
	missing := get(client, criteria("selections", key("a", 2)))
	return facts{
		"columns": cells(func(wanted *tablestore.SingleRowQueryCriteria) {
			wanted.ColumnsToGet = []string{"d", "b", "nothing"}
		}),
		"column range": cells(func(wanted *tablestore.SingleRowQueryCriteria) {
			wanted.SetStartColumn("b")
			wanted.SetEndtColumn("d")
		}),
		"two versions": cells(func(wanted *tablestore.SingleRowQueryCriteria) {
			wanted.ColumnsToGet = []string{"a"}
			wanted.MaxVersion = 2
		}),
		"times": cells(func(wanted *tablestore.SingleRowQueryCriteria) {
			wanted.ColumnsToGet = []string{"a"}
			wanted.MaxVersion = 0
			wanted.TimeRange = &tablestore.TimeRange{Start: base + 1, End: base + 2}
		}),
		"one time": cells(func(wanted *tablestore.SingleRowQueryCriteria) {
			wanted.ColumnsToGet = []string{"a"}
			wanted.MaxVersion = 0
			wanted.TimeRange = &tablestore.TimeRange{Specific: base + 2}
		}),
		"no such column": cells(func(wanted *tablestore.SingleRowQueryCriteria) {
			wanted.ColumnsToGet = []string{"nothing"}
		}),
		"missing row": facts{
			"key": printedKey(missing.PrimaryKey), "cells": plainCells(missing.Columns),
			"units": units(missing.ConsumedCapacityUnit),
		},
	}
}

// wideRow: as many columns as one request may write, twice, and selections of them.
func wideRow(client *tablestore.TableStoreClient) facts {
	create(client, "wide", 1)
	for part := 0; part < 2; part++ {
		change := &tablestore.UpdateRowChange{TableName: "wide", PrimaryKey: key("wide", 1)}
		change.SetCondition(tablestore.RowExistenceExpectation_IGNORE)
		for number := part * 1024; number < (part+1)*1024; number++ {
			change.PutColumn(fmt.Sprintf("c%04d", number), int64(number))
		}
		_, err := client.UpdateRow(&tablestore.UpdateRowRequest{UpdateRowChange: change})
		must(err)
	}
	whole := get(client, criteria("wide", key("wide", 1)))
	var sum int64
	for _, cell := range whole.Columns {
		sum += cell.Value.(int64)
	}
	some := criteria("wide", key("wide", 1))
	for number := 0; number < 2048; number += 16 {
		some.AddColumnToGet(fmt.Sprintf("c%04d", number))
	}
	page := criteria("wide", key("wide", 1))
	page.SetFilter(&tablestore.PaginationFilter{Offset: 1500, Limit: 2})
	return facts{
		"columns":   len(whole.Columns),
		"first":     whole.Columns[0].ColumnName,
		"last":      whole.Columns[len(whole.Columns)-1].ColumnName,
		"sum":       sum,
		"selection": len(get(client, some).Columns),
		"page":      plainCells(get(client, page).Columns),
	}
}

// updateRow: put, delete one version, delete all of them, increment, all in one request.
func updateRow(client *tablestore.TableStoreClient) facts {
	create(client, "update_row", 3)
	change := putChange("update_row", key("a", 1))
	change.AddColumnWithTimestamp("one", "old", base+1)
	change.AddColumnWithTimestamp("one", "new", base+2)
	change.AddColumnWithTimestamp("all", "old", base+1)
	change.AddColumnWithTimestamp("all", "new", base+2)
	change.AddColumnWithTimestamp("kept", "kept", base+1)
	putRow(client, change)

	update := updateChange("update_row", key("a", 1))
	update.PutColumnWithTimestamp("put", "put", base+5)
	update.DeleteColumnWithTimestamp("one", base+2)
	update.DeleteColumn("all")
	update.IncrementColumn("count", 7)
	update.SetReturnIncrementValue()
	update.AppendIncrementColumnToReturn("count")
	first, err := client.UpdateRow(&tablestore.UpdateRowRequest{UpdateRowChange: update})
	must(err)
	again := updateChange("update_row", key("a", 1))
	again.IncrementColumn("count", -10)
	again.SetReturnIncrementValue()
	again.AppendIncrementColumnToReturn("count")
	second, err := client.UpdateRow(&tablestore.UpdateRowRequest{UpdateRowChange: again})
	must(err)

	wanted := criteria("update_row", key("a", 1))
	wanted.ColumnsToGet = []string{"all", "kept", "one", "put"}
	wanted.MaxVersion = 10
	onText := updateChange("update_row", key("a", 1))
	onText.IncrementColumn("kept", 1)
	_, refused := client.UpdateRow(&tablestore.UpdateRowRequest{UpdateRowChange: onText})
	return facts{
		"incremented":       plainCells(first.Columns),
		"incremented again": plainCells(second.Columns),
		"units":             units(first.ConsumedCapacityUnit),
		"cells":             datedCells(get(client, wanted).Columns),
		"increment of text": refusal(refused),
	}
}

// deleteRow: a row that is there, and one that is not.
func deleteRow(client *tablestore.TableStoreClient) facts {
	create(client, "delete_row", 1)
	putRow(client, withColumn(putChange("delete_row", key("a", 1)), "c", "x"))
	deleted, err := client.DeleteRow(deletion("delete_row", key("a", 1)))
	must(err)
	_, err = client.DeleteRow(deletion("delete_row", key("absent", 1)))
	must(err)
	left := get(client, criteria("delete_row", key("a", 1)))
	return facts{"units": units(deleted.ConsumedCapacityUnit), "left": plainCells(left.Columns)}
}

// conditions: existence and columns, those that hold and those that do not, and what stays.
func conditions(client *tablestore.TableStoreClient) facts {
	create(client, "conditions", 1)
	absent := withColumn(putChange("conditions", key("a", 1)), "price", int64(10))
	absent.SetCondition(tablestore.RowExistenceExpectation_EXPECT_NOT_EXIST)
	_, inserted := client.PutRow(&tablestore.PutRowRequest{PutRowChange: absent})
	_, insertedTwice := client.PutRow(&tablestore.PutRowRequest{PutRowChange: absent})

	present := updateChange("conditions", key("b", 1))
	present.PutColumn("price", int64(1))
	present.SetCondition(tablestore.RowExistenceExpectation_EXPECT_EXIST)
	_, updatedAbsent := client.UpdateRow(
		&tablestore.UpdateRowRequest{UpdateRowChange: present})

	raise := func(least int64) error {
		change := updateChange("conditions", key("a", 1))
		change.PutColumn("price", int64(20))
		change.SetCondition(tablestore.RowExistenceExpectation_EXPECT_EXIST)
		change.SetColumnCondition(tablestore.NewSingleColumnCondition(
			"price", tablestore.CT_GREATER_EQUAL, least))
		_, err := client.UpdateRow(&tablestore.UpdateRowRequest{UpdateRowChange: change})
		return err
	}
	tooHigh, held := raise(11), raise(10)

	remove := deletion("conditions", key("a", 1))
	either := tablestore.NewCompositeColumnCondition(tablestore.LO_OR)
	either.AddFilter(tablestore.NewSingleColumnCondition("price", tablestore.CT_EQUAL, int64(1)))
	either.AddFilter(tablestore.NewSingleColumnCondition("price", tablestore.CT_EQUAL, int64(2)))
	remove.DeleteRowChange.SetColumnCondition(either)
	_, neither := client.DeleteRow(remove)
	left := get(client, criteria("conditions", key("a", 1)))
	return facts{
		"inserted":        refusal(inserted),
		"inserted twice":  refusal(insertedTwice),
		"update of none":  refusal(updatedAbsent),
		"column fails":    refusal(tooHigh),
		"column holds":    refusal(held),
		"composite fails": refusal(neither),
		"left":            plainCells(left.Columns),
	}
}

// autoIncrement: keys that the server makes, returned and readable.
func autoIncrement(client *tablestore.TableStoreClient) facts {
	meta := &tablestore.TableMeta{TableName: "auto"}
	meta.AddPrimaryKeyColumn("pk", tablestore.PrimaryKeyType_STRING)
	meta.AddPrimaryKeyColumnOption(
		"seq", tablestore.PrimaryKeyType_INTEGER, tablestore.AUTO_INCREMENT)
	_, err := client.CreateTable(&tablestore.CreateTableRequest{
		TableMeta:          meta,
		TableOption:        tablestore.NewTableOptionWithMaxVersion(1),
		ReservedThroughput: &tablestore.ReservedThroughput{},
	})
	must(err)
	var made []tablestore.PrimaryKey
	for number := int64(0); number < 3; number++ {
		marked := &tablestore.PrimaryKey{}
		marked.AddPrimaryKeyColumn("pk", "a")
		marked.AddPrimaryKeyColumnWithAutoIncrement("seq")
		change := withColumn(putChange("auto", marked), "number", number)
		change.SetReturnPk()
		put, err := client.PutRow(&tablestore.PutRowRequest{PutRowChange: change})
		must(err)
		made = append(made, put.PrimaryKey)
	}
	sequence := func(number int) int64 { return made[number].PrimaryKeys[1].Value.(int64) }
	last := get(client, criteria("auto", &made[2]))
	return facts{
		"partition key": printed(made[0].PrimaryKeys[0].Value),
		"increasing":    sequence(0) < sequence(1) && sequence(1) < sequence(2),
		"last":          plainCells(last.Columns),
	}
}

// --- requests --------------------------------------------------------------------------------

// key is one of the tables that `create` makes.
func key(pk string, n int64) *tablestore.PrimaryKey {
	made := &tablestore.PrimaryKey{}
	made.AddPrimaryKeyColumn("pk", pk)
	made.AddPrimaryKeyColumn("n", n)
	return made
}

func createBinary(client *tablestore.TableStoreClient, name string) {
	meta := &tablestore.TableMeta{TableName: name}
	meta.AddPrimaryKeyColumn("b", tablestore.PrimaryKeyType_BINARY)
	_, err := client.CreateTable(&tablestore.CreateTableRequest{
		TableMeta:          meta,
		TableOption:        tablestore.NewTableOptionWithMaxVersion(1),
		ReservedThroughput: &tablestore.ReservedThroughput{},
	})
	must(err)
}

func putChange(table string, key *tablestore.PrimaryKey) *tablestore.PutRowChange {
	change := &tablestore.PutRowChange{TableName: table, PrimaryKey: key}
	change.SetCondition(tablestore.RowExistenceExpectation_IGNORE)
	return change
}

func withColumn(
	change *tablestore.PutRowChange, name string, value any,
) *tablestore.PutRowChange {
	change.AddColumn(name, value)
	return change
}

func putRow(client *tablestore.TableStoreClient, change *tablestore.PutRowChange) {
	_, err := client.PutRow(&tablestore.PutRowRequest{PutRowChange: change})
	must(err)
}

func updateChange(table string, key *tablestore.PrimaryKey) *tablestore.UpdateRowChange {
	change := &tablestore.UpdateRowChange{TableName: table, PrimaryKey: key}
	change.SetCondition(tablestore.RowExistenceExpectation_IGNORE)
	return change
}

func deletion(table string, key *tablestore.PrimaryKey) *tablestore.DeleteRowRequest {
	change := &tablestore.DeleteRowChange{TableName: table, PrimaryKey: key}
	change.SetCondition(tablestore.RowExistenceExpectation_IGNORE)
	return &tablestore.DeleteRowRequest{DeleteRowChange: change}
}

// criteria asks for the newest version of every column.
func criteria(table string, key *tablestore.PrimaryKey) *tablestore.SingleRowQueryCriteria {
	return &tablestore.SingleRowQueryCriteria{TableName: table, PrimaryKey: key, MaxVersion: 1}
}

func get(
	client *tablestore.TableStoreClient, wanted *tablestore.SingleRowQueryCriteria,
) *tablestore.GetRowResponse {
	got, err := client.GetRow(&tablestore.GetRowRequest{SingleRowQueryCriteria: wanted})
	must(err)
	return got
}
