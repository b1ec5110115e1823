package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"time"

	"github.com/aliyun/aliyun-tablestore-go-sdk/tunnel"
	"github.com/aliyun/aliyun-tablestore-go-sdk/tunnel/protocol"
)

type facts = map[string]any

type list = []any

// manage makes tunnels of every type, tells what is known of them, stops and goes on with a channel,
// and deletes them.
func manage(client tunnel.TunnelClient) {
	seen := facts{}
	ids := map[string]string{}
	start := uint64(time.Now().Add(-time.Second).UnixNano())
	for _, each := range []*tunnel.CreateTunnelRequest{
		{TunnelName: "base", Type: tunnel.TunnelTypeBaseData},
		{TunnelName: "stream", Type: tunnel.TunnelTypeStream, StreamTunnelConfig: &tunnel.StreamTunnelConfig{
			Flag: protocol.StartOffsetFlag_EARLIEST,
		}},
		{TunnelName: "both", Type: tunnel.TunnelTypeBaseStream, StreamTunnelConfig: &tunnel.StreamTunnelConfig{
			StartOffset: start, EndOffset: start + 3600e9,
		}},
	} {
		each.TableName = "T"
		made, err := client.CreateTunnel(each)
		must(err)
		ids[each.TunnelName] = made.TunnelId
	}
	_, err := client.CreateTunnel(
		&tunnel.CreateTunnelRequest{TableName: "T", TunnelName: "base", Type: tunnel.TunnelTypeBaseData})
	seen["twice"] = refusal(err)
	listed, err := client.ListTunnel(&tunnel.ListTunnelRequest{TableName: "T"})
	must(err)
	seen["listed"] = tunnels(listed.Tunnels, ids)
	for name := range ids {
		seen[name] = described(client, name, ids[name], start)
	}
	seen["rpo"] = rpo(client, ids["both"])
	seen["schedule"] = scheduled(client, ids["both"])
	for name := range ids {
		_, err = client.DeleteTunnel(&tunnel.DeleteTunnelRequest{TableName: "T", TunnelName: name})
		must(err)
	}
	_, err = client.DeleteTunnel(&tunnel.DeleteTunnelRequest{TableName: "T", TunnelName: "base"})
	seen["deleted again"] = refusal(err)
	listed, err = client.ListTunnel(&tunnel.ListTunnelRequest{TableName: "T"})
	must(err)
	seen["left"] = len(listed.Tunnels)
	must(json.NewEncoder(os.Stdout).Encode(seen))
}

// tunnels gives name and type of each, and whether its id is the one that was told.
func tunnels(infos []*tunnel.TunnelInfo, ids map[string]string) list {
	sort.Slice(infos, func(a, b int) bool { return infos[a].TunnelName < infos[b].TunnelName })
	told := list{}
	for _, info := range infos {
		told = append(told, list{
			info.TunnelName, info.TunnelType, info.TableName, info.InstanceName,
			info.TunnelId == ids[info.TunnelName],
		})
	}
	return told
}

func described(client tunnel.TunnelClient, name string, id string, start uint64) facts {
	found, err := client.DescribeTunnel(
		&tunnel.DescribeTunnelRequest{TableName: "T", TunnelName: name})
	must(err)
	channels := list{}
	for _, channel := range found.Channels {
		channels = append(channels, list{
			channel.ChannelType, channel.ChannelStatus, channel.ClientId,
		})
	}
	config := found.Tunnel.StreamTunnelConfig
	age := time.Since(found.Tunnel.CreateTime)
	return facts{
		"id": found.Tunnel.TunnelId == id, "stage": found.Tunnel.Stage,
		"has stream": found.Tunnel.StreamId != "", "expired": found.Tunnel.Expired,
		"recent": age > -time.Minute && age < time.Minute, "channels": channels,
		"flag":  config.Flag.String(),
		"start": config.StartOffset == start, "end": config.EndOffset == start+3600e9,
	}
}

// rpo tells for how many channels there is something, by both calls, and of the tunnel as a whole.
func rpo(client tunnel.TunnelClient, id string) list {
	byTime, err := client.GetRpo(&tunnel.GetRpoRequest{TunnelId: id})
	must(err)
	byOffset, err := client.GetRpoByOffset(&tunnel.GetRpoRequest{TunnelId: id})
	must(err)
	return list{
		byTime.RpoInfos != nil, byTime.TunnelRpoInfos != nil,
		byOffset.RpoInfos != nil, byOffset.TunnelRpoInfos != nil, byOffset.TunnelId == id,
	}
}

// scheduled tells how a channel is described after each order.
func scheduled(client tunnel.TunnelClient, id string) list {
	described := func() *tunnel.DescribeTunnelResponse {
		found, err := client.DescribeTunnel(
			&tunnel.DescribeTunnelRequest{TableName: "T", TunnelName: "both"})
		must(err)
		return found
	}
	channel := described().Channels[0].ChannelId
	told := list{}
	for _, order := range []*tunnel.ScheduleChannel{
		tunnel.SuspendChannel(channel), tunnel.OpenChannel(channel), tunnel.TerminateChannel(channel),
	} {
		_, err := client.Schedule(
			&tunnel.ScheduleRequest{TunnelId: id, Channels: []*tunnel.ScheduleChannel{order}})
		must(err)
		for _, each := range described().Channels {
			if each.ChannelId == channel {
				told = append(told, each.ChannelStatus)
			}
		}
	}
	return told
}

func refusal(err error) any {
	refused, ok := err.(*tunnel.TunnelError)
	if !ok {
		return fmt.Sprint(err)
	}
	return list{refused.Code, refused.Message}
}

// must ends the program: a call that should succeed did not.
func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
