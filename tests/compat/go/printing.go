package main

import (
	"encoding/hex"
	"time"

	"github.com/aliyun/aliyun-tablestore-go-sdk/tablestore"
)

// facts is what a scenario saw, ready for JSON.
type facts = map[string]any

// list is a JSON array of values of several kinds.
type list = []any

// base is the version that versions are written and printed relative to; a table takes versions
// within a day of now.
var base = time.Now().UnixMilli()

// printed keeps the type of a value visible in JSON.
func printed(value any) any {
	switch typed := value.(type) {
	case float64:
		return facts{"double": typed}
	case []byte:
		return facts{"binary": hex.EncodeToString(typed)}
	default:
		return typed
	}
}

func printedKey(key tablestore.PrimaryKey) list {
	columns := list{}
	for _, column := range key.PrimaryKeys {
		columns = append(columns, list{column.ColumnName, printed(column.Value)})
	}
	return columns
}

// datedCells gives name, value and version of every cell.
func datedCells(cells []*tablestore.AttributeColumn) list {
	dated := list{}
	for _, cell := range cells {
		dated = append(dated, list{cell.ColumnName, printed(cell.Value), cell.Timestamp - base})
	}
	return dated
}

// plainCells gives name and value, for cells that the server dated.
func plainCells(cells []*tablestore.AttributeColumn) list {
	plain := list{}
	for _, cell := range cells {
		plain = append(plain, list{cell.ColumnName, printed(cell.Value)})
	}
	return plain
}

func units(used *tablestore.ConsumedCapacityUnit) list {
	return list{used.Read, used.Write}
}

// refusal is what an error says; a call that was expected to fail and did not is a finding too.
func refusal(err error) any {
	if err == nil {
		return "no error"
	}
	refused, ok := err.(*tablestore.OtsError)
	if !ok {
		return facts{"client error": err.Error()}
	}
	return facts{
		"status":     refused.HttpStatusCode,
		"code":       refused.Code,
		"message":    refused.Message,
		"request id": len(refused.RequestId),
	}
}
