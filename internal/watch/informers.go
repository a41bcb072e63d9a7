package watch

import (
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/stream"
)

// find returns the running informer of a scope (what to list and watch), or nil if there is none.
func (c *Cluster) find(scope listwatch.Scope) *stream.SharedInformer {
	return stream.Shared(c.pool.Find(scope))
}

// sharedInformers returns the running informers.
func (c *Cluster) sharedInformers() []*stream.SharedInformer {
	all := c.pool.Informers()
	informers := make([]*stream.SharedInformer, len(all))
	for n, i := range all {
		informers[n] = stream.Shared(i)
	}
	return informers
}
