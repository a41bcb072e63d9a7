package watch_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// Readers share the encoded text of their changes only if they have the same filter.
// Invariant: I4.
func TestSharedBatchesRespectFilters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "0"), pod("b", "q", "0"), pod("b", "r", "0"))
		q := query.Query{Every: 50 * time.Millisecond}
		inB := q
		inB.Namespaces = []string{"b"}
		readers := []*reader{
			subscribe(t, cluster, q, ""), subscribe(t, cluster, inB, ""), subscribe(t, cluster, q, ""),
		}
		for _, r := range readers {
			r.settle()
		}
		for round := range 3 {
			server.Set(pods, pod("a", "p", fmt.Sprint(round, "x")))
			server.Set(pods, pod("b", "q", strconv.Itoa(round)))
			server.Set(pods, pod("b", "q", fmt.Sprint(round, "y")))
			synctest.Wait()
			for n, want := range []string{"update a/p, update b/q", "update b/q", "update a/p, update b/q"} {
				m := readers[n].next()
				for m.Type != "events" {
					m = readers[n].next()
				}
				var events []string
				for _, e := range m.Events {
					events = append(events, e.Op+" "+e.NS+"/"+e.Name)
				}
				if got := strings.Join(events, ", "); got != want {
					t.Errorf("round %d: reader %d: got %s, want %s", round, n, got, want)
				}
			}
		}
	})
}
