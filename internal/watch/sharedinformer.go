package watch

import (
	"glasshouse/internal/watch/informer"
	"glasshouse/internal/watch/ranking"
	"glasshouse/internal/watch/resource"
)

// sharedInformer is an informer with the results that its readers share, so that each is computed once.
type sharedInformer struct {
	*informer.Informer

	listings      listings
	digests       digests
	sharedBatches sharedBatches
	rankings      ranking.Set
}

// newSharedInformer extends an informer by the results that its readers share.
func newSharedInformer(i *informer.Informer) *sharedInformer {
	s := &sharedInformer{Informer: i}
	i.Extension = s
	return s
}

// Weight returns the memory of the shared results in bytes. Only rankings count, because the others are short-lived.
func (i *sharedInformer) Weight() int64 { return i.rankings.Weight() }

// shared returns the sharedInformer that extends an informer. It returns nil if i is nil.
func shared(i *informer.Informer) *sharedInformer {
	if i == nil {
		return nil
	}
	s, _ := i.Extension.(*sharedInformer) // newSharedInformer sets no other extension.
	return s
}

// informerResources returns the resource of each informer.
func informerResources(informers []*sharedInformer) []*resource.Resource {
	resources := make([]*resource.Resource, len(informers))
	for n, i := range informers {
		resources[n] = resourceOf(i)
	}
	return resources
}

// resourceOf returns the resource that an informer watches. Only Group, Version and Resource are set, because the
// informer's scope contains nothing else.
func resourceOf(i *sharedInformer) *resource.Resource {
	gvr := i.Scope.Resource
	return &resource.Resource{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource}
}
