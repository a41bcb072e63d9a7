package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/web/quota"
)

// tab is a test client that opens a WebSocket like a page in a browser tab.
type tab struct {
	*livetest.Tab

	t *testing.T
}

func (s *site) open(header http.Header) *tab {
	s.t.Helper()
	return s.openAs(livetest.Options{Header: header})
}

func (s *site) openAs(options livetest.Options) *tab {
	s.t.Helper()
	c, err := s.dialAs(options)
	if err != nil {
		s.t.Fatalf("dial: %v", err)
	}
	return c
}

func (s *site) dialAs(options livetest.Options) (*tab, error) {
	s.t.Helper()
	options.ReadLimit, options.Patch = 1<<20, applyPatch
	if options.OnMessage == nil {
		options.OnMessage = func(m *livetest.Message) { wantValid(s.t, "ServerMessage", m.Raw) }
	}
	c, err := livetest.DialTab(s.t.Context(), s.t, "ws://"+s.addr, options)
	return &tab{c, s.t}, err
}

func applyPatch(object, patch []byte) ([]byte, error) {
	decoded, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return object, err
	}
	return decoded.Apply(object)
}

// Each ping is answered by a pong with its id. Pings do not count toward the maximum number of subscriptions.
//
// Invariant: I38.
func TestPingIsAnsweredWithPong(t *testing.T) {
	s := newSite(t)
	c := s.open(nil)
	c.Send(`{"op":"ping","id":7}`)
	c.Until(7, "pong")
	c.Send(`[{"op":"subscribe","id":7,"resource":"core/v1/pods"},{"op":"ping","id":7},{"op":"ping","id":8}]`)
	// The order of the messages is undefined, because each subscription sends from its own goroutine.
	expected := map[string]bool{"7 pong": true, "8 pong": true, "7 snapshot": true}
	for range 20 {
		if m := c.Next(); m.ID != 0 {
			delete(expected, fmt.Sprint(m.ID, " ", m.Type))
		}
		if len(expected) == 0 {
			break
		}
	}
	if len(expected) > 0 {
		t.Fatalf("20 messages did not contain %v", expected)
	}
	for i := range 150 { // 150 is more than maxSubscriptions and maxInvalidMessages.
		c.Send(fmt.Sprintf(`{"op":"ping","id":%d}`, i+1))
		c.Until(i+1, "pong")
	}
	c.Send(`{"op":"ping"}`)
	if m := c.Until(0, "error"); m.Problem.Title != "ID missing" {
		t.Errorf("ping without an id: got %+v, want ID missing", m.Problem)
	}
	c.checkAlive()
}

// checkAlive checks that the connection still works, by a subscription to the pods.
func (c *tab) checkAlive() {
	c.t.Helper()
	c.Send(`{"op":"subscribe","id":999,"resource":"core/v1/pods"}`)
	if m := c.Until(999, "snapshot"); len(m.Rows) != 3 {
		c.t.Errorf("snapshot has %d rows, want 3", len(m.Rows))
	}
	c.Send(`{"op":"unsubscribe","id":999}`)
}

func TestSubscriptionsSendSnapshotsAndChanges(t *testing.T) {
	s := newSite(t)
	c := s.open(http.Header{"Origin": {"http://" + s.addr}})
	c.Send(`[{"op":"subscribe","id":1,"resource":"core/v1/pods","ns":["a"],"labels":"app=web"},
		{"op":"subscribe","id":2,"resource":"core/v1/pods","ns":["a"],"name":"web-1","view":"object"}]`)
	for snapshots := 0; snapshots < 2; {
		m, err := c.Read()
		if err != nil {
			t.Fatal(err)
		}
		if m.Type != "snapshot" {
			continue
		}
		snapshots++
		if ok := m.ID == 1 && len(m.Rows) == 2 || m.ID == 2 && m.Object != nil; !ok || !m.Last ||
			m.Cursor == "" {
			t.Errorf("snapshot is %+v, want two rows or an object", m)
		}
	}
	s.api.Set(podsRef, apitest.Item{
		Namespace: "a", Name: "web-1", Cells: `["web-1","Failed","5m"]`, Metadata: `"labels":{"app":"web"}`,
	})
	seen := map[int]bool{}
	for len(seen) < 2 {
		m, err := c.Read()
		if err != nil {
			t.Fatal(err)
		}
		if m.Type == "events" && len(m.Events) == 1 && m.Events[0].Op == "update" {
			seen[m.ID] = true
		}
	}

	// After unsubscribe, the id can be used again at once.
	c.Send(`[{"op":"unsubscribe","id":1},{"op":"subscribe","id":1,"resource":"core/v1/namespaces"}]`)
	if m := c.Until(1, "snapshot", "error"); len(m.Rows) != 2 || m.Rows[0].Name != "a" {
		t.Errorf("snapshot is %+v, want two namespaces", m)
	}

	// A subscription can resume from a cursor of the REST API without missing a change.
	var snapshot struct{ Cursor string }
	if err := json.Unmarshal([]byte(s.get("/api/v1/snapshot/"+podsRef+"?ns=b").body), &snapshot); err != nil {
		t.Fatal(err)
	}
	s.api.Set(podsRef, apitest.Item{Namespace: "b", Name: "new", Cells: `["new","Pending","1s"]`})
	c.Send(fmt.Sprintf(`{"op":"subscribe","id":3,"resource":"core/v1/pods","ns":["b"],"cursor":%q}`, snapshot.Cursor))
	if m := c.Until(3, "snapshot", "reset", "events"); m.Type != "events" || m.Events[0].Op != "add" {
		t.Errorf("got %+v, want one add event", m)
	}

	c.Send(`{"op":"subscribe","id":4,"resource":"core/v1/namespaces","cursor":"garbage"}`)
	if m := c.Until(4, "snapshot", "reset", "events"); m.Type != "reset" || !strings.Contains(m.Reason, "cursor") {
		t.Errorf("invalid cursor: got %+v, want a reset that names the cursor", m)
	}
	if m := c.Until(4, "snapshot", "events"); m.Type != "snapshot" || len(m.Rows) != 2 {
		t.Errorf("after the reset: got %+v, want two namespaces", m)
	}
}

// The server responds to every invalid message with an error and keeps the connection open.
// Invariant: I26.
func TestInvalidMessagesAreAnsweredWithErrors(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.open(nil)
	const pods = `"resource":"core/v1/pods"`
	for _, test := range []struct {
		name, text    string
		id            int
		title, detail string
	}{
		{"not JSON", `oops`, 0, "Invalid JSON", "The message is not valid JSON"},
		{"nothing", ``, 0, "Invalid JSON", ""},
		{"empty array", ` [ ] `, 0, "Empty frame", "contains no message"},
		{"unterminated array", `[{"op":`, 0, "Invalid JSON", ""},
		{"deep nesting", strings.Repeat("[", 30_000), 0, "Invalid JSON", ""},
		{"data after the message", `{"op":"subscribe","id":1,` + pods + `} {}`, 0, "Invalid JSON", "unexpected data"},
		{"not UTF-8", "{\"op\":\"\xff\"}", 0, "Unknown op", ""},
		{"null", `null`, 0, "Unknown op", ""},
		{"number", `7`, 0, "Wrong type", "The message is a number"},
		{"array of numbers", `[7]`, 0, "Wrong type", "The message is a number"},
		{
			"id is a string", `{"op":"subscribe","id":"1",` + pods + `}`, 0, "Wrong type",
			"id is a string, but should be an integer",
		},
		{
			"id is not an integer", `{"op":"subscribe","id":1.5,` + pods + `}`, 0, "Wrong type",
			"id is a number 1.5",
		},
		{
			"id out of range", `{"op":"subscribe","id":99999999999999999999,` + pods + `}`, 0, "Wrong type",
			"id is a number",
		},
		{
			"ns is a string", `{"op":"subscribe","id":1,` + pods + `,"ns":"a"}`, 0, "Wrong type",
			"ns is a string, but should be an array of strings",
		},
		{
			"resource is an object", `{"op":"subscribe","id":1,"resource":{}}`, 0, "Wrong type",
			"resource is a object, but should be a string",
		},
		{
			"watched is a string", `{"op":"subscribe","id":1,` + pods + `,"watched":"yes"}`, 0, "Wrong type",
			"watched is a string, but should be true or false",
		},
		{
			"unknown member", `{"op":"subscribe","id":1,` + pods + `,"namespace":"a"}`, 0, "Unknown member",
			`"namespace" is unknown`,
		},
		{"unknown op", `{"op":"destroy","id":1}`, 0, "Unknown op", `"destroy"`},
		{"no op", `{"id":1}`, 0, "Unknown op", `""`},
		{"no id", `{"op":"subscribe",` + pods + `}`, 0, "ID missing", "id is 0"},
		{"negative id", `{"op":"subscribe","id":-1,` + pods + `}`, 0, "ID missing", "id is -1"},
		{"unsubscribe without a subscription", `{"op":"unsubscribe","id":77}`, 0, "No such subscription", "77"},
		{
			"unknown resource", `{"op":"subscribe","id":1,"resource":"core/v1/po"}`, 1, "Unknown resource",
			"Did you mean core/v1/pods?",
		},
		{"no resource", `{"op":"subscribe","id":1}`, 1, "Unknown resource", ""},
		{"unknown view", `{"op":"subscribe","id":1,` + pods + `,"view":"colors"}`, 1, "Unknown view", "colors"},
		{
			"invalid label selector",
			`{"op":"subscribe","id":1,` + pods + `,"labels":"a=b=c"}`, 1, "Invalid label selector", "a=b=c",
		},
		{
			"invalid field selector", `{"op":"subscribe","id":1,` + pods + `,"fields":"a~b"}`, 1,
			"Invalid field selector", "a~b",
		},
		{"invalid namespace", `{"op":"subscribe","id":1,` + pods + `,"ns":["../x"]}`, 1, "Invalid namespace", "../x"},
		{
			"namespace that does not exist", `{"op":"subscribe","id":1,` + pods + `,"ns":["nowhere"]}`, 1,
			"Unknown namespace", "nowhere",
		},
		{
			"view resources with labels", `{"op":"subscribe","id":1,"view":"resources","labels":"a=b"}`, 1,
			"Invalid resources subscription", "only id and ns are allowed",
		},
		{
			"view resources with a resource", `{"op":"subscribe","id":1,` + pods + `,"view":"resources"}`, 1,
			"Invalid resources subscription", "",
		},
		{
			"view object without a name", `{"op":"subscribe","id":1,` + pods + `,"view":"object"}`, 1,
			"Name and view do not match", "",
		},
		{
			"invalid name", `{"op":"subscribe","id":1,` + pods + `,"view":"object","ns":["a"],"name":"../x"}`, 1,
			"Invalid name", "../x",
		},
		{
			"log of a resource without logs",
			`{"op":"subscribe","id":1,"resource":"core/v1/namespaces","ns":["a"],"name":"web-1","view":"log"}`, 1,
			"Invalid log subscription", "core/v1/pods",
		},
		{
			"log in two namespaces",
			`{"op":"subscribe","id":1,` + pods + `,"ns":["a","b"],"name":"web-1","view":"log"}`, 1,
			"Invalid log subscription", "one namespace",
		},
		{
			"log without a pod", `{"op":"subscribe","id":1,` + pods + `,"ns":["a"],"view":"log"}`, 1,
			"Invalid log subscription", "a name",
		},
		{
			"log with watched",
			`{"op":"subscribe","id":1,` + pods + `,"ns":["a"],"name":"web-1","view":"log","watched":true}`, 1,
			"Invalid log subscription", "and watched",
		},
		{
			"log with a cursor",
			`{"op":"subscribe","id":1,` + pods + `,"ns":["a"],"name":"web-1","view":"log","cursor":"c"}`, 1,
			"Invalid log subscription", "no labels",
		},
		{
			"log with a sort order",
			`{"op":"subscribe","id":1,` + pods + `,"ns":["a"],"name":"web-1","view":"log","sort":"age"}`, 1,
			"Invalid window", "the view is",
		},
		{
			"view rows with a container", `{"op":"subscribe","id":1,` + pods + `,"container":"app"}`, 1,
			"Invalid log subscription", `the view is "rows"`,
		},
		{"view rows with tail", `{"op":"subscribe","id":1,` + pods + `,"tail":0}`, 1, "Invalid log subscription", ""},
		{
			"invalid container name",
			`{"op":"subscribe","id":1,` + pods + `,"ns":["a"],"name":"web-1","view":"log","container":".."}`, 1,
			"Invalid name", "..",
		},
		{
			"too many lines",
			`{"op":"subscribe","id":1,` + pods + `,"ns":["a"],"name":"web-1","view":"log","tail":5001}`, 1,
			"Invalid number of lines", `"5001"`,
		},
		{
			"negative number of lines",
			`{"op":"subscribe","id":1,` + pods + `,"ns":["a"],"name":"web-1","view":"log","tail":-1}`, 1,
			"Invalid number of lines", "",
		},
		{
			"invalid since",
			`{"op":"subscribe","id":1,` + pods + `,"ns":["a"],"name":"web-1","view":"log","since":"soon"}`, 1,
			"Invalid time", `"soon"`,
		},
		{
			"follow is a string", `{"op":"subscribe","id":1,` + pods + `,"follow":"yes"}`, 0, "Wrong type",
			"follow is a string, but should be true or false",
		},
		{"long frame", strings.Repeat(" ", 40<<10), 0, "Frame too long", "32768"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c.Send(test.text)
			m := c.Until(test.id, "error")
			if m.Problem.Title != test.title || !strings.Contains(m.Problem.Detail, test.detail) ||
				m.Problem.Status < 400 || m.Problem.Status > 499 {
				t.Errorf("got problem %+v, want %s with %q", m.Problem, test.title, test.detail)
			}
		})
	}
	if err := c.WriteBinary(t.Context(), `{"op":"subscribe"}`); err != nil {
		t.Fatal(err)
	}
	if m := c.Until(0, "error"); m.Problem.Title != "Binary frame" {
		t.Errorf("binary frame: got problem %+v, want Binary frame", m.Problem)
	}

	c.checkAlive()
}

func TestSubscriptionIDInUseIsRefused(t *testing.T) {
	c := newSite(t).open(nil)
	c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
	c.Until(1, "snapshot")
	c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
	if m := c.Until(0, "error"); m.Problem.Title != "Subscription exists" {
		t.Errorf("got problem %+v, want Subscription exists", m.Problem)
	}
	c.checkAlive()
}

func TestSubscriptionsPerConnectionAreLimited(t *testing.T) {
	c := newSite(t).open(nil)
	for id := 1; id <= 100; id++ {
		c.Send(fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":"core/v1/pods"}`, id))
		c.Until(id, "snapshot")
	}
	c.Send(`{"op":"subscribe","id":101,"resource":"core/v1/pods"}`)
	if m := c.Until(101, "error"); m.Problem.Title != "Too many subscriptions" ||
		!strings.Contains(m.Problem.Detail, "100") {
		t.Errorf("got problem %+v, want Too many subscriptions", m.Problem)
	}
	c.Send(`{"op":"unsubscribe","id":50}`)
	c.checkAlive()
}

// The number of subscriptions of one caller is limited, over all its connections.
//
// Invariant: I44. Slow clients, hostile clients, very frequent changes and large objects use only a limited amount of
// the server's memory and CPU time. The number of subscriptions, requests and frames of one viewer is limited
// too. Slow or hostile clients do not make other viewers wait. Between the chunks of a long message, the server sends
// other messages.
func TestSubscriptionsOfACallerAreLimited(t *testing.T) {
	s := newSite(t)
	c := s.open(nil)
	const most = 6 * 2000
	quotas := quota.ForSubscription(s.server.Limits().ForSocket(&http.Request{RemoteAddr: "127.0.0.1:1"}))
	for n := range most - 1 {
		if s.server.Limits().Limiter.TryAcquire(1, quotas...) == nil {
			t.Fatalf("%d subscriptions in use, want %d", n, most)
		}
	}
	subscribe := func(id int, want string) {
		t.Helper()
		c.Send(fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":"core/v1/pods"}`, id))
		if m := c.Until(id, want); m.Type == "error" && m.Problem.Title != "Too many subscriptions" {
			t.Errorf("got problem %+v, want Too many subscriptions", m.Problem)
		}
	}
	subscribe(1, "snapshot")
	subscribe(2, "error")
	c.Send(`{"op":"unsubscribe","id":1}`)
	c.checkAlive()
	subscribe(2, "snapshot")
}

// A message above the maximum length closes its own connection. Other connections stay open.
func TestOversizedMessageClosesTheConnection(t *testing.T) {
	s := newSite(t)
	other := s.open(nil)
	c := s.open(nil)
	// The server can close the connection during the write, so ignore the error.
	_ = c.Write(t.Context(), strings.Repeat(" ", 17<<20))
	m, err := c.Read()
	if code := websocket.CloseStatus(err); err == nil || errors.Is(err, context.DeadlineExceeded) ||
		code != websocket.StatusMessageTooBig && code != -1 {
		// The close code -1, which means that no close frame was received, is also valid.
		t.Errorf("Read: got %+v, %v; want the end of the connection", m, err)
	}
	other.checkAlive()
}

// A panic in one subscription ends only that subscription, with an error.
func TestPanicEndsOnlyItsSubscription(t *testing.T) {
	s := startSite(t, nil) // There is no cluster, so each access to it panics.
	c := s.open(nil)
	for id := range 2 {
		c.Send(fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":"core/v1/pods"}`, id+1))
		if m := c.Until(id+1, "error"); m.Problem.Status != http.StatusInternalServerError ||
			strings.Contains(m.Problem.Detail, "goroutine") {
			t.Errorf("got problem %+v, want 500 without a stack trace", m.Problem)
		}
	}
	if !strings.Contains(s.log.String(), "nil pointer") {
		t.Errorf("log is %q, want it to contain the panic", s.log)
	}
}

func TestSocketNeedsItsSubprotocol(t *testing.T) {
	s := startSite(t, nil)
	for _, header := range []string{
		"Sec-WebSocket-Protocol:", "Sec-WebSocket-Protocol: soap", "Sec-WebSocket-Protocol: v12.stomp, graphql-ws",
	} {
		a := s.get("/api/v1/live", livetest.UpgradeHeader(header)...)
		s.wantProblem(header, a, http.StatusBadRequest, "Wrong subprotocol", "glasshouse.v1+json")
	}
}

// On a stop, the server closes its WebSockets with a reason. WebSockets do not delay the stop.
func TestStopClosesSocketsWithReason(t *testing.T) {
	s := newSite(t)
	tabs := []*tab{s.open(nil), s.open(nil)}
	for _, c := range tabs {
		c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
		c.Until(1, "snapshot")
	}
	ended := make(chan error, 1)
	go func() { ended <- s.stop() }()
	for _, c := range tabs {
		for {
			_, err := c.Read()
			if err == nil {
				continue
			}
			if code := websocket.CloseStatus(err); code != websocket.StatusGoingAway {
				t.Errorf("socket closed with %v, want 1001", err)
			}
			break
		}
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("Run: %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("Run did not return in time")
	}
}

// The server reads messages that a client sends together with the upgrade request, even long ones.
func TestMessagesSentWithTheUpgradeAreRead(t *testing.T) {
	s := newSite(t)
	for _, spaces := range []int{0, 1000, 3000} {
		t.Run(fmt.Sprint(spaces, " spaces"), func(t *testing.T) {
			message := `{"op":"unsubscribe",` + strings.Repeat(" ", spaces) + `"id":77}`
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.addr)
			if err != nil {
				t.Fatal(err)
			}
			if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			reader, err := livetest.Upgrade(conn, livetest.TextFrame(message))
			if err != nil {
				t.Fatal(err)
			}
			var head [4]byte
			if _, err := io.ReadFull(reader, head[:]); err != nil {
				t.Fatalf("read the header: %v", err)
			}
			reply := make([]byte, int(head[2])<<8|int(head[3]))
			if _, err := io.ReadFull(reader, reply); err != nil || !strings.Contains(string(reply), "id 77") {
				t.Errorf("got %s, error %v; want No such subscription", reply, err)
			}
			_ = conn.Close()
		})
	}
}
