package watch_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// A sink logs each change of the objects of one resource. A real program would write the versions and the position to a
// disk, in one transaction.
type sink struct {
	resource, position string
	versions           map[string]string // "namespace/name" of each object to its resourceVersion
	log                []string
}

func (s *sink) follow(ctx context.Context, cluster *watch.Cluster) error {
	q := query.Query{Resource: s.resource}
	reader, err := cluster.For(watch.Viewer{Program: true}).ReadChanges(ctx, q, s.position)
	if err != nil {
		return err
	}
	defer reader.Close()
	for {
		batch, err := reader.Next(ctx)
		if err != nil {
			return err
		}
		if batch.IsSnapshot {
			s.compare(batch)
		}
		for _, c := range batch.Changes {
			if c.New != nil {
				s.store(c.Key, c.New.ResourceVersion())
			} else if !c.Memo.CoverageOnly {
				s.store(c.Key, "")
			}
		}
		s.position = batch.Position
	}
}

// compare finds the objects that changed while the sink did not follow them.
func (s *sink) compare(snapshot watch.ChangeBatch) {
	deleted := maps.Clone(s.versions)
	for _, o := range snapshot.Objects {
		key := o.Namespace() + "/" + o.Name()
		delete(deleted, key)
		s.store(key, o.ResourceVersion())
	}
	for key := range deleted {
		namespace, _, _ := strings.Cut(key, "/")
		if snapshot.Status.Namespaces == nil || slices.Contains(snapshot.Status.Namespaces, namespace) {
			s.store(key, "")
		}
	}
}

// store stores the resourceVersion of an object, or "" for a deleted object.
func (s *sink) store(key, version string) {
	switch before := s.versions[key]; {
	case before == version:
		return // Only the verdict changed, or the namespace is watched again.
	case version == "":
		s.log = append(s.log, "delete "+key)
	case before == "":
		s.log = append(s.log, "add "+key)
	default:
		s.log = append(s.log, "update "+key)
	}
	s.versions[key] = version
}

// A sink of three kinds gets each change once, also a change that happens while the sink is restarted.
func TestSinkContinuesAtItsPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := serverOf(t, pods, configMaps, secrets)
		cluster := runCluster(t, server)
		sinks := newSinks(pods, configMaps, secrets)
		followDuring(t, cluster, sinks, func() { server.Set(pods, pod("a", "p", "Running")) }, "add a/p")
		server.Set(pods, pod("a", "p", "Failed"))
		server.Delete(pods, "a", "p")
		server.Set(secrets, pod("b", "s", ""))
		followDuring(t, cluster, sinks, func() { server.Set(configMaps, pod("a", "m", "")) },
			"update a/p", "delete a/p", "add a/m", "add b/s")
	})
}
