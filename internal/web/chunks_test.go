package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"glasshouse/internal/watch/apitest"
)

// A long message is sent in chunks, split between characters, if the client supports chunks. Without that support, it
// is sent in one piece. A short message is never split.
//
// Invariant: I44.
func TestLongMessagesAreSentInChunksOnRequest(t *testing.T) {
	s := newSite(t)
	set := func(name, text string) {
		s.api.Set(podsRef, apitest.Item{
			Namespace: "b", Name: name, Cells: fmt.Sprintf(`[%q,"Pending","5m"]`, name),
			Metadata: fmt.Sprintf(`"annotations":{"text":%q}`, text),
		})
	}
	text := strings.Repeat("a€𝄞\"\\", 50_000)
	set("long", text)
	set("short", strings.Repeat("a", 150_000))
	for !strings.Contains(s.get("/api/v1/snapshot/"+podsRef+"?ns=b&limit=1").body, `"total":3,`) {
		<-time.After(10 * time.Millisecond) // Wait until the server has received both objects.
	}
	subscribe := func(c *tab, name string) {
		c.send(fmt.Sprintf(`{"op":"subscribe","id":1,"resource":"core/v1/pods","ns":["b"],"name":%q,"view":"object"}`,
			name))
	}
	annotationText := func(message []byte) string {
		var m struct {
			Type   string
			Object struct {
				Metadata struct{ Annotations struct{ Text string } }
			}
		}
		if err := json.Unmarshal(message, &m); err != nil || m.Type != "snapshot" {
			t.Fatalf("%v in %.200s", err, message)
		}
		return m.Object.Metadata.Annotations.Text
	}
	read := func(c *tab) (data []byte, kind string) {
		_, data, err := c.conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var m struct{ Type string }
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		return data, m.Type
	}
	snapshot := func(c *tab) []byte {
		for {
			switch data, kind := read(c); kind {
			case "snapshot":
				return data
			case "part":
				t.Fatal("a client got a part without a request, or of a short message")
			}
		}
	}
	c := s.open(nil)
	subscribe(c, "long")
	if annotationText(snapshot(c)) != text {
		t.Error("the text is another")
	}
	c = s.openWith("?parts=true", nil)
	subscribe(c, "short")
	snapshot(c)
	c.send(`{"op":"unsubscribe","id":1}`)
	subscribe(c, "long")
	var joined strings.Builder
	for received, total := 0, 1; received < total; {
		data, kind := read(c)
		if kind != "part" {
			continue
		}
		var m struct {
			ID    int
			Text  string
			Sent  int `json:"told"`
			Total int `json:"of"`
		}
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		joined.WriteString(m.Text)
		if received, total = m.Sent, m.Total; m.ID != 1 || received != joined.Len() || len(m.Text) > 65<<10 {
			t.Fatalf("%d of %d bytes according to a part of %d, but %d have arrived", received, total, len(m.Text), joined.Len())
		}
	}
	if annotationText([]byte(joined.String())) != text {
		t.Error("the text of all parts is another")
	}
}

// At most 4 chunks are sent without an acknowledgment (a pong). Other messages are still sent after them.
//
// Invariant: I44.
func TestUnacknowledgedChunksAreLimited(t *testing.T) {
	s := newSite(t)
	text := strings.Repeat("0123456789", 100_000)
	s.api.Set(podsRef, apitest.Item{
		Namespace: "b", Name: "long", Cells: `["long","Pending","5m"]`,
		Metadata: fmt.Sprintf(`"annotations":{"text":%q}`, text),
	})
	for !strings.Contains(s.get("/api/v1/snapshot/"+podsRef+"?ns=b&limit=1").body, `"total":2,`) {
		<-time.After(10 * time.Millisecond) // Wait until the server has received the object.
	}
	c := s.openAs("?parts=true", &websocket.DialOptions{
		OnPingReceived: func(context.Context, []byte) bool { return false },
	})
	c.send(`{"op":"subscribe","id":1,"resource":"core/v1/pods","ns":["b"],"name":"long","view":"object"}`)
	chunks, received, total := 0, 0, 1
	read := func() string {
		var m struct {
			Type  string
			Sent  int `json:"told"`
			Total int `json:"of"`
		}
		_, message, err := c.conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(message, &m); err != nil {
			t.Fatal(err)
		}
		if m.Type == "part" {
			chunks, received, total = chunks+1, m.Sent, m.Total
		}
		return m.Type
	}
	for chunks < 4 {
		read()
	}
	<-time.After(300 * time.Millisecond) // Without the limit, all chunks would arrive in this time.
	c.send(`{"op":"ping","id":2}`)
	for read() != "pong" {
	}
	if chunks != 4 {
		t.Errorf("%d parts were sent without an acknowledgment, want 4", chunks)
	}
	c.send(`{"op":"unsubscribe","id":1}`)
	c.send(`{"op":"ping","id":3}`)
	for read() != "pong" {
	}
	if chunks != 4 || received == total {
		t.Errorf("%d parts were sent after the end", chunks)
	}

	c = s.openWith("?parts=true", nil)
	c.send(`{"op":"subscribe","id":1,"resource":"core/v1/pods","ns":["b"],"name":"long","view":"object"}`)
	for received < total {
		read()
	}
}
