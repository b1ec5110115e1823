// Command consumer consumes a tunnel with the vendor's worker and prints what it is told.
//
// Arguments: "consume", the endpoint, an instance, a tunnel id, a timeout and a heartbeat interval in
// seconds. Output: one JSON array for each record, channel, action, key and columns, as they come. It
// ends when its standard input does, and then shuts its worker down, which tells the server. "points"
// does the same with a timeseries table, and prints of the key a map of its columns.
//
// With "manage", the endpoint and an instance it makes every other call of the tunnel client once
// (manage.go), on the table "T", and prints one JSON object of what it was told.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/aliyun/aliyun-tablestore-go-sdk/tunnel"
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == "manage" {
		manage(tunnel.NewTunnelClient(os.Args[2], os.Args[3], "widerow", "widerow"))
		return
	}
	if len(os.Args) != 7 || keys[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: consumer consume|points ENDPOINT INSTANCE TUNNEL TIMEOUT HEARTBEAT")
		fmt.Fprintln(os.Stderr, "       consumer manage ENDPOINT INSTANCE")
		os.Exit(2)
	}
	client := tunnel.NewTunnelClient(os.Args[2], os.Args[3], "widerow", "widerow")
	config := &tunnel.TunnelWorkerConfig{
		HeartbeatTimeout:  seconds(os.Args[5]),
		HeartbeatInterval: seconds(os.Args[6]),
		ProcessorFactory: &tunnel.SimpleProcessFactory{
			CpInterval:  time.Second,
			ProcessFunc: showing(keys[os.Args[1]]),
		},
	}
	daemon := tunnel.NewTunnelDaemon(client, os.Args[4], config)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := daemon.Run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	io.Copy(io.Discard, os.Stdin)
	daemon.Close()
	<-ended
}

var printing sync.Mutex

var actions = map[tunnel.ActionType]string{
	tunnel.AT_Put: "PUT", tunnel.AT_Update: "UPDATE", tunnel.AT_Delete: "DELETE",
}

// keys are what is printed of the key of a record, by command.
var keys = map[string]func(*tunnel.PrimaryKey) any{
	"consume": func(key *tunnel.PrimaryKey) any { return key.PrimaryKeys[0].Value },
	"points":  allOf,
}

func allOf(key *tunnel.PrimaryKey) any {
	columns := facts{}
	for _, column := range key.PrimaryKeys {
		columns[column.ColumnName] = column.Value
	}
	return columns
}

// showing prints the records of a page; each has all that the test needs to build the table.
func showing(
	keyOf func(*tunnel.PrimaryKey) any,
) func(*tunnel.ChannelContext, []*tunnel.Record) error {
	return func(context *tunnel.ChannelContext, records []*tunnel.Record) error {
		printing.Lock()
		defer printing.Unlock()
		for _, record := range records {
			columns := facts{}
			for _, column := range record.Columns {
				columns[*column.Name] = column.Value
			}
			line, err := json.Marshal(
				list{context.ChannelId, actions[record.Type], keyOf(record.PrimaryKey), columns})
			if err != nil {
				return err
			}
			fmt.Println(string(line))
		}
		return nil
	}
}

func seconds(text string) time.Duration {
	count, err := strconv.Atoi(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return time.Duration(count) * time.Second
}
