package main

import (
	"time"

	"github.com/aliyun/aliyun-tablestore-go-sdk/tablestore"
)

const buildPatience = 150 * time.Second // for a machine under load

var keyTypes = map[tablestore.PrimaryKeyType]string{
	tablestore.PrimaryKeyType_INTEGER: "INTEGER",
	tablestore.PrimaryKeyType_STRING:  "STRING",
	tablestore.PrimaryKeyType_BINARY:  "BINARY",
}

var definedTypes = map[tablestore.DefinedColumnType]string{
	tablestore.DefinedColumn_INTEGER: "INTEGER",
	tablestore.DefinedColumn_DOUBLE:  "DOUBLE",
	tablestore.DefinedColumn_BOOLEAN: "BOOLEAN",
	tablestore.DefinedColumn_STRING:  "STRING",
	tablestore.DefinedColumn_BINARY:  "BINARY",
}

var phases = map[tablestore.SyncPhase]string{
	tablestore.SyncPhase_FULL: "FULL",
	tablestore.SyncPhase_INCR: "INCR",
}

// indexes: made with the table and later, with its rows and without, read in every way, dropped.
func indexes(client *tablestore.TableStoreClient) facts {
	createIndexed(client)
	seen := facts{
		"described": describedIndexes(client, "indexed"),
		"as table":  describedAsTable(client, "indexed_by_s"),
	}
	listed, err := client.ListTable()
	must(err)
	seen["listed"] = tablesOf(listed.TableNames, "indexed")

	first := putChange("indexed", key("a", 1))
	first.AddColumn("s", "x")
	first.AddColumn("i", int64(7))
	first.AddColumn("d", 0.5)
	first.AddColumn("free", "not in an index")
	putRow(client, first)
	second := withColumn(putChange("indexed", key("a", 2)), "s", "w")
	putRow(client, withColumn(second, "i", int64(7)))
	putRow(client, withColumn(putChange("indexed", key("b", 1)), "i", int64(9)))
	seen["global"] = entries(client, "indexed_by_s", "s", "pk", "n")
	seen["local"] = entries(client, "indexed_by_i", "pk", "i", "n")
	seen["global row"] = entry(client, "indexed_by_s", "s", "x", "pk", "a", "n", int64(1))
	seen["local row"] = entry(client, "indexed_by_i", "pk", "a", "i", int64(7), "n", int64(2))
	seen["batch"] = entriesAtOnce(client)

	moving := updateChange("indexed", key("a", 1))
	moving.PutColumn("s", "y")
	_, err = client.UpdateRow(&tablestore.UpdateRowRequest{UpdateRowChange: moving})
	must(err)
	seen["moved"] = entries(client, "indexed_by_s", "s", "pk", "n")
	_, err = client.DeleteRow(deletion("indexed", key("a", 2)))
	must(err)
	seen["after delete"] = list{
		entries(client, "indexed_by_s", "s", "pk", "n"), entries(client, "indexed_by_i", "pk", "i", "n"),
	}
	later(client, seen)
	dropped(client, seen)
	return seen
}

// later: CreateIndex without the rows that are there, and with them.
func later(client *tablestore.TableStoreClient, seen facts) {
	createIndex(client, "indexed_later", false)
	seen["later"] = entries(client, "indexed_later", "i", "pk", "n")
	touching := updateChange("indexed", key("b", 1))
	touching.PutColumn("d", 1.5)
	_, err := client.UpdateRow(&tablestore.UpdateRowRequest{UpdateRowChange: touching})
	must(err)
	seen["later, row written again"] = entries(client, "indexed_later", "i", "pk", "n")
	createIndex(client, "indexed_whole", true)
	seen["whole"] = whenBuilt(client, "indexed_whole")
	seen["described later"] = describedIndexes(client, "indexed")
}

// dropped: what is refused, DropIndex, and DeleteTable with indexes left.
func dropped(client *tablestore.TableStoreClient, seen facts) {
	direct := putChange("indexed_by_s", composed("s", "x", "pk", "a", "n", int64(1)))
	_, err := client.PutRow(
		&tablestore.PutRowRequest{PutRowChange: withColumn(direct, "i", int64(1))})
	seen["write"] = refusal(err)
	drop := func(name string) error {
		_, err := client.DeleteIndex(
			&tablestore.DeleteIndexRequest{MainTableName: "indexed", IndexName: name})
		return err
	}
	must(drop("indexed_by_s"))
	must(drop("indexed_later"))
	seen["dropped again"] = refusal(drop("indexed_by_s"))
	names := list{}
	for _, each := range describedIndexes(client, "indexed") {
		names = append(names, each.(list)[0])
	}
	seen["left"] = names
	_, err = client.GetRow(&tablestore.GetRowRequest{SingleRowQueryCriteria: criteria(
		"indexed_by_s", composed("s", "y", "pk", "a", "n", int64(1)))})
	seen["read of the dropped"] = refusal(err)
	_, err = client.DeleteTable(&tablestore.DeleteTableRequest{TableName: "indexed"})
	must(err)
	_, err = client.DescribeTable(&tablestore.DescribeTableRequest{TableName: "indexed_by_i"})
	seen["gone"] = refusal(err)
}

func createIndexed(client *tablestore.TableStoreClient) {
	meta := &tablestore.TableMeta{TableName: "indexed"}
	meta.AddPrimaryKeyColumn("pk", tablestore.PrimaryKeyType_STRING)
	meta.AddPrimaryKeyColumn("n", tablestore.PrimaryKeyType_INTEGER)
	meta.AddDefinedColumn("s", tablestore.DefinedColumn_STRING)
	meta.AddDefinedColumn("i", tablestore.DefinedColumn_INTEGER)
	meta.AddDefinedColumn("d", tablestore.DefinedColumn_DOUBLE)
	request := &tablestore.CreateTableRequest{
		TableMeta:          meta,
		TableOption:        tablestore.NewTableOptionWithMaxVersion(1),
		ReservedThroughput: &tablestore.ReservedThroughput{},
	}
	over := &tablestore.IndexMeta{IndexName: "indexed_by_s"}
	over.AddPrimaryKeyColumn("s")
	over.AddPrimaryKeyColumn("pk")
	over.AddDefinedColumn("i")
	over.AddDefinedColumn("d")
	over.SetAsGlobalIndex()
	request.AddIndexMeta(over)
	inside := &tablestore.IndexMeta{IndexName: "indexed_by_i"}
	inside.AddPrimaryKeyColumn("pk")
	inside.AddPrimaryKeyColumn("i")
	inside.AddDefinedColumn("s")
	inside.SetAsLocalIndex()
	request.AddIndexMeta(inside)
	_, err := client.CreateTable(request)
	must(err)
}

// createIndex makes a global index over i that covers s.
func createIndex(client *tablestore.TableStoreClient, name string, withRows bool) {
	meta := &tablestore.IndexMeta{IndexName: name}
	meta.AddPrimaryKeyColumn("i")
	meta.AddDefinedColumn("s")
	_, err := client.CreateIndex(&tablestore.CreateIndexRequest{
		MainTableName: "indexed", IndexMeta: meta, IncludeBaseData: withRows,
	})
	must(err)
}

// whenBuilt waits until the table says that the index is built, and tells its entries.
func whenBuilt(client *tablestore.TableStoreClient, name string) list {
	for deadline := time.Now().Add(buildPatience); ; time.Sleep(20 * time.Millisecond) {
		for _, each := range describedIndexes(client, "indexed") {
			if each.(list)[0] == name && each.(list)[4] == "INCR" {
				return entries(client, name, "i", "pk", "n")
			}
		}
		if time.Now().After(deadline) {
			panic("the index is not built")
		}
	}
}

// describedIndexes: name, key columns, covered columns, type and phase of each.
func describedIndexes(client *tablestore.TableStoreClient, table string) list {
	described, err := client.DescribeTable(&tablestore.DescribeTableRequest{TableName: table})
	must(err)
	told := list{}
	for _, each := range described.IndexMetas {
		kind := "GLOBAL"
		if each.IndexType == tablestore.IT_LOCAL_INDEX {
			kind = "LOCAL"
		}
		told = append(told, list{
			each.IndexName, each.Primarykey, each.DefinedColumns, kind, phases[*each.IndexSyncPhase],
		})
	}
	return told
}

func describedAsTable(client *tablestore.TableStoreClient, name string) list {
	described, err := client.DescribeTable(&tablestore.DescribeTableRequest{TableName: name})
	must(err)
	keyColumns, covered := list{}, list{}
	for _, column := range described.TableMeta.SchemaEntry {
		keyColumns = append(keyColumns, list{*column.Name, keyTypes[*column.Type]})
	}
	for _, column := range described.TableMeta.DefinedColumns {
		covered = append(covered, list{column.Name, definedTypes[column.ColumnType]})
	}
	return list{keyColumns, covered}
}

// composed makes the key of an entry of names and values in turn.
func composed(namesAndValues ...any) *tablestore.PrimaryKey {
	made := &tablestore.PrimaryKey{}
	for at := 0; at < len(namesAndValues); at += 2 {
		made.AddPrimaryKeyColumn(namesAndValues[at].(string), namesAndValues[at+1])
	}
	return made
}

func entry(client *tablestore.TableStoreClient, index string, namesAndValues ...any) list {
	got := get(client, criteria(index, composed(namesAndValues...)))
	return list{printedKey(got.PrimaryKey), plainCells(got.Columns)}
}

// entries reads a whole index, and once more from its end.
func entries(client *tablestore.TableStoreClient, index string, names ...string) list {
	least, most := &tablestore.PrimaryKey{}, &tablestore.PrimaryKey{}
	for _, name := range names {
		least.AddPrimaryKeyColumnWithMinValue(name)
		most.AddPrimaryKeyColumnWithMaxValue(name)
	}
	forward, _ := scan(client, span(index, least, most, tablestore.FORWARD, 2))
	backward, _ := scan(client, span(index, most, least, tablestore.BACKWARD, 2))
	return list{forward, backward}
}

// entriesAtOnce reads one that is there and one that is not.
func entriesAtOnce(client *tablestore.TableStoreClient) list {
	wanted := &tablestore.MultiRowQueryCriteria{TableName: "indexed_by_s", MaxVersion: 1}
	wanted.AddRow(composed("s", "x", "pk", "a", "n", int64(1)))
	wanted.AddRow(composed("s", "nothing", "pk", "a", "n", int64(1)))
	got, err := client.BatchGetRow(&tablestore.BatchGetRowRequest{
		MultiRowQueryCriteria: []*tablestore.MultiRowQueryCriteria{wanted},
	})
	must(err)
	rows := list{}
	for _, row := range got.TableToRowsResult["indexed_by_s"] {
		rows = append(rows, list{printedKey(row.PrimaryKey), plainCells(row.Columns)})
	}
	return rows
}
