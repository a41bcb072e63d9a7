package inherit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

const (
	// maxCustomKinds limits the kinds of custom resources that are watched.
	maxCustomKinds = 100
	// startWait is how long the next resource waits until the one before it is listed.
	startWait = 2 * time.Second
	// parallelStarts is how many resources are listed at the same time.
	parallelStarts = 3
	maxChanges     = 1000 // In one batch.
)

// firstResources are watched in this order: the resources that most often explain a problem are first.
var firstResources = []string{ //nolint:gochecknoglobals // Constant.
	"core/v1/pods", "core/v1/nodes", "apps/v1/deployments", "apps/v1/replicasets", "apps/v1/statefulsets",
	"apps/v1/daemonsets", "core/v1/events", "batch/v1/jobs", "batch/v1/cronjobs", "core/v1/services",
	"networking.k8s.io/v1/ingresses", "core/v1/persistentvolumeclaims", "core/v1/persistentvolumes",
	"autoscaling/v2/horizontalpodautoscalers", "core/v1/namespaces", "storage.k8s.io/v1/storageclasses",
	"networking.k8s.io/v1/ingressclasses", "policy/v1/poddisruptionbudgets",
	"apiregistration.k8s.io/v1/apiservices", "core/v1/resourcequotas", "core/v1/limitranges",
	"admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
	"admissionregistration.k8s.io/v1/validatingwebhookconfigurations", "core/v1/replicationcontrollers",
	"rbac.authorization.k8s.io/v1/rolebindings", "rbac.authorization.k8s.io/v1/clusterrolebindings",
	"storage.k8s.io/v1/volumeattachments", "apiextensions.k8s.io/v1/customresourcedefinitions",
}

// onlyNames are resources of which only the existence of objects matters. Their content is not read.
var onlyNames = []string{ //nolint:gochecknoglobals // Constant.
	"core/v1/configmaps", "core/v1/secrets", "core/v1/serviceaccounts", "rbac.authorization.k8s.io/v1/roles",
	"rbac.authorization.k8s.io/v1/clusterroles", "scheduling.k8s.io/v1/priorityclasses",
	"node.k8s.io/v1/runtimeclasses",
}

// watched is one resource whose journal the engine reads.
type watched struct {
	resource *resource.Resource
	kind     graph.Kind
	informer *informer.Informer
	release  func()
	started  time.Time
	ctx      context.Context //nolint:containedctx // Ends when the resource is not watched any more.
	stop     context.CancelFunc
	isSynced bool        // Used by the reading goroutine only.
	isRead   atomic.Bool // The objects of the first list are in the graph.
}

// plan returns the resources to watch, in order, with their scopes.
func plan(resources []resource.Resource) (planned []*resource.Resource) {
	byRef := make(map[string]*resource.Resource, len(resources))
	for n := range resources {
		byRef[resources[n].Ref()] = &resources[n]
	}
	for _, ref := range slices.Concat(firstResources, onlyNames) {
		if r := byRef[ref]; r != nil && isWatchable(r) {
			planned = append(planned, r)
		}
	}
	custom := 0
	for n := range resources {
		r := &resources[n]
		if r.Preferred && isWatchable(r) && isCustom(r.Group) && custom < maxCustomKinds {
			custom++
			planned = append(planned, r)
		}
	}
	return planned
}

// Covers reports whether objects of a resource can inherit verdicts.
func Covers(r *resource.Resource) bool {
	return isCustom(r.Group) || slices.ContainsFunc(firstResources, func(ref string) bool {
		group, _, _ := strings.Cut(ref, "/")
		_, name, _ := strings.Cut(ref[len(group)+1:], "/")
		return (group == r.Group || group == "core" && r.Group == "") && name == r.Resource
	})
}

func isWatchable(r *resource.Resource) bool { return r.Can("list") && r.Can("watch") }

// isCustom reports whether a group is not of Kubernetes itself. The Gateway API is a custom group.
func isCustom(group string) bool {
	return strings.Contains(group, ".") &&
		(!strings.HasSuffix(group, ".k8s.io") || group == "gateway.networking.k8s.io" || strings.HasSuffix(group, ".x-k8s.io"))
}

func scopeOf(r *resource.Resource) listwatch.Scope {
	return listwatch.Scope{Resource: r.GVR(), Metadata: slices.Contains(onlyNames, r.Ref())}
}

// watchResources starts the planned resources, and follows the changes of the plan, until ctx ends.
func (e *Engine) watchResources(ctx context.Context, parts *sync.WaitGroup) {
	slots := make(chan struct{}, parallelStarts)
	for ctx.Err() == nil {
		discovered := e.options.Discovered.Next()
		resources, isComplete := e.options.Resources()
		planned := plan(resources)
		e.setServed(resources, isComplete, len(planned))
		e.stopUnplanned(planned)
		for _, r := range planned {
			if !e.isWatched(r) {
				select {
				case slots <- struct{}{}:
				case <-ctx.Done():
					return
				}
				if w := e.start(ctx, r); w != nil {
					parts.Go(func() { e.read(ctx, w) })
					parts.Go(func() {
						defer func() { <-slots }()
						w.informer.Wait(ctx, startWait, func() bool { return w.informer.CurrentState(nil).Synced })
					})
				} else {
					<-slots
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-discovered:
		}
	}
}

func (e *Engine) setServed(resources []resource.Resource, isComplete bool, planned int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.served)
	for n := range resources {
		kind := graph.Kind{Group: resources[n].Group, Kind: resources[n].Kind}
		if resources[n].Preferred || e.served[kind] == nil {
			e.served[kind] = &resources[n]
		}
	}
	e.complete, e.planned, e.isPlanned = isComplete, planned, len(resources) > 0
}

func (e *Engine) isWatched(r *resource.Resource) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	w := e.watched[graph.Kind{Group: r.Group, Kind: r.Kind}]
	return w != nil && w.resource.Ref() == r.Ref()
}

// stopUnplanned stops the resources that are not served any more.
func (e *Engine) stopUnplanned(planned []*resource.Resource) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.order = slices.DeleteFunc(e.order, func(w *watched) bool {
		isPlanned := slices.ContainsFunc(planned, func(r *resource.Resource) bool { return r.Ref() == w.resource.Ref() })
		if !isPlanned {
			w.stop()
			delete(e.watched, w.kind)
		}
		return !isPlanned
	})
}

func (e *Engine) start(ctx context.Context, r *resource.Resource) *watched {
	i, release, err := e.options.Pool.Acquire(scopeOf(r), r, informer.Owner{})
	if err != nil {
		return nil // The program stops.
	}
	w := &watched{
		resource: r, kind: graph.Kind{Group: r.Group, Kind: r.Kind}, informer: i, release: release,
		started: time.Now(),
	}
	w.ctx, w.stop = context.WithCancel(ctx)
	e.mu.Lock()
	e.watched[w.kind] = w
	e.order = append(e.order, w)
	e.mu.Unlock()
	return w
}

// read applies the changes of one journal to the graph until ctx ends or the resource is not watched any more.
func (e *Engine) read(ctx context.Context, w *watched) {
	defer w.stop()
	defer w.release()
	defer func() {
		if ctx.Err() == nil { // Otherwise, the method clear removes all objects.
			e.forget(w)
		}
	}()
	cursor := e.readSnapshot(w)
	for {
		e.recordProgress(w, cursor)
		changes, next, err := w.informer.Next(w.ctx, cursor, maxChanges)
		switch {
		case errors.Is(err, journal.ErrGone):
			next = e.readSnapshot(w)
		case err != nil:
			return
		}
		cursor = next
		e.apply(w, changes)
	}
}

// recordProgress notes that the graph contains all objects of a resource that is listed.
func (e *Engine) recordProgress(w *watched, cursor journal.Cursor) {
	now := w.informer.CurrentState(nil)
	if now.Status.State == status.Syncing || cursor.Offset != w.informer.Now().Offset {
		return
	}
	w.isRead.Store(true)
	if now.Synced && !w.isSynced {
		w.isSynced = true
		e.markAll() // References to objects of this resource may now count as missing.
	}
	e.changed.Broadcast()
}

// readSnapshot replaces all objects of a resource in the graph.
func (e *Engine) readSnapshot(w *watched) journal.Cursor {
	entries, cursor := w.informer.Snapshot()
	present := make(map[string]bool, len(entries))
	if w.kind.Kind == "Pod" {
		e.usages.reset()
	}
	for n := range entries {
		e.count(w.kind, entries[n].Key, nil, entries[n].Value)
		present[entries[n].Key] = true
		e.set(w, entries[n].Key, nil, entries[n].Value)
	}
	for _, key := range e.graph.Keys(w.kind) {
		if !present[key] {
			e.remove(graph.ID{Kind: w.kind, Key: key})
		}
	}
	return cursor
}

// apply applies a batch of changes. Of several changes of one object, only the result matters.
func (e *Engine) apply(w *watched, changes []*event.Change) {
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
		e.specs.record(w.kind, c)
	}
	for key, c := range last {
		e.count(w.kind, key, first[key], c.New)
		if c.Op == journal.Delete {
			e.remove(graph.ID{Kind: w.kind, Key: key})
			continue
		}
		e.set(w, key, first[key], c.New)
	}
}

// set adds or updates an object, and marks what its change can affect. before is nil for a new object.
func (e *Engine) set(w *watched, key string, before, o *compact.Object) {
	id := graph.ID{Kind: w.kind, Key: key}
	isNewText := before == nil || !before.SameText(o)
	hasNewVerdict := before == nil || !before.Verdict().Same(o.Verdict())
	hasNewOwn := before == nil || !before.Verdict().Own().Same(o.Verdict().Own())
	var affected []graph.ID
	if isNewText {
		var refs objectrefs.Object
		if !w.informer.Scope.Metadata && !isEndpoints(w.kind) {
			if text, err := o.JSON(); err == nil {
				refs = objectrefs.Of(text)
			}
		}
		if e.graph.Set(id, &refs) && before != nil {
			affected = e.neighbors(id) // A pod can have new labels.
		}
	}
	e.trackProblem(id, o.Verdict())
	if isNewText || hasNewOwn {
		affected = append(affected, id)
		affected = append(affected, e.dependsOnText(id)...)
	}
	if hasNewVerdict {
		affected = append(affected, e.neighbors(id)...)
	}
	e.mark(affected...)
}

// count updates what the pods of a namespace request. before is nil for a new pod, and after for a deleted one.
func (e *Engine) count(kind graph.Kind, key string, before, after *compact.Object) {
	if kind != (graph.Kind{Kind: "Pod"}) || before != nil && after != nil && before.SameText(after) {
		return
	}
	for _, o := range []struct {
		object *compact.Object
		sign   int
	}{{before, -1}, {after, 1}} {
		if o.object == nil {
			continue
		}
		if text, err := o.object.JSON(); err == nil {
			u := usageOf(text)
			e.usages.add(informer.NamespaceOf(key), &u, o.sign)
		}
	}
}

func isEndpoints(kind graph.Kind) bool {
	return kind.Kind == "EndpointSlice" || kind.Kind == "Endpoints"
}

func (e *Engine) trackProblem(id graph.ID, v verdict.Packed) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if v.Severity() > verdict.OK {
		e.problems[id] = struct{}{}
	} else {
		delete(e.problems, id)
	}
}

func (e *Engine) remove(id graph.ID) {
	neighbors := e.neighbors(id)
	e.graph.Remove(id)
	e.mu.Lock()
	_, hasInherited := e.inherited[id]
	delete(e.inherited, id)
	delete(e.problems, id)
	e.mu.Unlock()
	if hasInherited {
		e.publish(id) // An informer of another version can still contain the object.
	}
	e.mark(neighbors...)
}

// forget removes the objects of a resource that is not watched any more.
func (e *Engine) forget(w *watched) {
	for _, key := range e.graph.Keys(w.kind) {
		e.remove(graph.ID{Kind: w.kind, Key: key})
	}
	if w.kind.Kind == "Pod" {
		e.usages.reset()
	}
}

// maxAffected limits the objects of one relation that are evaluated again after a change.
const maxAffected = 10_000

// neighbors returns the objects whose verdict can depend on the verdict or the existence of an object.
func (e *Engine) neighbors(id graph.ID) []graph.ID {
	uses, owners := e.graph.References(id)
	affected := e.graph.Users(id, maxAffected)
	for n := range owners {
		affected = append(affected, owners[n].ID)
	}
	affected = append(affected, e.graph.Selectors(id)...)
	for n := range uses {
		// An event explains its object, and a pod explains a claim that waits for it.
		if id.Kind.Kind == "Event" || uses[n].Target.Kind.Kind == "PersistentVolumeClaim" {
			affected = append(affected, uses[n].Target)
		}
	}
	switch id.Kind.Kind {
	case "Event":
		affected = slices.DeleteFunc(affected, func(other graph.ID) bool { return other.Kind.Kind == "Event" })
	case "APIService", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "ReferenceGrant":
		affected = append(affected, e.currentProblems()...) // Their messages name the API or the webhook.
	case "Job", "Deployment", "ReplicaSet", "StatefulSet":
		affected = append(affected, e.graph.Owned(e.uidOf(id), maxAffected)...) // Failed pods of a Job that works.
	}
	return affected
}

func (e *Engine) uidOf(id graph.ID) string {
	if n := e.Find(id); n.Object != nil {
		return n.Object.UID()
	}
	return ""
}

// dependsOnText returns the objects whose verdict can depend on the specification of an object.
func (e *Engine) dependsOnText(id graph.ID) (affected []graph.ID) {
	switch id.Kind.Kind {
	case "Service": // The ports.
		return e.graph.Users(id, maxAffected)
	case "Deployment", "StatefulSet", "ReplicationController", "Rollout": // Scaled to zero.
		for _, problem := range e.withReason("NoPods", "ScaledToZero") {
			if problem.Namespace() == id.Namespace() {
				affected = append(affected, problem)
			}
		}
	}
	return affected
}

func (e *Engine) withReason(reasons ...string) (ids []graph.ID) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for id, v := range e.inherited {
		if slices.Contains(reasons, v.Reason) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (e *Engine) currentProblems() (ids []graph.ID) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for id := range e.problems {
		ids = append(ids, id)
	}
	return ids
}

// markAll evaluates all objects again, after a resource is known completely.
func (e *Engine) markAll() {
	e.mu.RLock()
	kinds := make([]graph.Kind, 0, len(e.watched))
	for kind, w := range e.watched {
		if !w.informer.Scope.Metadata {
			kinds = append(kinds, kind)
		}
	}
	e.mu.RUnlock()
	for _, kind := range kinds {
		keys := e.graph.Keys(kind)
		ids := make([]graph.ID, len(keys))
		for n, key := range keys {
			ids[n] = graph.ID{Kind: kind, Key: key}
		}
		e.mark(ids...)
	}
}
