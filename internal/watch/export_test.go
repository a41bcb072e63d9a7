package watch

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
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

// ForgetOrders drops the orders that nobody holds, and the list that those who
// come together share, without waiting for it.
func (c *Cluster) ForgetOrders() {
	for _, i := range c.pool.informers() {
		i.listings.keep(nil)
		i.rankings.mu.Lock()
		for id, h := range i.rankings.held {
			if h.holders == 0 {
				i.rankings.removeLocked(id, h)
			}
		}
		i.rankings.mu.Unlock()
	}
}

// Put makes an object what there is of it, as a watch would.
func (c *Cluster) Put(ref string, o *Item) {
	for _, i := range c.pool.informers() {
		if i.resource.Ref() == ref {
			i.Set(keyOf(o.Namespace(), o.Name()), o)
		}
	}
}
