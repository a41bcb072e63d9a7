package watch

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"glasshouse/internal/watch/wire"
)

// DigestOf is the digest of rows, each a key and a resourceVersion.
func DigestOf(rows [][2]string) (count int, text string) {
	var d digest
	for _, row := range rows {
		d.add(row[0], row[1])
	}
	return d.count, fmt.Sprintf("%08x", d.sum)
}

// Labels is a JSON object of labels, as a selector reads it.
func Labels(text string) labels.Labels { return labelText(text) }

func (c *Cluster) informerOf(ref string) *informer {
	c.catalog.mu.Lock()
	defer c.catalog.mu.Unlock()
	return c.pool.find(wire.Scope{Resource: c.catalog.resources[indexOf(c.catalog.resources, ref)].gvr()})
}

// TakeOut takes all rows of a resource out, as where it may not be seen any more;
// before the readers hear of it, reading is called, while nothing can be read.
func (c *Cluster) TakeOut(ref string, reading func()) {
	i := c.informerOf(ref)
	refuse := sync.OnceFunc(func() {
		reading()
		i.mu.Lock()
		defer i.mu.Unlock()
		for _, f := range i.feeds {
			f.now.synced = false
			f.now.set(Forbidden, time.Now(), "It may not be seen any more.")
		}
	})
	i.purge(func(string) bool { refuse(); return true })
}

// Recolumn gives a resource another column, as a list does before its rows come;
// before the readers hear of it, reading is called, while nothing can be read.
func (c *Cluster) Recolumn(ref, column string, reading func()) {
	i := c.informerOf(ref)
	i.mu.Lock()
	feed := i.feeds[""]
	i.mu.Unlock()
	recolumn := sync.OnceFunc(func() {
		reading()
		feed.recolumn([]wire.Column{{Name: column}})
	})
	i.ReplaceIn(func(string) bool { recolumn(); return false }, nil, nil, memo{})
	i.Nudge()
}

// BeginAnew has all readers of a resource begin anew.
func (c *Cluster) BeginAnew(ref string) { c.informerOf(ref).beginAnew() }

// Once returns what the first who asks makes, each time the same way.
func Once[T any]() func(make func() (T, error)) (T, error) { return new(once[T]).get }
