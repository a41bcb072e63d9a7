package watch

import (
	"context"
	"maps"
	"sync"
)

// pagesAtOnce limits the concurrent requests for first pages of one resource, because each page is in memory until its
// size is known.
const pagesAtOnce = 4

// pages contains the first page of the list of each namespace. The memory that a complete list needs is estimated from
// it. A slow page does not delay the others.
type pages struct {
	mu      sync.Mutex
	of      map[string]*page
	asked   int  // Requests in flight.
	lacking bool // Some pages have not arrived, or could not be requested; see wanted.
	running sync.WaitGroup
}

// page is the result of one first page.
type page struct {
	objects int
	bytes   int64
	err     error
	here    bool
}

// page returns the first page of the list of a namespace. For all namespaces ("") it waits for the response, because
// nothing can start before. For one namespace it returns nil while the page is in flight or not requested yet. The
// reconciler runs again when a page arrives.
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

// wanted reports whether the method page has returned nil since the last call of wanted, because a page was missing.
func (p *pages) wanted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	lacking := p.lacking
	p.lacking = false
	return lacking
}

// drop deletes the pages of the namespaces for which which() is true.
func (p *pages) drop(which func(namespace string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.of, func(ns string, _ *page) bool { return which(ns) })
}
