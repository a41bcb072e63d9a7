package watch

import (
	"context"
	"maps"
	"sync"
)

// pagesAtOnce bounds the first pages on their way for one resource, each of which
// is held while it is looked at.
const pagesAtOnce = 4

// pages are the first pages of namespaces, from which it is estimated what they
// would hold. One that does not come holds up no other namespace.
type pages struct {
	mu      sync.Mutex
	of      map[string]*page
	asked   int  // On their way.
	lacking bool // Some have not come, or could not be asked for, see wanted.
	running sync.WaitGroup
}

// page is what one tells.
type page struct {
	objects int
	bytes   int64
	err     error
	here    bool
}

// page returns the first page of a namespace ("" is all, and waited for, as nothing
// can begin before); nil where it is on its way, or will be: then settle is called
// again when there is news.
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

// wanted reports whether a page was wanted that is not here, since it was asked
// last.
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
