package main

import (
	"time"

	"github.com/aliyun/aliyun-tablestore-go-sdk/tablestore"
)

// tables: CreateTable with everything that it takes, ListTable, DescribeTable, DeleteTable.
func tables(client *tablestore.TableStoreClient) facts {
	meta := &tablestore.TableMeta{TableName: "tables_all"}
	meta.AddPrimaryKeyColumn("s", tablestore.PrimaryKeyType_STRING)
	meta.AddPrimaryKeyColumn("i", tablestore.PrimaryKeyType_INTEGER)
	meta.AddPrimaryKeyColumn("b", tablestore.PrimaryKeyType_BINARY)
	meta.AddPrimaryKeyColumnOption(
		"seq", tablestore.PrimaryKeyType_INTEGER, tablestore.AUTO_INCREMENT)
	meta.AddDefinedColumn("di", tablestore.DefinedColumn_INTEGER)
	meta.AddDefinedColumn("dd", tablestore.DefinedColumn_DOUBLE)
	meta.AddDefinedColumn("db", tablestore.DefinedColumn_BOOLEAN)
	meta.AddDefinedColumn("ds", tablestore.DefinedColumn_STRING)
	meta.AddDefinedColumn("dx", tablestore.DefinedColumn_BINARY)
	updatable := false
	options := tablestore.NewTableOption(86400, 3)
	options.DeviationCellVersionInSec = 3600
	options.AllowUpdate = &updatable
	keyType, keyID, role := tablestore.SSE_BYOK, "key-1", "acs:ram::1:role/kms"
	_, err := client.CreateTable(&tablestore.CreateTableRequest{
		TableMeta:          meta,
		TableOption:        options,
		ReservedThroughput: &tablestore.ReservedThroughput{Readcap: 2, Writecap: 1},
		StreamSpec: &tablestore.StreamSpecification{
			EnableStream: true, ExpirationTime: 24, OriginColumnsToGet: []string{"di", "ds"},
		},
		SSESpecification: &tablestore.SSESpecification{
			Enable: true, KeyType: &keyType, KeyId: &keyID, RoleArn: &role,
		},
	})
	must(err)
	create(client, "tables_plain", 1)
	described, plain := describe(client, "tables_all"), describe(client, "tables_plain")
	listed, err := client.ListTable()
	must(err)
	deleted, err := client.DeleteTable(&tablestore.DeleteTableRequest{TableName: "tables_all"})
	must(err)
	_, err = client.DescribeTable(&tablestore.DescribeTableRequest{TableName: "tables_all"})
	return facts{
		"described": described,
		"plain":     plain,
		"listed":    tablesOf(listed.TableNames, "tables_"),
		"deleted":   len(deleted.RequestId),
		"gone":      refusal(err),
	}
}

// updateTable: the SDK reads the options and the stream of every answer unseen.
func updateTable(client *tablestore.TableStoreClient) facts {
	create(client, "update", 1)
	options := tablestore.NewTableOption(172800, 5)
	options.DeviationCellVersionInSec = 7200
	changed, err := client.UpdateTable(
		&tablestore.UpdateTableRequest{TableName: "update", TableOption: options})
	must(err)
	streaming, err := client.UpdateTable(&tablestore.UpdateTableRequest{
		TableName:  "update",
		StreamSpec: &tablestore.StreamSpecification{EnableStream: true, ExpirationTime: 48},
	})
	must(err)
	stopped, err := client.UpdateTable(&tablestore.UpdateTableRequest{
		TableName:  "update",
		StreamSpec: &tablestore.StreamSpecification{EnableStream: false},
	})
	must(err)
	_, tooSoon := client.UpdateTable(&tablestore.UpdateTableRequest{
		TableName:          "update",
		ReservedThroughput: &tablestore.ReservedThroughput{Readcap: 10, Writecap: 10},
	})
	return facts{
		"options":           optionsOf(changed.TableOption),
		"options stream":    changed.StreamDetails.EnableStream,
		"throughput":        list{changed.ReservedThroughput.Readcap, changed.ReservedThroughput.Writecap},
		"stream":            streamOf(streaming.StreamDetails),
		"stopped":           streamOf(stopped.StreamDetails),
		"described":         describe(client, "update"),
		"throughput change": refusal(tooSoon),
	}
}

// definedColumns: AddDefinedColumn and DeleteDefinedColumn, and what they refuse.
func definedColumns(client *tablestore.TableStoreClient) facts {
	create(client, "defined", 1)
	add := &tablestore.AddDefinedColumnRequest{TableName: "defined"}
	add.AddDefinedColumn("age", tablestore.DefinedColumn_INTEGER)
	add.AddDefinedColumn("city", tablestore.DefinedColumn_STRING)
	_, err := client.AddDefinedColumn(add)
	must(err)
	added := describe(client, "defined")["defined"]
	_, twice := client.AddDefinedColumn(add)
	remove := &tablestore.DeleteDefinedColumnRequest{
		TableName: "defined", DefinedColumns: []string{"age"},
	}
	_, err = client.DeleteDefinedColumn(remove)
	must(err)
	_, absent := client.DeleteDefinedColumn(remove)
	return facts{
		"added":   added,
		"twice":   refusal(twice),
		"removed": describe(client, "defined")["defined"],
		"absent":  refusal(absent),
	}
}

// create makes a table of the key ("pk" STRING, "n" INTEGER).
func create(client *tablestore.TableStoreClient, name string, maxVersions int) {
	meta := &tablestore.TableMeta{TableName: name}
	meta.AddPrimaryKeyColumn("pk", tablestore.PrimaryKeyType_STRING)
	meta.AddPrimaryKeyColumn("n", tablestore.PrimaryKeyType_INTEGER)
	_, err := client.CreateTable(&tablestore.CreateTableRequest{
		TableMeta:          meta,
		TableOption:        tablestore.NewTableOptionWithMaxVersion(maxVersions),
		ReservedThroughput: &tablestore.ReservedThroughput{},
	})
	must(err)
}

func describe(client *tablestore.TableStoreClient, name string) facts {
	described, err := client.DescribeTable(&tablestore.DescribeTableRequest{TableName: name})
	must(err)
	keyColumns, defined := list{}, list{}
	for _, column := range described.TableMeta.SchemaEntry {
		keyColumns = append(
			keyColumns, list{*column.Name, *column.Type, column.Option != nil})
	}
	for _, column := range described.TableMeta.DefinedColumns {
		defined = append(defined, list{column.Name, column.ColumnType})
	}
	throughput, sse := described.ReservedThroughput, described.SSEDetails
	return facts{
		"name":         described.TableMeta.TableName,
		"key":          keyColumns,
		"defined":      defined,
		"options":      optionsOf(described.TableOption),
		"allow update": *described.TableOption.AllowUpdate,
		"full row":     *described.TableOption.UpdateFullRow,
		"throughput":   list{throughput.Readcap, throughput.Writecap},
		"stream":       streamOf(described.StreamDetails),
		"indexes":      len(described.IndexMetas),
		"encryption":   list{sse.Enable, sse.KeyType.String(), sse.KeyId, sse.RoleArn},
	}
}

func optionsOf(options *tablestore.TableOption) list {
	return list{options.TimeToAlive, options.MaxVersion, options.DeviationCellVersionInSec}
}

// streamOf tells times only as far as they are always the same: the last one is in microseconds.
func streamOf(stream *tablestore.StreamDetails) any {
	if !stream.EnableStream {
		return "off"
	}
	age := time.Since(time.UnixMicro(stream.LastEnableTime))
	return facts{
		"hours":   stream.ExpirationTime,
		"columns": stream.OriginColumnsToGet,
		"has id":  *stream.StreamId != "",
		"recent":  age > -time.Minute && age < time.Minute,
	}
}

// tablesOf leaves those of other scenarios out.
func tablesOf(names []string, prefix string) list {
	own := list{}
	for _, name := range names {
		if len(name) >= len(prefix) && name[:len(prefix)] == prefix {
			own = append(own, name)
		}
	}
	return own
}
