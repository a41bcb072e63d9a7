package watch_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// Invariant: I5.
func TestNextReturnsAfterContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		const podCount = 2000
		fill := func(letter string) {
			for n := range podCount {
				server.Set(pods, pod("a", fmt.Sprint("p-", n), strings.Repeat(letter, 300)))
			}
		}
		fill("a")
		for _, kind := range []string{"snapshot", "events"} {
			r := subscribe(t, cluster, query.Query{}, "")
			if kind == "events" {
				r.settle()
				fill("b")
				synctest.Wait()
			}
			ctx, cancel := context.WithCancel(t.Context())
			for text := ""; !strings.HasPrefix(text, fmt.Sprintf(`"type":%q`, kind)); {
				message, err := r.sub.Next(ctx)
				if err != nil {
					t.Fatal(err)
				}
				text = string(message)
			}
			cancel()
			if message, err := r.sub.Next(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("Next after cancel during %s messages: got %.60s.. (error %v), want context.Canceled", kind, message, err)
			}
			r.sub.Close()
		}
	})
}
