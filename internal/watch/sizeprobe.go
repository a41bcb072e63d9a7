package watch

import (
	"context"
	"maps"
	"sync"
)

// maxConcurrentProbes limits the concurrent requests for first pages of one resource, because each page is in memory
// until its size is known.
const maxConcurrentProbes = 4

// sizeProbes contains the first page of the list of each namespace. The memory that a complete list needs is estimated
// from it. A slow page does not delay the others.
type sizeProbes struct {
	mu        sync.Mutex
	probes    map[string]*sizeProbe
	inFlight  int  // Requests in flight.
	isMissing bool // Some pages have not arrived, or could not be requested; see takeMissing.
	running   sync.WaitGroup
}

// sizeProbe is the result of one first page.
type sizeProbe struct {
	objects int
	bytes   int64
	err     error
	arrived bool
}

// probe returns the first page of the list of a namespace. For all namespaces ("") it waits for the response, because
// nothing can start before. For one namespace it returns nil while the page is in flight or not requested yet. The
// reconciler runs again when a page arrives.
func (s *reconciler) probe(ctx context.Context, namespace string) *sizeProbe {
	scope := s.scope
	scope.Namespace = namespace
	p := &s.probes
	if namespace == "" {
		probe := &sizeProbe{}
		probe.objects, probe.bytes, probe.err = s.client.Estimate(ctx, scope)
		return probe
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	probe := p.probes[namespace]
	if probe != nil && probe.arrived {
		delete(p.probes, namespace)
		return probe
	}
	p.isMissing = true
	if probe != nil || p.inFlight == maxConcurrentProbes {
		return nil
	}
	if p.probes == nil {
		p.probes = make(map[string]*sizeProbe)
	}
	probe = &sizeProbe{}
	p.probes[namespace] = probe
	p.inFlight++
	p.running.Go(func() {
		objects, bytes, err := s.client.Estimate(ctx, scope)
		p.mu.Lock()
		*probe = sizeProbe{objects: objects, bytes: bytes, err: err, arrived: true}
		p.inFlight--
		p.mu.Unlock()
		s.requestReconcile()
	})
	return nil
}

// takeMissing reports whether probe has returned nil since the last call of takeMissing. probe returns nil while the
// first page of a list has not arrived.
func (p *sizeProbes) takeMissing() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	isMissing := p.isMissing
	p.isMissing = false
	return isMissing
}

// drop deletes the pages of the namespaces for which matches() is true.
func (p *sizeProbes) drop(matches func(namespace string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.probes, func(ns string, _ *sizeProbe) bool { return matches(ns) })
}
