package viewer_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"glasshouse/test/faults/viewer"
)

func receive(t *testing.T, want viewer.Want, frames ...string) *viewer.Viewer {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"glasshouse.v1+json"}})
		if err != nil {
			t.Error(err)
			return
		}
		for _, frame := range frames {
			if err := conn.Write(r.Context(), websocket.MessageText, []byte(frame)); err != nil {
				t.Error(err)
			}
		}
		_ = conn.Close(websocket.StatusNormalClosure, "")
	}))
	defer server.Close()
	v := viewer.New(server.URL, want)
	v.Connect(t.Context())
	return v
}

// A Viewer computes the same digests (hashes of rows) as the browser's script. It records a fault if a digest from
// the server does not match the Viewer's rows or cursor (stream position).
func TestDigest(t *testing.T) {
	text, err := os.ReadFile("../../../web/test/digest.json")
	if err != nil {
		t.Fatal(err)
	}
	var examples struct {
		Cases []struct {
			Name, Digest string
			Count        int
			Rows         []json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &examples); err != nil || len(examples.Cases) == 0 {
		t.Fatalf("%d examples, %v", len(examples.Cases), err)
	}
	for _, example := range examples.Cases {
		rows, err := json.Marshal(append([]json.RawMessage{}, example.Rows...))
		if err != nil {
			t.Fatal(err)
		}
		snapshot := fmt.Sprintf(`{"type":"snapshot","cursor":"c","columns":[],"rows":%s,"last":true}`, rows)
		for _, test := range []struct {
			name, digest string
			faults       int
		}{
			{"right", fmt.Sprintf(`"cursor":"c","count":%d,"digest":%q`, example.Count, example.Digest), 0},
			{"another count", fmt.Sprintf(`"cursor":"c","count":%d,"digest":%q`, example.Count+1, example.Digest), 1},
			{"another sum", fmt.Sprintf(`"cursor":"c","count":%d,"digest":"12345678"`, example.Count), 1},
			{"another cursor", fmt.Sprintf(`"cursor":"d","count":%d,"digest":%q`, example.Count, example.Digest), 1},
		} {
			v := receive(t, viewer.Rows("core/v1/pods"), snapshot, `{"type":"digest",`+test.digest+`}`)
			if got := v.Faults(); len(got) != test.faults || v.Tally().Digests != 1 {
				t.Errorf("%s, %s: %s of %d digests, want %d faults of one",
					example.Name, test.name, got, v.Tally().Digests, test.faults)
			}
		}
	}
}

// A Viewer records a fault for each message that is inconsistent with its state.
//
// Invariant: I43.
func TestFaults(t *testing.T) {
	const (
		rows = `{"type":"snapshot","cursor":"c","columns":[{"name":"V"}],` +
			`"rows":[{"ns":"a","name":"x","uid":"1","rv":"5","cells":["0"]}],"last":true}`
		object = `{"type":"snapshot","cursor":"c","object":{"metadata":{"uid":"1","resourceVersion":"5"},"a":1},` +
			`"last":true}`
		changes = `{"type":"snapshot","cursor":"c","since":"2026-11-21T10:00:00Z",` +
			`"events":[{"op":"add","ns":"a","name":"x","uid":"1","rv":"5"}],"last":true}`
		table = `{"type":"snapshot","cursor":"c","columns":[{"name":"Name"},{"name":"V"},{"name":"Age"}],` +
			`"table":{"ns":["a"],"name":["x"],"rv":["5"],"created":["t"],"cells":["name",["0"],"created"]},"last":true}`
		window = `{"type":"window","cursor":"c","columns":[{"name":"V"}],"total":9,"matching":5,"offset":1,` +
			`"count":2,"rows":[{"ns":"a","name":"y","uid":"2","rv":"5","cells":["0"]},` +
			`{"ns":"a","name":"x","uid":"1","rv":"5","cells":["0"]}]}`
	)
	windowEvents := func(event string) string { return `{"type":"window-events","cursor":"d","events":[` + event + `]}` }
	events := func(event string) string { return `{"type":"events","cursor":"d","events":[` + event + `]}` }
	for _, test := range []struct{ view, snapshot, frame, want string }{
		{"rows", rows, events(`{"op":"update","ns":"a","name":"x","uid":"1","rv":"6","cells":{"0":"1"}}`), ""},
		{
			"rows", rows, events(`{"op":"update","ns":"a","name":"x","uid":"1","rv":"5","cells":{}}`),
			"from version 5 to 5",
		},
		{"rows", rows, events(`{"op":"update","ns":"a","name":"x","uid":"2","rv":"6","cells":{}}`), "update of a/x"},
		{"rows", rows, events(`{"op":"update","ns":"a","name":"x","uid":"1","rv":"6","cells":{"7":"1"}}`), "cell 7"},
		{
			"rows", rows, events(`{"op":"add","row":{"ns":"a","name":"x","uid":"2","rv":"6","cells":["0"]}}`),
			"add of a/x",
		},
		{"rows", rows, events(`{"op":"delete","ns":"a","name":"y","uid":"1"}`), "delete of a/y"},
		{"rows", rows, rows, ""}, // A second snapshot is correct, because the Viewer did not resume.
		{"rows", rows, `{"type":"heartbeat","cursor":"e"}`, "a heartbeat"},
		{"rows", rows, `[{"type":"reset"},{"type":"heartbeat","cursor":""}]`, ""}, // A reset clears the cursor.
		{"rows", rows, `[{"type":"reset"},{"type":"heartbeat","cursor":"c"}]`, "a heartbeat"},
		{"rows", rows, `[{"type":"reset"},` + events("") + `]`, "before a snapshot"},
		{"rows", rows, `[{"type":"reset"},` + rows + `,` + events("") + `]`, ""},
		{"rows", rows, `{"type":"error","problem":{}}`, "an error"},
		{"rows", rows, `nonsense`, "not understood"},
		{"rows", events(""), events(""), "before a snapshot"},
		{"table", table, events(`{"op":"update","ns":"a","name":"x","rv":"6","cells":{"2":"u"}}`), ""},
		{"table", table, events(`{"op":"update","ns":"a","name":"x","rv":"6","cells":{"3":"u"}}`), "cell 3"},
		{"table", table, events(`{"op":"delete","ns":"a","name":"x","uid":"1"}`), ""},
		{"table", table, strings.Replace(table, `["0"]`, `[]`, 1), "not understood"},
		{
			"window", window,
			windowEvents(
				`{"op":"remove","at":0},{"op":"update","at":0,"uid":"1","rv":"6","cells":{"0":"1"}},` +
					`{"op":"insert","at":1,"row":{"ns":"a","name":"y","uid":"2","rv":"5","cells":["0"]}}`,
			),
			"",
		},
		{"window", window, windowEvents(`{"op":"remove","at":2}`), "remove at 2 of 2"},
		{"window", window, windowEvents(`{"op":"update","at":0,"uid":"1","rv":"6","cells":{"0":"1"}}`), "update of a/y"},
		{
			"window", window,
			windowEvents(`{"op":"insert","at":2,"row":{"ns":"a","name":"x","uid":"1","rv":"6","cells":["0"]}}`), "add of a/x",
		},
		{"window", window, window, ""},
		{
			"object", object,
			events(
				`{"op":"update","uid":"1","rv":"6","patch":[{"op":"replace","path":"/a","value":2},` +
					`{"op":"replace","path":"/metadata/resourceVersion","value":"6"}]}`,
			),
			"",
		},
		{
			"object", object,
			events(
				`{"op":"update","uid":"1","rv":"7","patch":[{"op":"replace","path":"/metadata/resourceVersion",` +
					`"value":"6"}]}`,
			),
			"the patch",
		},
		{
			"object", object,
			events(
				`{"op":"update","uid":"1","rv":"6","patch":[{"op":"remove","path":"/b"},` +
					`{"op":"replace","path":"/metadata/resourceVersion","value":"6"}]}`,
			),
			"the patch",
		},
		{"object", object, events(`{"op":"add","object":{}}`), "add of an object"},
		{"object", object, events(`{"op":"delete","uid":"2"}`), "delete of 2"},
		{"changes", changes, events(`{"op":"update","ns":"a","name":"x","uid":"1","rv":"6","patch":[]}`), ""},
		{"changes", changes, events(`{"op":"add","ns":"a","name":"x","uid":"2","rv":"6"}`), "is followed by"},
		{"changes", changes, events(`{"op":"update","ns":"a","name":"x","uid":"1","rv":"5","patch":[]}`), "older"},
		{
			"changes", changes, events(`{"op":"update","ns":"a","name":"x","uid":"1","rv":"6"}`),
			"a change with the patch",
		},
		{"changes", changes, events(`{"op":"delete","ns":"a","name":"x","uid":"2","rv":"6"}`), "is followed by"},
	} {
		v := receive(t, viewer.Want{Resource: "core/v1/pods", View: test.view}, test.snapshot, test.frame)
		got := strings.Join(v.Faults(), "\n")
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s, after %.60s: %s\ngot %q, want %q", test.view, test.snapshot, test.frame, got, test.want)
		}
	}
}

// If the connection ends within a message, a Viewer ignores the incomplete message.
func TestIncompleteMessage(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"glasshouse.v1+json"}})
		if err != nil {
			t.Error(err)
			return
		}
		if _, _, err := conn.Read(r.Context()); err != nil { // Unread data would make Close reset the connection.
			t.Error(err)
		}
		message, err := conn.Writer(r.Context(), websocket.MessageText)
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := message.Write([]byte(`{"type":"` + strings.Repeat("x", 8<<10))); err != nil {
			t.Error(err)
		}
		_ = conn.CloseNow()
	}))
	defer server.Close()
	v := viewer.New(server.URL, viewer.Rows("core/v1/pods"))
	v.Connect(t.Context())
	if faults := v.Faults(); len(faults) > 0 {
		t.Errorf("faults are %q", faults)
	}
}

// CompareRows compares a Viewer's rows with all rows that exist. For a window (a part of a sorted list), it checks
// only the rows that the window must contain, and their order.
//
// Invariant: I43.
func TestCompareRows(t *testing.T) {
	row := func(name, rv, cell string) viewer.Row {
		return viewer.Row{
			NS: "a", Name: name, UID: "u-" + name, RV: rv, Cells: []json.RawMessage{json.RawMessage(cell)},
		}
	}
	all := func(rows ...viewer.Row) map[string]viewer.Row {
		byKey := make(map[string]viewer.Row)
		for _, r := range rows {
			byKey[r.Key()] = r
		}
		return byKey
	}
	const (
		table = `{"type":"snapshot","cursor":"c","columns":[{"name":"V"}],` +
			`"table":{"ns":["a","a"],"name":["w-1","w-2"],"rv":["5","6"],"created":["",""],"cells":[[1,2]]},` +
			`"last":true}`
		window = `{"type":"window","cursor":"c","columns":[{"name":"V"}],"total":4,"matching":3,"offset":1,"count":2,` +
			`"rows":[{"ns":"a","name":"w-1","uid":"u-w-1","rv":"5","cells":[1]},` +
			`{"ns":"a","name":"w-2","uid":"u-w-2","rv":"6","cells":[1]}]}`
	)
	w1, w2, w3, x := row("w-1", "5", "1"), row("w-2", "6", "1"), row("w-3", "7", "3"), row("x", "8", "4")
	for _, test := range []struct {
		name, frame string
		existing    map[string]viewer.Row
		want        string
	}{
		{"table", table, all(w1, row("w-2", "6", "2")), ""},
		{"table of an older version", table, all(w1, row("w-2", "7", "2")), "w-2 is"},
		{"table with another cell", table, all(w1, row("w-2", "6", "3")), "cells"},
		{"table with one too many", table, all(w1), "2 rows, want 1"},
		{"window", window, all(w1, w2, w3, x), ""},
		{"window of an older version", window, all(w1, row("w-2", "7", "1"), w3, x), "w-2 is"},
		{"window in another order", window, all(w1, row("w-2", "6", "2"), w3, x), "the window is"},
		{"window of too many", window, all(w1, w2, w3), "the counts are"},
		{"window of what does not match", window, all(w1, w2, row("v", "7", "3"), x), "the counts are"},
	} {
		v := receive(
			t, viewer.Want{View: strings.Fields(test.name)[0], Q: "w", Sort: "-v", Offset: 1, Count: 2}, test.frame,
		)
		if faults := v.Faults(); len(faults) > 0 {
			t.Errorf("%s: %s", test.name, faults)
		}
		if err := v.CompareRows(test.existing); (err == nil) != (test.want == "") ||
			err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}
