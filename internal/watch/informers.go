package watch

import "glasshouse/internal/watch/listwatch"

// find returns the running informer of a scope, or nil if there is none.
func (c *Cluster) find(scope listwatch.Scope) *sharedInformer { return shared(c.pool.Find(scope)) }

// sharedInformers returns the running informers.
func (c *Cluster) sharedInformers() []*sharedInformer {
	all := c.pool.Informers()
	informers := make([]*sharedInformer, len(all))
	for n, i := range all {
		informers[n] = shared(i)
	}
	return informers
}
