package main

import (
	"encoding/hex"
	"time"

	"github.com/aliyun/aliyun-tablestore-go-sdk/tablestore"
)

const (
	createMapping = "CREATE TABLE stated (pk VARCHAR(1024), n BIGINT(20), i BIGINT(20), d DOUBLE," +
		" b BOOL, s MEDIUMTEXT, x MEDIUMBLOB, PRIMARY KEY (pk, n))"
	selectGroups = "SELECT pk, count(*) AS number, sum(i) AS total, max(d) FROM stated" +
		" GROUP BY pk ORDER BY pk"
	selectTimes = "SELECT from_unixtime(1668585138.995)," +
		" timediff(from_unixtime(1668585138.995),from_unixtime(1668585013.712))," +
		" date(from_unixtime(1668585138.995))"
)

// sql: statements of every kind that this version of the SDK names, and those that write. It hands
// over no count of the rows that they wrote.
func sql(client *tablestore.TableStoreClient) facts {
	create(client, "stated", 1)
	first, second := putChange("stated", key("a", 1)), putChange("stated", key("a", 2))
	for at, name := range []string{"i", "d", "b", "s", "x"} {
		first.AddColumn(name, list{int64(7), 0.5, true, "é 值", []byte{0, 255}}[at])
		second.AddColumn(name, list{int64(-1), 2.0, false, "other", []byte{1}}[at])
	}
	putRow(client, first)
	putRow(client, second)
	putRow(client, putChange("stated", key("b", 1)))
	created := asked(client, createMapping)
	everything := asked(client, "SELECT * FROM stated")
	seen := facts{
		"everything": resultOf(everything),
		"consumed":   consumedBy(everything.SQLQueryConsumed),
		"nothing":    resultOf(asked(client, "SELECT i, s FROM stated WHERE n > 5")),
		"groups":     resultOf(asked(client, selectGroups)),
		"last":       resultOf(asked(client, "SELECT n, s FROM stated ORDER BY i DESC LIMIT 1")),
		"times":      resultOf(asked(client, selectTimes)),
		"tables":     resultOf(asked(client, "SHOW TABLES")),
		"described":  resultOf(asked(client, "DESCRIBE stated")),
	}
	asked(client, "INSERT INTO stated (pk, n, i) VALUES ('c', 1, 40), ('c', 2, 50)")
	asked(client, "UPDATE stated SET i = i + 2, s = 'new' WHERE pk = 'c' AND n = 1")
	asked(client, "DELETE FROM stated WHERE pk = 'c' AND n = 2")
	seen["changed"] = resultOf(asked(client, "SELECT n, i, s FROM stated WHERE pk = 'c'"))
	_, refused := client.SQLQuery(&tablestore.SQLQueryRequest{Query: "SELECT nope FROM stated"})
	seen["refused"] = refusal(refused)
	dropped := asked(client, "DROP MAPPING TABLE stated")
	seen["without"] = list{withoutRows(created), withoutRows(dropped)}
	seen["left"] = resultOf(asked(client, "DESCRIBE stated"))
	return seen
}

func asked(client *tablestore.TableStoreClient, text string) *tablestore.SQLQueryResponse {
	answer, err := client.SQLQuery(&tablestore.SQLQueryRequest{Query: text})
	must(err)
	return answer
}

// withoutRows names the statement and counts the columns; there is no result set where it is right.
func withoutRows(answer *tablestore.SQLQueryResponse) list {
	columns := 0
	if answer.ResultSet != nil {
		columns = len(answer.ResultSet.Columns())
	}
	return list{answer.StmtType.String(), columns}
}

// consumedBy tells the tables, and the search indexes if there should be one.
func consumedBy(consumed *tablestore.SQLQueryConsumed) list {
	told := list{}
	for _, each := range consumed.TableConsumes {
		unit := each.ConsumedCapacityUnit
		told = append(told, list{each.TableName, unit.Read, unit.Write})
	}
	for _, each := range consumed.SearchConsumes {
		told = append(told, list{each.TableName, each.IndexName})
	}
	return told
}

// getter is what the SDK reads a column of one type with: it refuses every other one.
type getter struct {
	name string
	get  func(row tablestore.SQLRow, column int) (any, error)
}

var getters = map[tablestore.ColumnType]getter{
	tablestore.ColumnType_STRING: {"STRING", func(row tablestore.SQLRow, column int) (any, error) {
		return row.GetString(column)
	}},
	tablestore.ColumnType_INTEGER: {"INTEGER", func(row tablestore.SQLRow, column int) (any, error) {
		return row.GetInt64(column)
	}},
	tablestore.ColumnType_BOOLEAN: {"BOOLEAN", func(row tablestore.SQLRow, column int) (any, error) {
		return row.GetBool(column)
	}},
	tablestore.ColumnType_DOUBLE: {"DOUBLE", func(row tablestore.SQLRow, column int) (any, error) {
		value, err := row.GetFloat64(column)
		return facts{"double": value}, err
	}},
	tablestore.ColumnType_BINARY: {"BINARY", func(row tablestore.SQLRow, column int) (any, error) {
		value, err := row.GetBytes(column)
		return facts{"binary": hex.EncodeToString(value)}, err
	}},
	tablestore.ColumnType_DATETIME: {"DATETIME", func(row tablestore.SQLRow, column int) (any, error) {
		value, err := row.GetDateTime(column)
		return value.UTC().Format(time.RFC3339Nano), err
	}},
	tablestore.ColumnType_TIME: {"TIME", func(row tablestore.SQLRow, column int) (any, error) {
		value, err := row.GetTime(column)
		return value.Nanoseconds(), err
	}},
	tablestore.ColumnType_DATE: {"DATE", func(row tablestore.SQLRow, column int) (any, error) {
		value, err := row.GetDate(column)
		return value.Format("2006-01-02"), err
	}},
}

// resultOf tells which statement was answered, columns with their types, and rows.
func resultOf(answer *tablestore.SQLQueryResponse) facts {
	columns, rows := list{}, list{}
	for _, column := range answer.ResultSet.Columns() {
		columns = append(columns, list{column.Name, getters[column.Type].name})
	}
	for answer.ResultSet.HasNext() {
		row := answer.ResultSet.Next()
		cells := list{}
		for at, column := range answer.ResultSet.Columns() {
			cells = append(cells, cellOf(row, at, column))
		}
		rows = append(rows, cells)
	}
	return facts{"statement": answer.StmtType.String(), "columns": columns, "rows": rows}
}

func cellOf(row tablestore.SQLRow, at int, column *tablestore.SQLColumnInfo) any {
	null, err := row.IsNull(at)
	must(err)
	if null {
		return nil
	}
	value, err := getters[column.Type].get(row, at)
	must(err)
	return value
}
