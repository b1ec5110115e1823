// Command consumer consumes a tunnel with the vendor's worker and prints what it is told.
//
// Arguments: the endpoint, an instance, a tunnel id, a timeout and a
// heartbeat interval in seconds. Output: one JSON array for each record, channel, action and key,
// as they come. It ends when its standard input does, and then shuts its worker down.
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
	if len(os.Args) != 6 {
		fmt.Fprintln(os.Stderr, "usage: consumer ENDPOINT INSTANCE TUNNEL TIMEOUT HEARTBEAT")
		os.Exit(2)
	}
	client := tunnel.NewTunnelClient(os.Args[1], os.Args[2], "widerow", "widerow")
	config := &tunnel.TunnelWorkerConfig{
		HeartbeatTimeout:  seconds(os.Args[4]),
		HeartbeatInterval: seconds(os.Args[5]),
		ProcessorFactory: &tunnel.SimpleProcessFactory{
			CpInterval:  time.Second,
			ProcessFunc: show,
		},
	}
	daemon := tunnel.NewTunnelDaemon(client, os.Args[3], config)
	go func() {
		if err := daemon.Run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	io.Copy(io.Discard, os.Stdin)
	daemon.Close()
}

var printing sync.Mutex

// show prints the records of a page; each has all that the test needs to build the table.
func show(context *tunnel.ChannelContext, records []*tunnel.Record) error {
	printing.Lock()
	defer printing.Unlock()
	for _, record := range records {
		columns := map[string]interface{}{}
		for _, column := range record.Columns {
			columns[*column.Name] = column.Value
		}
		key := record.PrimaryKey.PrimaryKeys[0].Value
		line, err := json.Marshal([]interface{}{context.ChannelId, int(record.Type), key, columns})
		if err != nil {
			return err
		}
		fmt.Println(string(line))
	}
	return nil
}

func seconds(text string) time.Duration {
	count, err := strconv.Atoi(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return time.Duration(count) * time.Second
}
