package reconcile

import (
	"context"
	"maps"
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// maxConcurrentProbes is the maximum number of simultaneous size probes for lists of one resource. Each probe has the
// first page of its list in memory.
const maxConcurrentProbes = 4

// sizeProbes estimates the sizes of lists. A probe requests the first page of a list. Probes run concurrently, so that
// a slow response does not delay other namespaces.
type sizeProbes struct {
	client  *listwatch.Client
	scope   listwatch.Scope
	arrived func() // Called when the response to a probe has arrived.

	mu       sync.Mutex
	probes   map[string]*sizeProbe
	inFlight int
	running  sync.WaitGroup
}

type sizeProbe struct {
	objects int
	bytes   int64
	err     error
	arrived bool
}

// probe returns the estimated size of a namespace's list. It returns nil if the response has not arrived yet.
func (p *sizeProbes) probe(ctx context.Context, namespace string) *sizeProbe {
	scope := p.scope
	scope.Namespace = namespace
	// Wait for this response, because it determines whether one feed can cover all namespaces. No feed can start earlier.
	if namespace == "" {
		probe := &sizeProbe{}
		probe.objects, probe.bytes, probe.err = p.client.Estimate(ctx, scope)
		return probe
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	probe := p.probes[namespace]
	if probe != nil && probe.arrived {
		delete(p.probes, namespace)
		return probe
	}
	if probe != nil || p.inFlight == maxConcurrentProbes {
		return nil
	}
	probe = &sizeProbe{}
	p.probes[namespace] = probe
	p.inFlight++
	p.running.Go(func() {
		objects, bytes, err := p.client.Estimate(ctx, scope)
		p.mu.Lock()
		*probe = sizeProbe{objects: objects, bytes: bytes, err: err, arrived: true}
		p.inFlight--
		p.mu.Unlock()
		p.arrived()
	})
	return nil
}

func (p *sizeProbes) drop(filter func(namespace string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.probes, func(ns string, _ *sizeProbe) bool { return filter(ns) })
}

// tryList sends a short list request, and returns the state that a feed of the namespace would have after the response.
// reason is the error in the response, or "".
func tryList(
	ctx context.Context, client *listwatch.Client, scope listwatch.Scope, namespace string,
) (state status.State, reason string) {
	scope.Namespace = namespace
	if _, _, err := client.Estimate(ctx, scope); err != nil {
		return status.StateOf(err, false), status.ReasonOf(err)
	}
	return status.Live, ""
}
