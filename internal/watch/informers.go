package watch

import (
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/resource"
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

func resourcesOf(informers []*stream.SharedInformer) []*resource.Resource {
	resources := make([]*resource.Resource, len(informers))
	for n, i := range informers {
		resources[n] = stream.ResourceOf(i)
	}
	return resources
}
