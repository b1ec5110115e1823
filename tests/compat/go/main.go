// Command actions makes every call of the Go SDK once and prints what it was told.
//
// Arguments: which scenarios, the endpoint, an instance that nobody else uses. Scenarios are those of
// "actions" or those of "streams", for which partitions must split soon. Output: one JSON object, from
// the name of a scenario to what it saw; one that did not come to its end says why under "panic".
// What is right is for the tests to say, not for this program.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/aliyun/aliyun-tablestore-go-sdk/tablestore"
	"github.com/aliyun/aliyun-tablestore-go-sdk/tablestore/otsprotocol"
)

// scenario uses tables of its own and returns what it saw.
type scenario func(client *tablestore.TableStoreClient) facts

var scenarios = map[string]map[string]scenario{"actions": ofActions, "streams": ofStreams}

var ofStreams = map[string]scenario{"streams": streams, "split": streamSplit}

var ofActions = map[string]scenario{
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
	"indexes":         indexes,
	"delivery":        delivery,
	"searches":        searches,
	"sql":             sql,

	"series tables":      seriesTables,
	"series":             measured(otsprotocol.RowsSerializeType_RST_FLAT_BUFFER),
	"series as messages": measured(otsprotocol.RowsSerializeType_RST_PROTO_BUFFER),
	"keyed series":       keyedSeries,
	"analytical stores":  analyticalStores,
	"last points":        lastPoints,
	"changes of points":  pointChanges,
}

// hasty is a client that does not repeat what was refused: others repeat conflicts for seconds.
var hasty *tablestore.TableStoreClient

func main() {
	if len(os.Args) != 4 || scenarios[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: actions actions|streams ENDPOINT INSTANCE")
		os.Exit(2)
	}
	endpoint, instance := os.Args[2], os.Args[3]
	client := tablestore.NewClient(endpoint, instance, "widerow", "widerow")
	once := tablestore.NewDefaultTableStoreConfig()
	once.RetryTimes = 0
	hasty = tablestore.NewClientWithConfig(endpoint, instance, "widerow", "widerow", "", once)
	seriesClient = tablestore.NewTimeseriesClient(endpoint, instance, "widerow", "widerow")
	seen := map[string]facts{}
	for name, run := range scenarios[os.Args[1]] {
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
