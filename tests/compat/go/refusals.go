package main

import "github.com/aliyun/aliyun-tablestore-go-sdk/tablestore"

// errors: what programs branch on, as the SDK hands it over.
func errors(client *tablestore.TableStoreClient) facts {
	create(client, "errors", 1)
	read := func(table string, key *tablestore.PrimaryKey) any {
		_, err := client.GetRow(
			&tablestore.GetRowRequest{SingleRowQueryCriteria: criteria(table, key)})
		return refusal(err)
	}
	short, misnamed, mistyped := &tablestore.PrimaryKey{}, key("a", 1), key("a", 1)
	short.AddPrimaryKeyColumn("pk", "a")
	misnamed.PrimaryKeys[1].ColumnName = "m"
	mistyped.PrimaryKeys[1].Value = "one"
	infinite := &tablestore.PrimaryKey{}
	infinite.AddPrimaryKeyColumn("pk", "a")
	infinite.AddPrimaryKeyColumnWithMinValue("n")

	meta := &tablestore.TableMeta{TableName: "errors"}
	meta.AddPrimaryKeyColumn("pk", tablestore.PrimaryKeyType_STRING)
	_, exists := client.CreateTable(&tablestore.CreateTableRequest{
		TableMeta:          meta,
		TableOption:        tablestore.NewTableOptionWithMaxVersion(1),
		ReservedThroughput: &tablestore.ReservedThroughput{},
	})
	_, put := client.PutRow(&tablestore.PutRowRequest{
		PutRowChange: withColumn(putChange("errors", key("a", 1)), "#1", "x"),
	})
	_, query := client.SQLQuery(&tablestore.SQLQueryRequest{Query: "grant all"})
	return facts{
		"no table":     read("nowhere", key("a", 1)),
		"short key":    read("errors", short),
		"misnamed key": read("errors", misnamed),
		"mistyped key": read("errors", mistyped),
		"infinite key": read("errors", infinite),
		"exists":       refusal(exists),
		"column name":  refusal(put),
		"not offered":  refusal(query),
	}
}
