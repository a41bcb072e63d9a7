package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/informer/budget"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

const (
	// estimateDelay is the time after which the memory of a list is estimated again, if the list did not fit into the
	// free memory.
	estimateDelay = time.Minute
	// relistDelay is the delay before the program repeats a list that it canceled because the objects exceeded the free
	// memory. The delay is long, because the canceled list read many objects in vain.
	relistDelay = 5 * time.Minute
	// changeMargin is the factor by which a memory estimate is multiplied, because objects can be added after the list.
	changeMargin = 1.1
)

// estimate is the memory that the watch of a namespace needs, or the reason why it does not fit into the free memory.
type estimate struct {
	reserved *budget.Reservation // Memory for the objects that will be listed.
	refusal  string              // Why the watch does not fit; empty if it fits.
	until    time.Time
}

// fits reports whether the watch of a namespace fits into the memory budget. While the estimate of its size has not
// arrived, it returns false.
func (r *Reconciler) fits(ctx context.Context, namespace string) bool {
	if r.informer.Account.Limit() == 0 || r.feeds.IsWatched(namespace) {
		return true
	}
	if cached := r.estimates[namespace]; time.Now().Before(cached.until) {
		r.fail(namespace, cached.refusal)
		return false
	}
	probe := r.probes.probe(ctx, namespace)
	r.isIncomplete = r.isIncomplete || probe == nil
	return probe != nil && r.estimateFits(namespace, probe)
}

// estimateFits estimates a namespace's memory from the first page of its list, and reports whether it fits.
func (r *Reconciler) estimateFits(namespace string, probe *sizeProbe) bool {
	// If the probe failed, start the feed without an estimate: its complete list reports the error, or is canceled if it
	// does not fit into memory.
	if probe.err != nil {
		r.estimates[namespace] = estimate{}
		return true
	}
	replaced := int64(0)
	// A list of all namespaces replaces the objects of the single namespaces. Therefore, subtract the memory of these
	// objects.
	if namespace == "" {
		replaced = r.informer.Stats().CacheBytes
	}
	bytes := int64(float64(budget.WeightOf(probe.objects, probe.bytes)) * changeMargin)
	additional := max(0, bytes-replaced)
	free, fits := r.informer.Account.MakeRoom(additional)
	if fits {
		// The reserved memory is released when the namespace has been listed; see takeReservation.
		r.estimates[namespace] = estimate{reserved: r.informer.Account.Reserve(additional)}
		return true
	}
	free += replaced
	refusal := fmt.Sprintf("The %d objects need about %s of memory, and %s of the %s for watched objects are free: %s.",
		probe.objects, budget.FormatBytesUp(bytes), budget.FormatBytes(max(0, free)),
		budget.FormatBytes(r.informer.Account.Limit()), r.advice(namespace))
	r.estimates[namespace] = estimate{refusal: refusal, until: time.Now().Add(estimateDelay)}
	r.fail(namespace, refusal)
	return false
}

func (r *Reconciler) advice(namespace string) string {
	if r.scope.Fields != "" {
		return "use a narrower field selector, or increase --memory-limit"
	}
	if r.resource.Namespaced && namespace == "" {
		return "select one namespace or a few (ns=NAME), use a field selector, or increase --memory-limit"
	}
	return "use a field selector, or increase --memory-limit"
}

// takeReservation returns the memory that is reserved for the list of a namespace, and deletes the estimate. Without an
// estimate, it returns a reservation of 0 bytes.
func (r *Reconciler) takeReservation(namespace string) *budget.Reservation {
	reserved := r.estimates[namespace].reserved
	delete(r.estimates, namespace)
	return cmp.Or(reserved, r.informer.Account.Reserve(0))
}

func (r *Reconciler) fail(namespace, reason string) {
	r.feeds.Deny(status.Failed, map[string]string{namespace: reason})
}

// dropOversized stops each feed (list and watch) whose list did not fit into memory, and removes its rows.
func (r *Reconciler) dropOversized() {
	oversized := make(map[string]status.Status)
	for ns, current := range r.feeds.Running() {
		if current.State == status.Failed {
			current.Reason += ": " + r.advice(ns) + "."
			oversized[ns] = current
		}
	}
	r.feeds.Drop(oversized)
	for ns, current := range oversized {
		r.estimates[ns] = estimate{refusal: current.Reason, until: time.Now().Add(relistDelay)}
	}
}

// enforceBudget stops all feeds of the informer if it exceeds the memory budget, and reports whether it has stopped
// them.
func (r *Reconciler) enforceBudget() bool {
	if !r.informer.Account.IsExceeded() {
		return false
	}
	prefix := fmt.Sprintf("The objects of the resource need %s of memory, and the limit for all watched objects is %s: ",
		budget.FormatBytesUp(r.informer.Account.Load()), budget.FormatBytes(r.informer.Account.Limit()))
	refusals := make(map[string]string)
	for ns := range r.feeds.Running() {
		refusals[ns] = prefix + r.advice(ns) + "."
	}
	r.feeds.Deny(status.Failed, refusals)
	r.feeds.End()
	r.clearRows()
	// Also refuse one watch of all namespaces, which needs at least as much memory as the stopped feeds.
	refusals[""] = prefix + r.advice("") + "."
	for ns, refusal := range refusals {
		r.estimates[ns] = estimate{refusal: refusal, until: time.Now().Add(estimateDelay)}
	}
	return true
}
