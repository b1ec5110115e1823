// Command actions makes every call of the Go SDK once and prints what it was told.
//
// Arguments: the endpoint, an instance that nobody else uses. Output: one JSON object, from the
// name of a scenario to what it saw; one that did not come to its end says why under "panic".
// What is right is for the tests to say, not for this program.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/aliyun/aliyun-tablestore-go-sdk/tablestore"
)

// scenario uses tables of its own and returns what it saw.
type scenario func(client *tablestore.TableStoreClient) facts

var scenarios = map[string]scenario{
	"tables":          tables,
	"update table":    updateTable,
	"defined columns": definedColumns,
	"values":          values,
	"selections":      selections,
	"wide row":        wideRow,
	"update row":      updateRow,
	"delete row":      deleteRow,
	"conditions":      conditions,
	"auto-increment":  autoIncrement,
	"batch get":       batchGet,
	"batch write":     batchWrite,
	"atomic batch":    atomicBatch,
	"ranges":          ranges,
	"split points":    splitPoints,
	"long range":      longRange,
	"filters":         filters,
	"errors":          errors,
	"transactions":    transactions,
	"delivery":        delivery,
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: actions ENDPOINT INSTANCE")
		os.Exit(2)
	}
	client := tablestore.NewClient(os.Args[1], os.Args[2], "widerow", "widerow")
	seen := map[string]facts{}
	for name, run := range scenarios {
		seen[name] = attempt(run, client)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	must(encoder.Encode(seen))
}

// attempt runs one scenario. The SDK reads some fields of an answer unseen, so that a missing one
// is a nil dereference in it; the others go on.
func attempt(run scenario, client *tablestore.TableStoreClient) (seen facts) {
	defer func() {
		if why := recover(); why != nil {
			seen = facts{"panic": fmt.Sprintf("%v\n%s", why, debug.Stack())}
		}
	}()
	return run(client)
}

// must stops the scenario: a call that should succeed did not.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
