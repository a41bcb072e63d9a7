package watch_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// After many changes, a slow reader gets one event with a patch for its copy of the object.
// Invariant: I4. Even after very many changes, each reader has the current state of all its objects. A slow reader gets
// patches for the version that it has. Without load, the server sends each change at once. Under load, and to slow
// clients, it sends several changes in one message. Readers of the same change share its encoded text.
func TestManyChangesOfOneObjectBecomeOneEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "0"), pod("a", "q", "Running"))
		object := subscribe(t, cluster, query.Query{Namespaces: []string{"a"}, Name: "p"}, "")
		rows := subscribe(t, cluster, query.Query{}, "")
		rows.settle()
		var copied []byte
		for copied == nil {
			copied = object.next().Object
		}
		const changes = 10_000
		go func() {
			for i := range changes {
				p := pod("a", "p", strconv.Itoa(i+1))
				// Each version has another spec than the version before it, so that its patch applies only to that version.
				p.Rest += fmt.Sprintf(`,"spec":{"only-in-%d":1}`, i%7)
				server.Set(pods, p)
				if i%100 == 99 {
					<-time.After(10 * time.Millisecond)
				}
			}
		}()
		last, messages := fmt.Sprintf(`"phase":"%d"`, changes), 0
		for !strings.Contains(string(copied), last) {
			for _, r := range []*reader{object, rows} {
				m := r.next()
				if len(m.Events) > 1 {
					t.Fatalf("got %d events of one object in a message, want at most 1", len(m.Events))
				}
				if r == rows || len(m.Events) == 0 {
					continue
				}
				messages++
				patch, err := jsonpatch.DecodePatch(m.Events[0].Patch)
				if err != nil {
					t.Fatal(err)
				}
				if copied, err = patch.Apply(copied); err != nil {
					t.Fatalf("apply the patch to the reader's copy: %v", err)
				}
				if want := fmt.Sprintf(`"resourceVersion":%q`, m.Events[0].RV); !strings.Contains(string(copied), want) {
					t.Fatalf("patched object: got %s, want %s", copied, want)
				}
			}
			<-time.After(70 * time.Millisecond)
		}
		for _, c := range cluster.WatchStatus().Entries {
			if c.Resource == pods && c.RingChanges != changes {
				t.Errorf("got %d changes, want %d", c.RingChanges, changes)
			}
		}
		if messages < 5 || messages > 30 {
			t.Errorf("got %d messages, want one for each read (5 to 30)", messages)
		}
		want, err := cluster.For(watch.Viewer{Program: true}).Object(t.Context(), pods, "a", "p")
		if err != nil || !sameJSON(t, copied, want) {
			t.Errorf("the reader's copy: got %s, want %s; error %v", copied, want, err)
		}
		rows.settle()
		rows.wantRows(fmt.Sprintf("a/p=%d", changes), "a/q=Running")
	})
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var values [2]any
	for i, text := range [][]byte{a, b} {
		if err := json.Unmarshal(text, &values[i]); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprint(values[0]) == fmt.Sprint(values[1])
}

// If the client accepts a message late, the program waits before the next message, and collects changes meanwhile.
// Invariant: I4.
func TestBatchesGrowUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "0"))
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		change := func(name string) {
			server.Set(pods, pod("a", name, "Running"))
		}
		for i := range 3 {
			change(fmt.Sprint("rest-", i))
			start := time.Now()
			if m := r.next(); len(m.Events) != 1 || time.Since(start) != 0 {
				t.Fatalf("low traffic: got %d events after %s, want 1 without delay", len(m.Events), time.Since(start))
			}
		}
		for _, test := range []struct{ late, wait time.Duration }{
			{2 * time.Millisecond, 6 * time.Millisecond},
			{time.Second, 50 * time.Millisecond},
		} {
			change("first " + test.late.String())
			r.next()
			<-time.After(test.late)
			go func() {
				change("second " + test.late.String())
				<-time.After(test.wait / 2)
				change("third " + test.late.String())
			}()
			start := time.Now()
			if m := r.next(); len(m.Events) != 2 || time.Since(start) != test.wait {
				t.Errorf("got %d events after %s, want 2 after %s", len(m.Events), time.Since(start), test.wait)
			}
			// The pause between messages has just ended, so this change is sent at once.
			go change("soon after " + test.late.String())
			start = time.Now()
			if m := r.next(); len(m.Events) != 1 || time.Since(start) != 0 {
				t.Errorf("got %d events after %s, want 1 without delay", len(m.Events), time.Since(start))
			}
		}
	})
}

// A client can request a minimum interval between messages. The first change after a quiet time is sent at once.
// Invariant: I4.
func TestMessagesKeepRequestedInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "0"))
		q := query.Query{Every: 50 * time.Millisecond}
		r, p := subscribe(t, cluster, q, ""), openWindow(t, cluster, q, "", 0, 10)
		for name, reader := range map[string]struct {
			settle func() string
			next   func() string
		}{
			"rows":   {r.settle, func() string { return r.next().Type }},
			"window": {p.settle, func() string { return p.next().Type }},
		} {
			reader.settle()
			start := time.Now()
			go func() {
				for n := range 34 {
					server.Set(pods, pod("a", "p", fmt.Sprint(name, n)))
					<-time.After(3 * time.Millisecond)
				}
			}()
			for n := range 3 {
				if kind, after := reader.next(), time.Since(start); !strings.HasSuffix(kind, "events") ||
					after != time.Duration(n)*q.Every {
					t.Errorf("%s: message %d: got type %s after %s", name, n, kind, after)
				}
			}
			if all := reader.settle(); strings.Count(all, "update") != 3 {
				t.Errorf("%s: want 3 updates with the last change in the third message, got %s", name, all)
			}
		}
	})
}

func TestConcurrentSnapshotsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		longRow := pod("a", "long", "1")
		// This row fills the first message of the snapshot. The list stays in memory until the second message is read.
		longRow.UID = strings.Repeat("x", 300<<10)
		server.Set(pods, longRow, pod("a", "p", "1"), pod("b", "q", "1"))
		first := subscribe(t, cluster, query.Query{}, "")
		for first.next().Type != "snapshot" {
			continue
		}
		server.Set(pods, pod("a", "p", "2"))
		synctest.Wait()
		second := subscribe(t, cluster, query.Query{}, "")
		inB := subscribe(t, cluster, query.Query{Namespaces: []string{"b"}}, "")
		for second.next().Type != "snapshot" {
			continue
		}
		now, err := cluster.For(watch.Viewer{Program: true}).Snapshot(
			t.Context(), query.Query{Resource: pods}, time.Minute,
		)
		if err != nil || !strings.Contains(string(now.Objects[1].Cells()), "2") {
			t.Errorf("separate snapshot: got cells %s, error %v; want the current object", now.Objects[1].Cells(), err)
		}
		second.wantSettle("state live, snapshot of 3, update a/p")
		inB.wantSettle("state live, snapshot of 1")
		for _, r := range []*reader{first, second} {
			r.settle()
			r.wantRows("a/long=1", "a/p=2", "b/q=1")
		}
		inB.wantRows("b/q=1")
	})
}
