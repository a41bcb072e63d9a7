package watch

import (
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/stream"
)

func (c *Cluster) find(scope listwatch.Scope) *stream.SharedInformer {
	return stream.Shared(c.pool.Find(scope))
}

func (c *Cluster) sharedInformers() []*stream.SharedInformer {
	all := c.pool.Informers()
	informers := make([]*stream.SharedInformer, len(all))
	for n, i := range all {
		informers[n] = stream.Shared(i)
	}
	return informers
}
