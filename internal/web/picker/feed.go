package picker

import (
	"context"
	"strings"
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

// Feed builds the resource list and the object counts. All sessions with the same Viewer.Key and the same namespaces
// share one Feed.
type Feed struct {
	Resources SharedDocs
	Counts    Counts

	refs     int
	stop     context.CancelFunc
	counting sync.WaitGroup
}

// Feeds contains one Feed for each combination of a cluster, a Viewer.Key and namespaces that has an open session.
type Feeds struct {
	mu    sync.Mutex
	byKey map[feedKey]*Feed
}

type feedKey struct {
	cluster *request.Cluster
	viewer  string
	// namespaces are joined by commas; empty for all.
	namespaces string
}

// Join returns the running Feed for a viewer of a cluster. It counts the objects in the namespaces, which are
// sorted; no namespaces mean all. Each session must call leave exactly once.
func (f *Feeds) Join(cluster *request.Cluster, viewer watch.Viewer, namespaces []string) (a *Feed, leave func()) {
	key := feedKey{cluster, viewer.Key(), strings.Join(namespaces, ",")}
	f.mu.Lock()
	defer f.mu.Unlock()
	a = f.byKey[key]
	if a == nil {
		ctx, cancel := context.WithCancel(cluster.Context())
		a = &Feed{Resources: NewSharedDocs(), stop: cancel}
		a.counting.Go(func() { a.Counts.run(ctx, cluster.Cluster.For(viewer).Resources().In(namespaces).Counts) })
		if f.byKey == nil {
			f.byKey = make(map[feedKey]*Feed)
		}
		f.byKey[key] = a
	}
	a.refs++
	return a, func() { f.leave(key, a) }
}

func (f *Feeds) leave(key feedKey, a *Feed) {
	f.mu.Lock()
	a.refs--
	last := a.refs == 0
	if last {
		delete(f.byKey, key)
	}
	f.mu.Unlock()
	if last {
		a.stop()
		a.counting.Wait()
	}
}
