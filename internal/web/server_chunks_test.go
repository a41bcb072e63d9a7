package web_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

// A long message is sent in chunks, split between characters, if the client supports chunks.
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
	subscribe := func(c *tab, id int, name string) {
		c.Send(fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":"core/v1/pods","ns":["b"],"name":%q,"view":"object"}`,
			id, name))
	}
	annotationText := func(m *livetest.Message) string {
		var object struct {
			Metadata struct{ Annotations struct{ Text string } }
		}
		if err := json.Unmarshal(m.Object, &object); err != nil || m.Type != "snapshot" {
			t.Fatalf("unmarshal: %v in %.200s", err, m.Raw)
		}
		return object.Metadata.Annotations.Text
	}
	snapshot := func(c *tab, id int) *livetest.Message {
		m := c.Until(id, "snapshot", "part")
		if m.Type == "part" {
			t.Fatal("the client received a chunk that was not requested, or a chunk of a short message")
		}
		return m
	}
	c := s.open(nil)
	subscribe(c, 1, "long")
	if annotationText(snapshot(c, 1)) != text {
		t.Error("the received text differs")
	}
	c = s.openAs(livetest.Options{Query: "parts=true"})
	subscribe(c, 1, "short")
	snapshot(c, 1)
	c.Send(`{"op":"unsubscribe","id":1}`)
	subscribe(c, 2, "long")
	chunks, received, total := 0, 0, 1
	for received < total {
		m := c.Until(2, "part")
		if chunks, received, total = chunks+1, m.Sent, m.Of; len(m.Text) > 65<<10 {
			t.Fatalf("chunk has %d bytes, want at most 65 KiB", len(m.Text))
		}
	}
	if m := c.Next(); chunks < 2 || len(m.Raw) != total || annotationText(m) != text {
		t.Errorf("%d chunks of %d bytes: got %d bytes with a different text", chunks, total, len(m.Raw))
	}
}

// The server sends at most 4 chunks before the client acknowledges them by a pong. Other messages do not wait for that.
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
	c := s.openAs(livetest.Options{Query: "parts=true", NoPongs: true})
	c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods","ns":["b"],"name":"long","view":"object"}`)
	chunks, received, total := 0, 0, 1
	read := func() string {
		m := c.Next()
		if m.Type == "part" {
			chunks, received, total = chunks+1, m.Sent, m.Of
		}
		return m.Type
	}
	for chunks < 4 {
		read()
	}
	<-time.After(300 * time.Millisecond) // Without the limit, all chunks would arrive in this time.
	c.Send(`{"op":"ping","id":2}`)
	for read() != "pong" {
	}
	if chunks != 4 {
		t.Errorf("%d chunks were sent without an acknowledgment, want 4", chunks)
	}
	c.Send(`{"op":"unsubscribe","id":1}`)
	c.Send(`{"op":"ping","id":3}`)
	for read() != "pong" {
	}
	if chunks != 4 || received == total {
		t.Errorf("%d chunks were sent after the subscription ended", chunks)
	}

	c = s.openAs(livetest.Options{Query: "parts=true"})
	c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods","ns":["b"],"name":"long","view":"object"}`)
	for received < total {
		read()
	}
}
