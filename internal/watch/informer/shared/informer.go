// Package shared extends informers by results that many readers need: lists of objects, rankings, digests and encoded
// batches of changes. It computes each result once for all readers.
//
// All functions are safe for concurrent use. Callers must not change the results.
package shared

import (
	"github.com/glasshouse-project/glasshouse/internal/flight"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/ranking"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

// Informer is an informer with the results that its readers share.
type Informer struct {
	*informer.Informer

	Rankings ranking.Set
	Batches  Batches
	listings listings
	digests  *flight.Cache[query.FilterID, *Digest]
	numbers  numbers
}

// Extend adds the shared results of readers to an informer. The function Of then returns the extended informer.
func Extend(i *informer.Informer) {
	i.Extension = &Informer{Informer: i, digests: newDigests(), numbers: newNumbers()}
}

// Of returns the Informer that extends i. It returns nil if i is nil, or if Extend was not called for i.
func Of(i *informer.Informer) *Informer {
	if i == nil {
		return nil
	}
	s, _ := i.Extension.(*Informer)
	return s
}

// Weight returns the memory of the rankings, in bytes. Other shared results do not count, because they are small or
// soon freed.
func (i *Informer) Weight() int64 { return i.Rankings.Weight() }

// Resource returns the resource that the informer watches. In the result, only Group, Version and Resource are set.
func (i *Informer) Resource() *resource.Resource {
	gvr := i.Scope.Resource
	return &resource.Resource{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource}
}
