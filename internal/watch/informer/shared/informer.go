// Package shared extends informers by results that many readers need: lists of objects, rankings, digests and encoded
// batches. Each result is computed once for all its readers.
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
	problems problems
}

// Extend extends an informer by the results that its readers share. Of returns the extended informer.
func Extend(i *informer.Informer) {
	i.Extension = &Informer{Informer: i, digests: newDigests(), problems: newProblems()}
}

// Of returns the Informer that extends i. It returns nil if i is nil or not extended.
func Of(i *informer.Informer) *Informer {
	if i == nil {
		return nil
	}
	s, _ := i.Extension.(*Informer)
	return s
}

// Weight returns the memory of the rankings in bytes. All other shared results are small, or soon freed.
func (i *Informer) Weight() int64 { return i.Rankings.Weight() }

// Resource returns the resource that the informer watches. Only Group, Version and Resource are set.
func (i *Informer) Resource() *resource.Resource {
	gvr := i.Scope.Resource
	return &resource.Resource{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource}
}
