// Command life goes through the life of the product tables with Oracle's NoSQL driver for Go.
//
// Arguments: the endpoint, "begin" or "end", the file with statements and rows (life.json). "begin"
// makes tables and rows, "end" goes on with them. Output: one JSON object with what was seen; what is
// right is for the tests to say.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/oracle/nosql-go-sdk/nosqldb"
	"github.com/oracle/nosql-go-sdk/nosqldb/auth/cloudsim"
	"github.com/oracle/nosql-go-sdk/nosqldb/logger"
	"github.com/oracle/nosql-go-sdk/nosqldb/nosqlerr"
	"github.com/oracle/nosql-go-sdk/nosqldb/types"
)

const (
	products = "myProducts"
	stock    = "myProducts.stock"
	day      = 24 * time.Hour
	patience = time.Minute
	pause    = 50 * time.Millisecond
)

type facts = map[string]any
type list = []any
type row = *types.MapValue

type query struct {
	Statement string
	Variables map[string]any
	Limit     uint
}

var given struct {
	Tables, Drops                     []string
	Products, Strangers, Shelves      []json.RawMessage
	Cap, None, ChangedCap, PinkCap    json.RawMessage
	LongKey, FullBrim, FirstShelf     json.RawMessage
	Bowlers                           json.RawMessage
	Queries                           []query
	RefusedStatements, RefusedQueries map[string]string
}

var client *nosqldb.Client

func main() {
	text, err := os.ReadFile(os.Args[3])
	must(err)
	must(json.Unmarshal(text, &given))
	client, err = nosqldb.NewClient(nosqldb.Config{
		Mode:                  "cloudsim",
		Endpoint:              os.Args[1],
		AuthorizationProvider: &cloudsim.AccessTokenProvider{TenantID: "anybody"},
		LoggingConfig:         nosqldb.LoggingConfig{Logger: logger.New(os.Stderr, logger.Error, false)},
		RequestConfig: nosqldb.RequestConfig{
			Consistency:         types.Absolute,
			TableRequestTimeout: time.Minute, // a change waits for a server that was killed
		},
	})
	must(err)
	defer client.Close()
	phase := begin
	if os.Args[2] == "end" {
		phase = end
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	must(encoder.Encode(phase()))
}

// must ends the program: a call that should succeed did not.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func done[T any](result T, err error) T {
	must(err)
	return result
}

func read(text json.RawMessage) row {
	return done(types.NewMapValueFromJSON(string(text)))
}

// with is a row with one more column, or another value of one.
func with(text json.RawMessage, name string, value any) row {
	return read(text).Put(name, value)
}

// refusal is the name of an error's code, as other drivers spell it.
func refusal(err error) string {
	var told *nosqlerr.Error
	if !errors.As(err, &told) {
		return fmt.Sprint(err)
	}
	name := strings.Builder{}
	for at, letter := range told.Code.String() {
		if at > 0 && letter >= 'A' && letter <= 'Z' {
			name.WriteByte('_')
		}
		name.WriteRune(letter)
	}
	return strings.ToUpper(name.String())
}

// named is a state as other drivers spell it.
func named(state types.TableState) string {
	return strings.ToUpper(state.String())
}

// define answers the states of a statement's table: as it was answered, and when it was done.
func define(statement string) (list, error) {
	request := &nosqldb.TableRequest{Statement: statement}
	if strings.HasPrefix(statement, "CREATE TABLE") && !strings.Contains(statement, ".") {
		request.TableLimits = &nosqldb.TableLimits{ReadUnits: 50, WriteUnits: 50, StorageGB: 1}
	}
	result, err := client.DoTableRequest(request)
	if err != nil {
		return nil, err
	}
	first := named(result.State)
	last, err := result.WaitForCompletion(client, patience, pause)
	if err != nil {
		return nil, err
	}
	return list{first, named(last.State)}, nil
}

func defined(statements []string) list {
	states := list{}
	for _, statement := range statements {
		states = append(states, done(define(statement)))
	}
	return states
}

func put(value row, change func(*nosqldb.PutRequest)) *nosqldb.PutResult {
	request := &nosqldb.PutRequest{TableName: products, Value: value}
	if change != nil {
		change(request)
	}
	return done(client.Put(request))
}

func get(table string, key json.RawMessage) *nosqldb.GetResult {
	return done(client.Get(&nosqldb.GetRequest{TableName: table, Key: read(key)}))
}

func happened(result *nosqldb.PutResult) bool {
	return result.Version != nil
}

func order(note string) int64 {
	value := types.NewEmptyMapValue().Put("note", note)
	result := done(client.Put(&nosqldb.PutRequest{TableName: "orders", Value: value}))
	return done(strconv.ParseInt(fmt.Sprint(result.GeneratedValue), 10, 64))
}

func begin() facts {
	states := defined(given.Tables)
	written := list{}
	for _, each := range given.Products {
		written = append(written, happened(put(read(each), nil)))
	}
	return facts{
		"states":     states,
		"put":        facts{"done": written, "generated": list{order("first"), order("second")}},
		"conditions": conditions(),
		"expires":    list{expires(5, defaultTime), expires(3, threeDays)},
		"refused":    refused(),
	}
}

func conditions() facts {
	changed := read(given.ChangedCap)
	absent := put(changed, func(put *nosqldb.PutRequest) {
		put.PutOption, put.ReturnRow = types.PutIfAbsent, true
	})
	ifPresent := func(put *nosqldb.PutRequest) { put.PutOption = types.PutIfPresent }
	found := get(products, given.Cap)
	matched := func(put *nosqldb.PutRequest) {
		put.PutOption, put.MatchVersion, put.ReturnRow = types.PutIfVersion, found.Version, true
	}
	first, stale := put(changed, matched), put(changed, matched)
	return facts{
		"absent": list{happened(absent), absent.ExistingValue},
		"present": list{
			happened(put(changed, ifPresent)), happened(put(with(given.None, "color", "red"), ifPresent)),
		},
		"found":   found.Value,
		"changed": happened(first),
		"stale":   list{happened(stale), stale.ExistingValue},
		"deleted": list{deleted(given.None, nil), deleted(given.Cap, found.Version)},
		"units":   found.ReadUnits,
	}
}

func deleted(key json.RawMessage, version types.Version) bool {
	request := &nosqldb.DeleteRequest{TableName: products, Key: read(key), MatchVersion: version}
	return done(client.Delete(request)).Success
}

func defaultTime(put *nosqldb.PutRequest) {
	put.UseTableTTL = true
}

func threeDays(put *nosqldb.PutRequest) {
	put.TTL = &types.TimeToLive{Value: 3, Unit: types.Days}
}

// expires says whether a row expires at the end of a UTC day, so many days after it was written.
func expires(days int64, change func(*nosqldb.PutRequest)) bool {
	before := time.Now().UnixMilli()
	put(read(given.ChangedCap), change)
	after := time.Now().UnixMilli()
	expiry, length := get(products, given.Cap).ExpirationTime.UnixMilli(), day.Milliseconds()
	return expiry%length == 0 && before+days*length <= expiry && expiry <= after+(days+1)*length
}

func refused() facts {
	seen := facts{}
	for name, statement := range given.RefusedStatements {
		_, err := define(statement)
		seen[name] = refusal(err)
	}
	for name, statement := range given.RefusedQueries {
		_, err := client.Query(&nosqldb.QueryRequest{Statement: statement})
		seen[name] = refusal(err)
	}
	putting := func(value row, exact bool) error {
		_, err := client.Put(&nosqldb.PutRequest{TableName: products, Value: value, ExactMatch: exact})
		return err
	}
	getting := func(table string, key row) error {
		_, err := client.Get(&nosqldb.GetRequest{TableName: table, Key: key})
		return err
	}
	number := types.NewEmptyMapValue().Put("id", 1)
	_, index := client.GetIndexes(&nosqldb.GetIndexesRequest{TableName: products, IndexName: "nosuch"})
	half := types.NewEmptyMapValue().Put("productType", "hat")
	_, several := client.MultiDelete(&nosqldb.MultiDeleteRequest{TableName: products, Key: half})
	strangers := &nosqldb.WriteMultipleRequest{TableName: products}
	for _, each := range given.Strangers {
		add(strangers, products, each, types.PutOption(0))
	}
	_, shards := client.WriteMultiple(strangers)
	large := with(given.ChangedCap, "details", strings.Repeat("x", 600_000))
	for name, err := range map[string]error{
		"get of no table":  getting("nosuch", number),
		"no such index":    index,
		"no such color":    putting(read(given.PinkCap), false),
		"unknown column":   putting(with(given.Cap, "price", 5), true),
		"half a key":       getting(products, read(given.Bowlers)),
		"half a shard key": several,
		"long key":         putting(read(given.LongKey), false),
		"large row":        putting(large, false),
		"two shards":       shards,
	} {
		seen[name] = refusal(err)
	}
	return seen
}

func add(request *nosqldb.WriteMultipleRequest, table string, text json.RawMessage, option types.PutOption) {
	put := &nosqldb.PutRequest{TableName: table, Value: read(text), PutOption: option}
	must(request.AddPutRequest(put, true))
}

func end() facts {
	seen := facts{
		"kept":        get(products, given.Cap).Value,
		"generated":   order("third") > 2,
		"definitions": definitions(),
		"together":    together(),
	}
	answered := list{}
	for _, each := range given.Queries {
		answered = append(answered, pages(each))
	}
	seen["queries"] = answered
	seen["removed"] = removed()
	seen["dropped"] = defined(given.Drops)
	number := types.NewEmptyMapValue().Put("id", 1)
	_, err := client.Get(&nosqldb.GetRequest{TableName: "orders", Key: number})
	seen["gone"] = refusal(err)
	return seen
}

func definitions() facts {
	table := done(client.GetTable(&nosqldb.GetTableRequest{TableName: "MYPRODUCTS"}))
	limits := &nosqldb.TableLimits{ReadUnits: 60, WriteUnits: 50, StorageGB: 1}
	request := &nosqldb.TableRequest{TableName: "orders", TableLimits: limits}
	done(client.DoTableRequestAndWait(request, patience, pause))
	orders := done(client.GetTable(&nosqldb.GetTableRequest{TableName: "orders"}))
	indexes := list{}
	found := done(client.GetIndexes(&nosqldb.GetIndexesRequest{TableName: products})).Indexes
	sort.Slice(found, func(one, other int) bool { return found[one].IndexName < found[other].IndexName })
	for _, each := range found {
		indexes = append(indexes, list{each.IndexName, each.FieldNames})
	}
	usage := done(client.GetTableUsage(&nosqldb.TableUsageRequest{TableName: products}))
	return facts{
		"tables":  done(client.ListTables(&nosqldb.ListTablesRequest{})).Tables,
		"table":   list{named(table.State), table.Limits.ReadUnits},
		"limits":  orders.Limits.ReadUnits,
		"indexes": indexes,
		"usage":   len(usage.UsageRecords),
	}
}

// together writes rows of one shard key, of a table and its child: all of them, or none.
func together() list {
	written := &nosqldb.WriteMultipleRequest{}
	add(written, products, given.FullBrim, types.PutOption(0))
	for _, each := range given.Shelves {
		add(written, stock, each, types.PutOption(0))
	}
	successes := list{}
	for _, each := range done(client.WriteMultiple(written)).ResultSet {
		successes = append(successes, each.Success)
	}
	aborted := &nosqldb.WriteMultipleRequest{}
	first := &nosqldb.DeleteRequest{TableName: stock, Key: read(given.FirstShelf)}
	must(aborted.AddDeleteRequest(first, true))
	add(aborted, stock, given.Shelves[1], types.PutIfAbsent)
	failed := done(client.WriteMultiple(aborted)).FailedOperationIndex
	return list{successes, failed, get(stock, given.FirstShelf).Value}
}

// pages are those of a query that was prepared, each with its rows.
func pages(asked query) list {
	prepared := done(client.Prepare(&nosqldb.PrepareRequest{Statement: asked.Statement}))
	for name, value := range asked.Variables {
		if number, ok := value.(float64); ok {
			value = int(number)
		}
		must(prepared.PreparedStatement.SetVariable(name, value))
	}
	request := &nosqldb.QueryRequest{PreparedStatement: &prepared.PreparedStatement, Limit: asked.Limit}
	seen := list{}
	for {
		seen = append(seen, done(done(client.Query(request)).GetResults()))
		if request.IsDone() {
			return seen
		}
	}
}

func removed() list {
	request := &nosqldb.MultiDeleteRequest{TableName: products, Key: read(given.Bowlers), MaxWriteKB: 1}
	count, batches := 0, 0
	for {
		result := done(client.MultiDelete(request))
		count, batches = count+result.NumDeleted, batches+1
		if result.ContinuationKey == nil {
			break
		}
		request.ContinuationKey = result.ContinuationKey
	}
	version := get(products, given.Cap).Version
	last := deleted(given.Cap, version)
	return list{count, batches > 1, last, deleted(given.Cap, nil)}
}
