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

// If a client has requested chunks, it receives a long message in chunks, which are split between characters. Other
// clients receive a long message in one piece. A short message is never split.
func TestLongMessagesComeInParts(t *testing.T) {
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
		<-time.After(10 * time.Millisecond) // The program may not have received the last object yet.
	}
	ask := func(c *tab, name string) {
		c.send(fmt.Sprintf(`{"op":"subscribe","id":1,"resource":"core/v1/pods","ns":["b"],"name":%q,"view":"object"}`,
			name))
	}
	textOf := func(message []byte) string {
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
	read := func(c *tab) (frame []byte, kind string) {
		_, frame, err := c.conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var m struct{ Type string }
		if err := json.Unmarshal(frame, &m); err != nil {
			t.Fatal(err)
		}
		return frame, m.Type
	}
	snapshot := func(c *tab) []byte {
		for {
			switch frame, kind := read(c); kind {
			case "snapshot":
				return frame
			case "part":
				t.Fatal("a part came to who did not ask for any, or of what is short")
			}
		}
	}
	c := s.open(nil)
	ask(c, "long")
	if textOf(snapshot(c)) != text {
		t.Error("the text is another")
	}
	c = s.openWith("?parts=true", nil)
	ask(c, "short")
	snapshot(c)
	c.send(`{"op":"unsubscribe","id":1}`)
	ask(c, "long")
	var whole strings.Builder
	for told, of := 0, 1; told < of; {
		frame, kind := read(c)
		if kind != "part" {
			continue
		}
		var m struct {
			ID    int
			Text  string
			Sent  int `json:"told"`
			Total int `json:"of"`
		}
		if err := json.Unmarshal(frame, &m); err != nil {
			t.Fatal(err)
		}
		whole.WriteString(m.Text)
		if told, of = m.Sent, m.Total; m.ID != 1 || told != whole.Len() || len(m.Text) > 65<<10 {
			t.Fatalf("%d of %d bytes are told by a part of %d, where %d have come", told, of, len(m.Text), whole.Len())
		}
	}
	if textOf([]byte(whole.String())) != text {
		t.Error("the text of all parts is another")
	}
}

// A client acknowledges the chunks of a long message. Only a few chunks are sent that it has not acknowledged yet,
// however much the connection buffers. Other messages follow right after these.
func TestPartsAwaitTheClient(t *testing.T) {
	s := newSite(t)
	text := strings.Repeat("0123456789", 100_000)
	s.api.Set(podsRef, apitest.Item{
		Namespace: "b", Name: "long", Cells: `["long","Pending","5m"]`,
		Metadata: fmt.Sprintf(`"annotations":{"text":%q}`, text),
	})
	for !strings.Contains(s.get("/api/v1/snapshot/"+podsRef+"?ns=b&limit=1").body, `"total":2,`) {
		<-time.After(10 * time.Millisecond) // The program may not have received the object yet.
	}
	c := s.openAs("?parts=true", &websocket.DialOptions{
		OnPingReceived: func(context.Context, []byte) bool { return false },
	})
	c.send(`{"op":"subscribe","id":1,"resource":"core/v1/pods","ns":["b"],"name":"long","view":"object"}`)
	parts, told, of := 0, 0, 1
	read := func() string {
		var m struct {
			Type  string
			Sent  int `json:"told"`
			Total int `json:"of"`
		}
		_, frame, err := c.conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(frame, &m); err != nil {
			t.Fatal(err)
		}
		if m.Type == "part" {
			parts, told, of = parts+1, m.Sent, m.Total
		}
		return m.Type
	}
	for parts < 4 {
		read()
	}
	<-time.After(300 * time.Millisecond) // Without the limit, all chunks would have arrived in this time.
	c.send(`{"op":"ping","id":2}`)
	for read() != "pong" {
	}
	if parts != 4 {
		t.Errorf("%d parts come to who has not said that one has come, want 4", parts)
	}
	c.send(`{"op":"unsubscribe","id":1}`)
	c.send(`{"op":"ping","id":3}`)
	for read() != "pong" {
	}
	if parts != 4 || told == of {
		t.Errorf("%d parts have come to who has left", parts)
	}

	c = s.openWith("?parts=true", nil)
	c.send(`{"op":"subscribe","id":1,"resource":"core/v1/pods","ns":["b"],"name":"long","view":"object"}`)
	for told < of {
		read()
	}
}
