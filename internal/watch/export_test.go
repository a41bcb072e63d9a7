package watch

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

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

// Uncover has the pods of a namespace be as they are for a moment after the right
// to them is gone, until it is restored: not watched, and their rows still there.
func (c *Cluster) Uncover(namespace string) (restore func()) {
	i := c.pool.find(wire.Scope{Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}})
	i.mu.Lock()
	defer i.mu.Unlock()
	f := i.feeds[namespace]
	delete(i.feeds, namespace)
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.feeds[namespace] = f
	}
}
