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

// TakeOut takes all rows of a resource out, as where it may not be seen any more;
// before the readers hear of it, reading is called, while nothing can be read.
func (c *Cluster) TakeOut(ref string, reading func()) {
	c.catalog.mu.Lock()
	resource := c.catalog.resources[indexOf(c.catalog.resources, ref)]
	c.catalog.mu.Unlock()
	i := c.pool.find(wire.Scope{Resource: resource.gvr()})
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

// Once returns what the first who asks makes, each time the same way.
func Once[T any]() func(make func() (T, error)) (T, error) { return new(once[T]).get }
