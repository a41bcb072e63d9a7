package stream

import (
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/ranking"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

// SharedInformer is an informer with results that several readers need, such as lists of rows. Each is computed once.
type SharedInformer struct {
	*informer.Informer

	listings      listings
	digests       digests
	sharedBatches sharedBatches
	Rankings      ranking.Set
}

// NewSharedInformer extends an informer by the results that its readers share.
func NewSharedInformer(i *informer.Informer) *SharedInformer {
	s := &SharedInformer{Informer: i}
	i.Extension = s
	return s
}

// Weight returns the memory of the rankings in bytes. All other shared results are soon freed.
func (i *SharedInformer) Weight() int64 { return i.Rankings.Weight() }

// Shared returns the SharedInformer that extends an informer. It returns nil if i is nil.
func Shared(i *informer.Informer) *SharedInformer {
	if i == nil {
		return nil
	}
	s, _ := i.Extension.(*SharedInformer)
	return s
}

// ResourceOf returns the resource that an informer watches. Only Group, Version and Resource are set.
func ResourceOf(i *SharedInformer) *resource.Resource {
	gvr := i.Scope.Resource
	return &resource.Resource{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource}
}
