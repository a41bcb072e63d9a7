package livetest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/coder/websocket"
	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
)

func serve(t *testing.T, send func(conn *websocket.Conn, r *http.Request) error) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"glasshouse.v1+json"}})
		if err == nil {
			_, _, err = conn.Read(r.Context()) // Read first, because unread data would make Close reset the connection.
		}
		if err == nil {
			err = send(conn, r)
		}
		if err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func receive(t *testing.T, want livetest.Subscription, frames ...string) (view *livetest.View, faults []string) {
	t.Helper()
	server := serve(t, func(conn *websocket.Conn, r *http.Request) error {
		for _, frame := range frames {
			frame = strings.ReplaceAll(frame, `{"type"`, `{"id":1,"type"`)
			if err := conn.Write(r.Context(), websocket.MessageText, []byte(frame)); err != nil {
				return err
			}
		}
		return conn.Close(websocket.StatusNormalClosure, "")
	})
	client, err := livetest.Open(t.Context(), server.URL, livetest.Options{
		OnFault: func(fault string) { faults = append(faults, fault) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	want.Op, want.ID = "subscribe", 1
	view = livetest.NewView(want, applyPatch)
	if err := client.Subscribe(t.Context(), view); err != nil {
		t.Fatal(err)
	}
	for {
		_, err := client.Read(t.Context())
		if errors.Is(err, livetest.ErrFrame) {
			faults = append(faults, err.Error())
		} else if err != nil {
			return view, faults
		}
	}
}

func applyPatch(object, patch []byte) ([]byte, error) {
	decoded, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return object, err
	}
	return decoded.Apply(object)
}

// A View computes the same digests (hashes of rows) as the browser's script. If the server sends
// a different digest, the View reports a fault.
func TestViewChecksDigests(t *testing.T) {
	text, err := os.ReadFile("../../web/test/digest.json")
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
		t.Fatalf("got %d examples, error %v", len(examples.Cases), err)
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
			{"different count", fmt.Sprintf(`"cursor":"c","count":%d,"digest":%q`, example.Count+1, example.Digest), 1},
			{"different digest", fmt.Sprintf(`"cursor":"c","count":%d,"digest":"12345678"`, example.Count), 1},
			{"different cursor", fmt.Sprintf(`"cursor":"d","count":%d,"digest":%q`, example.Count, example.Digest), 1},
		} {
			t.Run(example.Name+", "+test.name, func(t *testing.T) {
				v, faults := receive(t, livetest.Subscription{}, snapshot, `{"type":"digest",`+test.digest+`}`)
				if len(faults) != test.faults || len(v.Faults()) != test.faults || v.Stats().Digests != 1 {
					t.Errorf("faults: got %s for %d digests, want %d faults for one digest", faults, v.Stats().Digests, test.faults)
				}
			})
		}
	}
}

func TestViewReportsFaults(t *testing.T) {
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
		{"rows", rows, rows, ""}, // A second snapshot is not a fault, because the View has not resumed from a cursor.
		{"rows", rows, `{"type":"heartbeat","cursor":"e"}`, "heartbeat with the cursor"},
		{"rows", rows, `[{"type":"reset"},{"type":"heartbeat","cursor":""}]`, ""}, // A reset clears the cursor.
		{"rows", rows, `[{"type":"reset"},{"type":"heartbeat","cursor":"c"}]`, "heartbeat with the cursor"},
		{"rows", rows, `[{"type":"reset"},` + events("") + `]`, "before a snapshot"},
		{"rows", rows, `[{"type":"reset"},` + rows + `,` + events("") + `]`, ""},
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
			"patch ",
		},
		{
			"object", object,
			events(
				`{"op":"update","uid":"1","rv":"6","patch":[{"op":"remove","path":"/b"},` +
					`{"op":"replace","path":"/metadata/resourceVersion","value":"6"}]}`,
			),
			"patch ",
		},
		{"object", object, events(`{"op":"add","object":{}}`), "add of an object"},
		{"object", object, events(`{"op":"delete","uid":"2"}`), "delete of 2"},
		{"changes", changes, events(`{"op":"update","ns":"a","name":"x","uid":"1","rv":"6","patch":[]}`), ""},
		{"changes", changes, events(`{"op":"add","ns":"a","name":"x","uid":"2","rv":"6"}`), "is followed by"},
		{"changes", changes, events(`{"op":"update","ns":"a","name":"x","uid":"1","rv":"5","patch":[]}`), "older"},
		{
			"changes", changes, events(`{"op":"update","ns":"a","name":"x","uid":"1","rv":"6"}`),
			"change with the patch",
		},
		{"changes", changes, events(`{"op":"delete","ns":"a","name":"x","uid":"2","rv":"6"}`), "is followed by"},
	} {
		t.Run(test.view+" "+test.want, func(t *testing.T) {
			_, faults := receive(t, livetest.Subscription{View: test.view}, test.snapshot, test.frame)
			got := strings.Join(faults, "\n")
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("after %.60s: %s\ngot fault %q, want %q", test.snapshot, test.frame, got, test.want)
			}
		})
	}
}

// A Client returns each chunk and then the complete message. Another message of the subscription cancels an incomplete
// message.
func TestClientJoinsChunks(t *testing.T) {
	const text = `{"id":1,"type":"reset","reason":"stale"}`
	part := func(from, to int) string {
		return fmt.Sprintf(`{"type":"part","told":%d,"of":%d,"text":%q}`, to, len(text), text[from:to])
	}
	first, second := part(0, 9), part(9, len(text))
	for _, test := range []struct {
		name   string
		frames []string
		resets int
		want   string
	}{
		{"complete", []string{first, second}, 1, ""},
		{"canceled", []string{first, `{"type":"heartbeat","cursor":""}`, first, second}, 1, ""},
		{"missing first chunk", []string{second}, 0, "chunk ends at 40 of 40"},
		{"repeated chunk", []string{first, first}, 0, "chunk ends at 9 of 40"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, faults := receive(t, livetest.Subscription{View: "rows"}, test.frames...)
			got := strings.Join(faults, "\n")
			if v.Stats().Resets != test.resets || (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %d complete messages and fault %q, want %d and %q", v.Stats().Resets, got, test.resets, test.want)
			}
		})
	}
}

// A Client ignores an incomplete message at the end of the connection.
func TestClientIgnoresIncompleteMessage(t *testing.T) {
	server := serve(t, func(conn *websocket.Conn, r *http.Request) error {
		message, err := conn.Writer(r.Context(), websocket.MessageText)
		if err != nil {
			return err
		}
		_, err = message.Write([]byte(`{"type":"` + strings.Repeat("x", 8<<10)))
		_ = conn.CloseNow()
		return err
	})
	client, err := livetest.Open(t.Context(), server.URL, livetest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.Send(t.Context(), `{}`); err != nil {
		t.Fatal(err)
	}
	if m, err := client.Read(t.Context()); err == nil || errors.Is(err, livetest.ErrFrame) {
		t.Errorf("Read: got %+v, %v; want the end of the connection", m, err)
	}
}
