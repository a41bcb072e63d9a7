package watch_test

import (
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// An informer without readers ends after the linger time. The next informer counts offsets from zero, so cursors of the
// earlier informer are invalid, even if the offsets of the next informer have reached the same numbers.
func TestCursorOfEarlierJournalIsReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		first := subscribe(t, cluster, query.Query{}, "")
		first.settle()
		first.sub.Close()
		<-time.After(6 * time.Minute)
		server.Set(pods, pod("a", "q", "Running"))
		other := subscribe(t, cluster, query.Query{}, "")
		other.settle()
		again := subscribe(t, cluster, query.Query{}, first.cursor)
		if m := again.next(); m.Type != "reset" ||
			m.Reason != "the history of the resource was restarted after the cursor was issued" {
			t.Errorf("got %+v, want a reset because of a relist", m)
		}
		again.settle()
		again.wantRows("a/p=Running", "a/q=Running")
	})
}

// Cursors are encrypted, because an offset would reveal the number of changes of all objects.
func TestCursorsHideOffsets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		seen := make(map[string]bool)
		for n := range 20 {
			server.Set(pods, pod("a", "p", strconv.Itoa(n)))
			r.settle()
			text, err := base64.RawURLEncoding.DecodeString(r.cursor)
			if err != nil || len(text) != 15 {
				t.Fatalf("cursor %q: want 15 bytes of base64, got error %v", r.cursor, err)
			}
			// The offsets in this test are below 1000. An unencrypted offset would be a number below 1000 in the cursor.
			for at := range len(text) - 4 {
				if number := binary.BigEndian.Uint32(text[at:]); number < 1000 {
					t.Errorf("cursor %x contains the unencrypted number %d", text, number)
				}
			}
			if seen[r.cursor] || seen[string(text[:4])] {
				t.Errorf("cursor %x repeats an earlier one or its first bytes", text)
			}
			seen[r.cursor], seen[string(text[:4])] = true, true
		}
	})
}
