package watch_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

// serverOf returns an API server with resources that have the columns of pods.
func serverOf(t *testing.T, refs ...string) *apitest.Server {
	t.Helper()
	served := kinds()[1:]
	for _, ref := range refs {
		served = append(served, apitest.Kind{Ref: ref, Kind: "Kind of " + ref, Columns: kinds()[0].Columns})
	}
	return apitest.New(t, served...)
}

func newSinks(refs ...string) (sinks []*sink) {
	for _, ref := range refs {
		sinks = append(sinks, &sink{resource: ref, versions: map[string]string{}})
	}
	return sinks
}

// followDuring starts the sinks, makes a change, stops the sinks, and compares what they logged meanwhile.
func followDuring(t *testing.T, cluster *watch.Cluster, sinks []*sink, change func(), want ...string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, s := range sinks {
		running.Go(func() {
			if err := s.follow(ctx, cluster); !errors.Is(err, context.Canceled) {
				t.Errorf("follow %s: got error %v, want context.Canceled", s.resource, err)
			}
		})
	}
	advance(time.Second)
	change()
	advance(time.Second)
	stop()
	running.Wait()
	var got []string
	for _, s := range sinks {
		got, s.log = append(got, s.log...), nil
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// If the position is invalid, the first batch is a snapshot. Positions are invalid if the informer was removed, and
// after a restart of the program.
func TestChangesContinueWithASnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := serverOf(t, pods, configMaps)
		cluster := runCluster(t, server)
		sinks := newSinks(pods, configMaps)
		followDuring(t, cluster, sinks, func() {
			server.Set(pods, pod("a", "p", "Running"))
			server.Set(configMaps, pod("a", "m", ""))
		}, "add a/p", "add a/m")
		server.Set(pods, pod("a", "p", "Failed"))
		server.Delete(configMaps, "a", "m")
		advance(time.Second)
		cluster.Informer(pods).Forget()
		cluster.Informer(configMaps).Forget()
		followDuring(t, cluster, sinks, func() { server.Set(configMaps, pod("b", "n", "")) },
			"update a/p", "delete a/m", "add b/n")
		server.Set(pods, pod("a", "q", "Running"))
		server.Delete(configMaps, "b", "n")
		cluster = runCluster(t, server)
		followDuring(t, cluster, sinks, func() { server.Set(configMaps, pod("a", "o", "")) },
			"add a/q", "delete b/n", "add a/o")
	})
}
