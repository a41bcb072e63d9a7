package watch_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// sink is an example of a program that stores changes. A real program would write the versions and the positions to a
// disk in one transaction.
type sink struct {
	versions  map[string]map[string]string // Resource and object ("namespace/name") to the resourceVersion of the object.
	positions map[string]string
	log       []string
	cache     event.Cache
	mu        sync.Mutex
}

func (s *sink) follow(ctx context.Context, cluster *watch.Cluster, ref string) error {
	s.mu.Lock()
	position := s.positions[ref]
	s.mu.Unlock()
	reader, err := cluster.For(watch.Viewer{Program: true}).ReadChanges(ctx, query.Query{Resource: ref}, position)
	if err != nil {
		return err
	}
	defer reader.Close()
	for {
		batch, err := reader.Next(ctx)
		if err != nil {
			return err
		}
		if err := s.process(ref, batch); err != nil {
			return err
		}
	}
}

func (s *sink) process(ref string, batch watch.ChangeBatch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.versions[ref]
	if batch.IsSnapshot {
		gone := maps.Clone(known)
		for _, o := range batch.Objects {
			key := o.Namespace() + "/" + o.Name()
			delete(gone, key)
			s.compare(ref, key, o.ResourceVersion())
		}
		for key := range gone {
			namespace, _, _ := strings.Cut(key, "/")
			if batch.Status.Namespaces == nil || slices.Contains(batch.Status.Namespaces, namespace) {
				delete(known, key)
				s.log = append(s.log, "gone "+ref+" "+key)
			}
		}
	}
	for _, c := range batch.Changes {
		if c.Memo.CoverageOnly {
			if c.Op != journal.Delete {
				s.compare(ref, c.Key, c.New.ResourceVersion())
			}
			continue
		}
		line := map[journal.Op]string{journal.Add: "add ", journal.Update: "update ", journal.Delete: "delete "}[c.Op] +
			ref + " " + c.Key
		author, err := event.AuthorOf(c, &s.cache)
		switch {
		case err != nil:
			return err
		case author != nil:
			line += " by " + author.Manager
		}
		if c.Op == journal.Delete {
			delete(known, c.Key)
		} else {
			known[c.Key] = c.New.ResourceVersion()
		}
		s.log = append(s.log, line)
	}
	s.positions[ref] = batch.Position
	return nil
}

// compare logs the state of an object if its version is not the stored one.
func (s *sink) compare(ref, key, version string) {
	if s.versions[ref][key] != version {
		s.versions[ref][key] = version
		s.log = append(s.log, "state "+ref+" "+key)
	}
}

// A sink gets each change once: after its own restart, and after a restart of the program, when its positions are
// invalid.
func TestSinkContinuesAtItsPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const maps, secrets = "core/v1/configmaps", "core/v1/secrets"
		server := apitest.New(t, append(kinds(),
			apitest.Kind{Ref: maps, Kind: "ConfigMap", Columns: kinds()[0].Columns},
			apitest.Kind{Ref: secrets, Kind: "Secret", Columns: kinds()[0].Columns})...)
		cluster := runCluster(t, server)
		resources := []string{pods, maps, secrets}
		s := &sink{versions: map[string]map[string]string{pods: {}, maps: {}, secrets: {}}, positions: map[string]string{}}
		during := func(act func(), want ...string) {
			t.Helper()
			ctx, stop := context.WithCancel(t.Context())
			var running sync.WaitGroup
			for _, ref := range resources {
				running.Go(func() {
					if err := s.follow(ctx, cluster, ref); !errors.Is(err, context.Canceled) {
						t.Errorf("follow %s: got error %v, want context.Canceled", ref, err)
					}
				})
			}
			advance(time.Second)
			act()
			advance(time.Second)
			stop()
			running.Wait()
			// The order of changes is defined only within one resource. Therefore, sort the lines by resource before the
			// comparison.
			for _, lines := range [][]string{s.log, want} {
				slices.SortStableFunc(lines, func(a, b string) int {
					return strings.Compare(strings.Fields(a)[1], strings.Fields(b)[1])
				})
			}
			if !slices.Equal(s.log, want) {
				t.Errorf("got %s, want %s", s.log, want)
			}
			s.log = nil
		}
		during(func() { server.Set(pods, managedBy(pod("a", "p", "Running"), 1, "helm", labels)) },
			"add "+pods+" a/p by helm")
		server.Set(pods, pod("a", "p", "Failed"))
		server.Delete(pods, "a", "p")
		during(func() { server.Set(maps, pod("a", "m", "")) },
			"update "+pods+" a/p", "delete "+pods+" a/p", "add "+maps+" a/m")
		server.Set(pods, pod("a", "q", "Running"))
		server.Delete(maps, "a", "m")
		advance(time.Second)
		cluster.Informer(pods).Forget()
		cluster.Informer(maps).Forget()
		during(func() { server.Set(secrets, pod("b", "s", "")) },
			"state "+pods+" a/q", "gone "+maps+" a/m", "add "+secrets+" b/s")
		server.Set(pods, pod("a", "q", "Failed"))
		server.Delete(secrets, "b", "s")
		cluster = runCluster(t, server)
		during(func() { server.Set(maps, pod("a", "n", "")) },
			"state "+pods+" a/q", "add "+maps+" a/n", "gone "+secrets+" b/s")
	})
}
