package sessions

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"
)

// Widerow is a server for the tests of this package, commanded over HTTP.
type Widerow struct {
	Endpoint string
	process  *exec.Cmd
}

var endpointOf = regexp.MustCompile(` endpoint=(\S+)`)

// StartWiderow starts `widerow serve --dev` on a free port and returns when it answers.
func StartWiderow() (*Widerow, error) {
	command := os.Getenv("WIDEROW")
	if command == "" {
		command = "widerow"
	}
	process := exec.Command(command, "serve", "--memory", "--port", "0", "--dev")
	process.Stderr = os.Stderr
	output, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	line, _ := bufio.NewReader(output).ReadString('\n')
	endpoint := endpointOf.FindStringSubmatch(line)
	if endpoint == nil {
		return nil, fmt.Errorf("widerow did not start: %q", line)
	}
	return &Widerow{endpoint[1], process}, nil
}

// Stop ends the server.
func (w *Widerow) Stop() {
	_ = w.process.Process.Signal(os.Interrupt)
	_ = w.process.Wait()
}

// Fields is a JSON object.
type Fields map[string]interface{}

// Ask sends a command to /_widerow/ and returns what it answers.
func (w *Widerow) Ask(t *testing.T, method, page string, body Fields) Fields {
	t.Helper()
	sent, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if body == nil {
		sent = nil
	}
	request, err := http.NewRequest(method, w.Endpoint+"/_widerow/"+page, bytes.NewReader(sent))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("content-type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer := Fields{}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode >= 300 {
		t.Fatalf("%s %s: %v", method, page, answer["error"])
	}
	return answer
}

// Reset empties the instance, removes all faults, and sets the clock to the time of day, where it
// stands still.
func (w *Widerow) Reset(t *testing.T, instance string) {
	t.Helper()
	w.Ask(t, "POST", "reset", Fields{"instance": instance})
	w.Ask(t, "DELETE", "faults", nil)
	w.Ask(t, "POST", "clock", Fields{"set": time.Now().UnixMilli(), "freeze": true})
}
