package sessions

import (
	"log"
	"os"
	"testing"

	"github.com/aliyun/aliyun-tablestore-go-sdk/tablestore"
)

const instance = "sessions"

var (
	widerow *Widerow
	client  *tablestore.TableStoreClient
)

func TestMain(m *testing.M) {
	started, err := StartWiderow()
	if err != nil {
		log.Fatal(err)
	}
	widerow = started
	client = tablestore.NewClient(widerow.Endpoint, instance, "widerow", "widerow")
	code := m.Run()
	widerow.Stop()
	os.Exit(code)
}

// fresh gives a test an empty instance with the table of sessions.
func fresh(t *testing.T) {
	t.Helper()
	widerow.Reset(t, instance)
	meta := &tablestore.TableMeta{TableName: "session"}
	meta.AddPrimaryKeyColumn("id", tablestore.PrimaryKeyType_STRING)
	_, err := client.CreateTable(&tablestore.CreateTableRequest{
		TableMeta:          meta,
		TableOption:        tablestore.NewTableOption(3600, 1),
		ReservedThroughput: &tablestore.ReservedThroughput{},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func key() *tablestore.PrimaryKey {
	key := &tablestore.PrimaryKey{}
	key.AddPrimaryKeyColumn("id", "a1")
	return key
}

func put(card string) error {
	change := &tablestore.PutRowChange{TableName: "session", PrimaryKey: key()}
	change.AddColumn("card", card)
	change.SetCondition(tablestore.RowExistenceExpectation_IGNORE)
	_, err := client.PutRow(&tablestore.PutRowRequest{PutRowChange: change})
	return err
}

func get(t *testing.T) interface{} {
	t.Helper()
	wanted := &tablestore.SingleRowQueryCriteria{
		TableName: "session", PrimaryKey: key(), MaxVersion: 1,
	}
	found, err := client.GetRow(&tablestore.GetRowRequest{SingleRowQueryCriteria: wanted})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Columns) == 0 {
		return nil
	}
	return found.Columns[0].Value
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestASessionExpiresAfterAnHour(t *testing.T) {
	fresh(t)
	must(t, put("6777"))
	widerow.Ask(t, "POST", "clock", Fields{"advance": "59m59s"})
	if found := get(t); found != "6777" {
		t.Fatalf("before the hour is over: %v", found)
	}
	widerow.Ask(t, "POST", "clock", Fields{"advance": 1})
	if found := get(t); found != nil {
		t.Fatalf("after an hour: %v", found)
	}
}

func TestNothingIsLeftOfTheTestBefore(t *testing.T) {
	fresh(t)
	if found := get(t); found != nil {
		t.Fatalf("found %v", found)
	}
}

func TestTheSDKAsksAgainWhileTheServerIsBusy(t *testing.T) {
	fresh(t)
	fault := widerow.Ask(t, "POST", "faults", Fields{
		"error": "OTSServerBusy", "action": "PutRow", "count": 2,
	})
	must(t, put("6777"))
	faults := widerow.Ask(t, "GET", "faults", nil)["faults"].([]interface{})
	if struck := faults[0].(map[string]interface{})["struck"]; struck != 2.0 {
		t.Fatalf("fault %v struck %v requests", fault["id"], struck)
	}
}

func TestAWriteThatTimesOutMayHaveBeenMade(t *testing.T) {
	fresh(t)
	widerow.Ask(t, "POST", "faults", Fields{
		"error": "OTSTimeout", "action": "PutRow", "when": "after", "count": 1,
	})
	err := put("6777")
	if failure, is := err.(*tablestore.OtsError); !is || failure.Code != "OTSTimeout" {
		t.Fatalf("the SDK says %v", err)
	}
	if found := get(t); found != "6777" {
		t.Fatalf("the write is there: %v", found)
	}
}
