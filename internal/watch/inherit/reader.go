package inherit

import (
	"context"
	"errors"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/demand"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/revisit"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// reader applies the journal of one resource to the index of the engine.
type reader struct {
	*Engine

	resource       *watched
	wasInterrupted bool
	turnover       map[string]struct{} // The namespaces in which objects were created or deleted, and "" for the cluster.
}

// read applies the changes of one journal to the graph until ctx ends or the resource is not watched any more.
func (r *reader) read(ctx context.Context) {
	defer r.resource.stop()
	defer r.resource.release()
	defer func() {
		if ctx.Err() == nil { // If the engine has ended, its method clear removes all objects.
			r.forget()
		}
	}()
	cursor := r.readSnapshot()
	for {
		r.markLists()
		r.recordProgress(cursor)
		//nolint:contextcheck // The resource has a context of its own, which ends when it is not watched any more.
		changes, next, err := r.resource.informer.Next(r.resource.ctx, cursor, maxChanges)
		r.checkInterruption()
		switch {
		case errors.Is(err, journal.ErrGone):
			next = r.readSnapshot()
		case err != nil:
			return
		}
		cursor = next
		r.apply(changes)
	}
}

// isOwn reports whether a kind is the kind of the resource that the reader reads.
func (r *reader) isOwn(kind graph.Kind) bool { return kind == r.resource.kind }

// recordProgress sets isRead and isSynced if the graph contains all objects of the resource.
func (r *reader) recordProgress(cursor journal.Cursor) {
	now := r.resource.informer.CurrentState(nil)
	if now.Status.State == status.Syncing || cursor.Offset != r.resource.informer.Now().Offset {
		return
	}
	r.resource.isRead.Store(true)
	isFirst := now.Synced && !r.resource.isSynced
	if isFirst {
		r.resource.isSynced = true
		r.observation.Restart()
	}
	if now.Synced { // Objects that were not read can count as missing now, or again after an interruption.
		markDependents(r.Engine, r.resource.kind)
	}
	if isFirst {
		r.observation.Restart() // An evaluation that began before the call of markDependents must not count as complete.
		r.queue.Wake()
	}
	r.changed.Broadcast()
}

// checkInterruption restarts the observation while the watch is interrupted, and once afterward, because the changes
// during the interruption are read late. A polled resource is always Stale, but this is not an interruption: its status
// has no Since.
func (r *reader) checkInterruption() {
	now := r.resource.informer.CurrentState(nil).Status
	isInterrupted := now.State == status.Stale && !now.Since.IsZero()
	if isInterrupted || r.wasInterrupted {
		r.observation.Restart()
		r.queue.Wake()
	}
	r.wasInterrupted = isInterrupted
}

// readSnapshot replaces all objects of a resource in the graph.
func (r *reader) readSnapshot() journal.Cursor {
	r.observation.Restart()
	defer r.queue.Wake() // Even without objects, because the engine must complete the observation again.
	entries, cursor := r.resource.informer.Snapshot()
	present := make(map[string]bool, len(entries))
	if r.resource.kind.Kind == "Pod" {
		r.usages.Reset()
	}
	for n := range entries {
		present[entries[n].Key] = true
		r.set(entries[n].Key, nil, entries[n].Value)
	}
	for _, id := range r.graph.All(r.isOwn) {
		if !present[id.Key] {
			r.remove(id)
		}
	}
	return cursor
}

// apply applies a batch of changes. Of several changes of one object, only the result matters.
func (r *reader) apply(changes []*event.Change) {
	if !r.resource.isSynced {
		r.observation.Restart() // These changes can be from the first list. Then their problems are possibly old.
	}
	last := make(map[string]*event.Change, len(changes))
	first := make(map[string]*compact.Object, len(changes))
	for _, c := range changes {
		if c.Op == 0 {
			continue
		}
		if last[c.Key] == nil && c.Op != journal.Add {
			first[c.Key] = c.Old
		}
		last[c.Key] = c
		r.recordChange(c)
	}
	for key, c := range last {
		if c.Op == journal.Delete {
			r.count(key, first[key], nil)
			r.remove(graph.ID{Kind: r.resource.kind, Key: key})
			continue
		}
		r.set(key, first[key], c.New)
	}
}

// set adds or updates an object, and marks the objects that this change can affect. before is nil for a new object.
func (r *reader) set(key string, before, o *compact.Object) {
	id := graph.ID{Kind: r.resource.kind, Key: key}
	isNewText := before == nil || !before.SameText(o)
	hasNewVerdict := before == nil || !before.Verdict().Same(o.Verdict())
	hasNewOwn := before == nil || !before.Verdict().Own().Same(o.Verdict().Own())
	hasNewReferences := false // True if references or, for a pod, labels have changed.
	if isNewText {
		var text []byte // Nil if only metadata is read: the graph then contains no references.
		if !r.resource.informer.Scope.Metadata {
			text, _ = o.JSON()
		}
		r.count(key, before, text)
		refs := objectrefs.Of(text)
		hasNewReferences = r.graph.Set(id, &refs)
	}
	if before == nil && hasNewReferences { // The object is new.
		r.recordTurnover(id)
	}
	r.results.Track(id, o.Verdict(), r.observation.IsRunning())
	var affected []graph.ID
	if isNewText || hasNewOwn {
		affected = append(dependsOnText(r.Engine, id), id)
	}
	if hasNewVerdict || hasNewReferences {
		affected = append(affected, r.neighbors(id)...)
	}
	if hasNewOwn || hasNewReferences {
		affected = append(affected, repeatedBy(r.Engine, id, o.Verdict().Own().Severity())...)
	}
	r.queue.Mark(affected...)
}

// remove removes an object, and marks the objects that the removal can affect.
func (r *reader) remove(id graph.ID) {
	affected := append(dependsOnText(r.Engine, id), r.neighbors(id)...)
	r.graph.Remove(id)
	r.recordTurnover(id)
	r.mentions.Set(id, nil)
	r.cuts.Set(id, nil)
	r.revisits.Cancel(id)
	if r.results.Remove(id) {
		r.publish(id) // Informers of other API versions can still contain the object, so clear its verdict.
	}
	r.queue.Mark(affected...)
}

func (r *reader) recordTurnover(id graph.ID) {
	r.turnover[id.Namespace()], r.turnover[""] = struct{}{}, struct{}{}
}

// markLists marks the objects whose rules read all objects of the kind, if some were created or deleted since the last
// call. It limits how often the same objects are marked. For the first list, markDependents does this.
func (r *reader) markLists() {
	for namespace := range r.turnover {
		if all := revisit.AllOf(r.resource.kind, namespace); r.resource.isRead.Load() && r.mentions.Has(all) {
			r.limiter.Do(all, func() { r.queue.Mark(r.mentions.Users(all)...) })
		}
	}
	clear(r.turnover)
}

// count updates the sum of what the pods of a namespace request, after a change of the pod with this key. before is nil
// for a new pod. text is nil for a deleted pod.
func (r *reader) count(key string, before *compact.Object, text []byte) {
	if r.resource.kind != (graph.Kind{Kind: "Pod"}) {
		return
	}
	if before != nil {
		if old, err := before.JSON(); err == nil {
			u := demand.Of(old)
			r.usages.Add(informer.NamespaceOf(key), &u, -1)
		}
	}
	if text != nil {
		u := demand.Of(text)
		r.usages.Add(informer.NamespaceOf(key), &u, 1)
	}
}

// forget removes the objects of a resource that is not watched any more.
func (r *reader) forget() {
	for _, id := range r.graph.All(r.isOwn) {
		r.remove(id)
	}
	r.markLists()
	if r.resource.kind.Kind == "Pod" {
		r.usages.Reset()
	}
}
