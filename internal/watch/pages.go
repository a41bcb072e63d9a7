package watch

import (
	"context"
	"maps"
	"sync"
)

// pagesAtOnce limits the concurrent first pages for one resource, because each is in memory until its size is known.
const pagesAtOnce = 4

// pages contains the first pages of lists of namespaces, from which the memory that each needs is estimated. A slow one
// does not delay the others.
type pages struct {
	mu      sync.Mutex
	of      map[string]*page
	asked   int  // Requests in flight.
	lacking bool // Some have not arrived, or could not be requested, see wanted.
	running sync.WaitGroup
}

// page is the result of one first page.
type page struct {
	objects int
	bytes   int64
	err     error
	here    bool
}

// page returns the first page of a namespace. It waits for that of all namespaces (""), because nothing can start
// before. For one namespace it returns nil while the page is in flight or not requested yet. The reconciler runs again
// when a page arrives.
func (s *settler) page(ctx context.Context, namespace string) *page {
	scope := s.scope
	scope.Namespace = namespace
	p := &s.pages
	if namespace == "" {
		one := &page{}
		one.objects, one.bytes, one.err = s.client.Estimate(ctx, scope)
		return one
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.of[namespace]
	if one != nil && one.here {
		delete(p.of, namespace)
		return one
	}
	p.lacking = true
	if one != nil || p.asked == pagesAtOnce {
		return nil
	}
	if p.of == nil {
		p.of = make(map[string]*page)
	}
	one = &page{}
	p.of[namespace] = one
	p.asked++
	p.running.Go(func() {
		objects, bytes, err := s.client.Estimate(ctx, scope)
		p.mu.Lock()
		*one = page{objects: objects, bytes: bytes, err: err, here: true}
		p.asked--
		p.mu.Unlock()
		s.kick()
	})
	return nil
}

// wanted reports whether a page was missing since the last call.
func (p *pages) wanted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	lacking := p.lacking
	p.lacking = false
	return lacking
}

// drop forgets the pages of namespaces.
func (p *pages) drop(which func(namespace string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.of, func(ns string, _ *page) bool { return which(ns) })
}
