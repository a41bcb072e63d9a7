package watch_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

const secrets = "core/v1/secrets"

func secret(value string) apitest.Item {
	return apitest.Item{Namespace: "a", Name: "s", Rest: fmt.Sprintf(`"data":{"k":%q}`, value)}
}

// The change number in the mask of a Secret increases by one with each change, even if a new feed (list and watch)
// replaces the old one between two changes.
// Invariant: I16.
func TestMaskCountsContinueAcrossFeeds(t *testing.T) {
	for wait := range 12 {
		t.Run(fmt.Sprintf("wait %d s", wait), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				server.AddKind(apitest.Kind{Ref: secrets, Kind: "Secret", Columns: `[{"name":"Name","type":"string"}]`})
				server.Set(secrets, secret("one"))
				sub, err := cluster.For(watch.Viewer{Program: true}).Subscribe(
					t.Context(), query.Query{Resource: secrets, Namespaces: []string{"a"}, Name: "s"}, stream.Object, "",
				)
				if err != nil {
					t.Fatal(err)
				}
				defer sub.Close()
				updates := func() (all []string) {
					for {
						m, err := sub.Next(t.Context())
						if err != nil || strings.Contains(string(m), `"heartbeat"`) {
							return all
						}
						if strings.Contains(string(m), `"op":"update"`) {
							all = append(all, string(m))
						}
					}
				}
				updates()
				server.Set(secrets, secret("two"))
				updates()
				server.RefuseWatches(secrets, http.StatusForbidden)
				<-time.After(2 * time.Minute)
				<-time.After(time.Duration(wait) * time.Second)
				server.Set(secrets, secret("three"))
				server.RefuseWatches(secrets, 0)
				<-time.After(time.Minute)
				if got := updates(); len(got) != 1 ||
					!strings.Contains(got[0], `"/data/k","value":"(masked, change 2)"`) {
					t.Errorf("got %s, want one update with the mask of change 2", got)
				}
			})
		})
	}
}

// The watch status of a resource includes the memory for data about masked values, about 500 bytes for each Secret.
// Invariant: I23.
func TestWatchStatusIncludesMasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.AddKind(apitest.Kind{Ref: secrets, Kind: "Secret", Columns: `[{"name":"Name","type":"string"}]`})
		for n := range 100 {
			s := secret("one")
			s.Name = fmt.Sprint("s", n)
			server.Set(secrets, s)
			s.Rest = strings.ReplaceAll(s.Rest, "one", "(masked)")
			server.Set(pods, s)
		}
		subscribe(t, cluster, query.Query{}, "").settle()
		subscribe(t, cluster, query.Query{Resource: secrets}, "").settle()
		cached := make(map[string]int64)
		for _, c := range cluster.WatchStatus().Entries {
			cached[c.Resource] = c.CacheBytes
		}
		if more := cached[secrets] - cached[pods]; more < 40_000 || more > 70_000 {
			t.Errorf("100 Secrets use %d bytes more than 100 pods, want about 500 bytes for each", more)
		}
	})
}
