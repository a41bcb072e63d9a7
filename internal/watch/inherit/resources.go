package inherit

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

const (
	// maxCustomKinds limits the kinds of custom resources that are watched.
	maxCustomKinds = 100
	// startWait is the maximum time for which the list of one resource delays the start of other resources.
	startWait = 2 * time.Second
	// parallelStarts is how many resources are listed at the same time. A list that takes longer than startWait does
	// not count.
	parallelStarts = 3
	maxChanges     = 1000 // The maximum number of changes in one batch.
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
	"flowcontrol.apiserver.k8s.io/v1/flowschemas",
}

// onlyNames are resources of which only the existence of objects matters. Their content is not read.
var onlyNames = []string{ //nolint:gochecknoglobals // Constant.
	"core/v1/configmaps", "core/v1/secrets", "core/v1/serviceaccounts", "rbac.authorization.k8s.io/v1/roles",
	"rbac.authorization.k8s.io/v1/clusterroles", "scheduling.k8s.io/v1/priorityclasses",
	"node.k8s.io/v1/runtimeclasses", "flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
	"resource.k8s.io/v1/deviceclasses", "resource.k8s.io/v1/resourceclaims", "resource.k8s.io/v1/resourceclaimtemplates",
	"discovery.k8s.io/v1/endpointslices", "admissionregistration.k8s.io/v1/validatingadmissionpolicies",
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

// Plan returns the resources that an Engine watches, in order. omitted are the custom resources beyond maxCustomKinds.
// The results point into the parameter resources.
func Plan(resources []resource.Resource) (planned, omitted []*resource.Resource) {
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
		if !r.Preferred || !isWatchable(r) || !resource.IsCustom(r.Group) {
			continue
		}
		if custom++; custom <= maxCustomKinds {
			planned = append(planned, r)
		} else {
			omitted = append(omitted, r)
		}
	}
	return planned, omitted
}

// Covers reports whether objects of a resource can inherit verdicts.
func Covers(r *resource.Resource) bool {
	return resource.IsCustom(r.Group) || slices.ContainsFunc(firstResources, func(ref string) bool {
		group, _, _ := strings.Cut(ref, "/")
		_, name, _ := strings.Cut(ref[len(group)+1:], "/")
		return (group == r.Group || group == "core" && r.Group == "") && name == r.Resource
	})
}

func isWatchable(r *resource.Resource) bool { return r.Can("list") && r.Can("watch") }

// ScopeOf returns the scope of the informer with which an Engine watches a resource.
func ScopeOf(r *resource.Resource) listwatch.Scope {
	return listwatch.Scope{Resource: r.GVR(), Metadata: slices.Contains(onlyNames, r.Ref())}
}

// watchResources starts the planned resources, and follows the changes of the plan, until ctx ends.
func (e *Engine) watchResources(ctx context.Context, parts *sync.WaitGroup) {
	slots := make(chan struct{}, parallelStarts)
	for ctx.Err() == nil {
		discovered := e.options.Discovered.Next()
		resources, isComplete := e.options.Resources()
		planned, omitted := Plan(resources)
		e.setServed(resources, isComplete, len(planned), len(omitted))
		e.stopUnplanned(planned)
		for _, r := range planned {
			if !e.isWatched(r) {
				select {
				case slots <- struct{}{}:
				case <-ctx.Done():
					return
				}
				if w := e.start(ctx, r); w != nil {
					parts.Go(func() { (&reader{Engine: e, resource: w}).read(ctx) })
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

func (e *Engine) start(ctx context.Context, r *resource.Resource) *watched {
	//nolint:contextcheck // An informer outlives the engine.
	i, release, err := e.options.Pool.Acquire(ScopeOf(r), r, informer.Owner{})
	if err != nil {
		return nil // The program stops.
	}
	w := &watched{
		resource: r, kind: graph.Kind{Group: r.Group, Kind: r.Kind}, informer: i, release: release,
		started: time.Now(),
	}
	w.ctx, w.stop = context.WithCancel(ctx)
	e.add(w)
	return w
}

func isEndpoints(kind graph.Kind) bool {
	return kind.Kind == "EndpointSlice" || kind.Kind == "Endpoints"
}

// maxAffected limits how many objects are evaluated again for one change and one relation (such as "users of").
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
		// An event can explain the object that it regards. A pod can explain a PersistentVolumeClaim that waits for it.
		if id.Kind.Kind == "Event" || uses[n].Target.Kind.Kind == "PersistentVolumeClaim" {
			affected = append(affected, uses[n].Target)
		}
	}
	affected = append(affected, e.mentions.users(id)...)
	for _, container := range e.containers(id) {
		if e.results.isProblem(container) { // The deletion of the container can wait for the object.
			affected = append(affected, container)
		}
	}
	switch id.Kind.Kind {
	case "Event":
		affected = slices.DeleteFunc(affected, func(other graph.ID) bool { return other.Kind.Kind == "Event" })
	case "APIService", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "ReferenceGrant":
		affected = append(affected, e.results.problemIDs()...) // The message of any problem can name this object.
	case "EndpointSlice": // Routes to a Service without selector need one.
		for n := range uses {
			affected = append(affected, e.graph.Users(uses[n].Target, maxAffected)...)
		}
	case "Job", "Deployment", "ReplicaSet", "StatefulSet":
		affected = append(affected, e.graph.Owned(e.uidOf(id), maxAffected)...) // A failed pod is OK if its owner is OK.
	}
	return affected
}

// containers returns the namespace of an object and, for a custom resource, the CustomResourceDefinition.
func (x *index) containers(id graph.ID) (found []graph.ID) {
	if namespace := id.Namespace(); namespace != "" {
		found = append(found, graph.NewID(graph.Kind{Kind: "Namespace"}, "", namespace))
	}
	if r := x.resourceOf(id.Kind); r != nil && resource.IsCustom(r.Group) {
		kind := graph.Kind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
		found = append(found, graph.NewID(kind, "", r.Resource+"."+r.Group))
	}
	return found
}

// dependsOnText returns the objects whose verdict can depend on the specification of an object.
func (e *Engine) dependsOnText(id graph.ID) (affected []graph.ID) {
	switch id.Kind.Kind {
	case "Service": // The ports.
		return e.graph.Users(id, maxAffected)
	case "Deployment", "StatefulSet", "ReplicationController", "Rollout": // Scaled to zero.
		for _, problem := range e.results.withReason("NoPods", "ScaledToZero") {
			if problem.Namespace() == id.Namespace() {
				affected = append(affected, problem)
			}
		}
	}
	return affected
}
