package inherit

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/plan"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/revisit"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

const (
	// startWait is the maximum time for which the list of one resource delays the lists of further resources.
	startWait = 2 * time.Second
	// parallelStarts is how many resources are listed at the same time. A list that takes longer than startWait does
	// not count.
	parallelStarts = 3
	maxChanges     = 1000 // The maximum number of changes in one batch.
)

// watched is one resource whose journal the engine reads.
type watched struct {
	resource *resource.Resource
	kind     graph.Kind
	informer *informer.Informer
	release  func()
	started  time.Time
	ctx      context.Context //nolint:containedctx // Ends when the resource is not watched any more.
	stop     context.CancelFunc
	isSynced bool        // The informer was synced at least once. Used by the reading goroutine only.
	isRead   atomic.Bool // The objects of the first list are in the graph.
}

// watchResources watches the planned resources, and follows the changes of the plan, until ctx ends.
func (e *Engine) watchResources(ctx context.Context, parts *sync.WaitGroup) {
	slots := make(chan struct{}, parallelStarts)
	for ctx.Err() == nil {
		discovered := e.options.Discovered.Next()
		resources, unknown := e.options.Resources()
		planned, omitted := plan.Of(resources)
		if e.setServed(resources, unknown, len(planned), len(omitted)) {
			markAfterDiscovery(e)
		}
		e.stopUnplanned(planned)
		for _, r := range planned {
			if !e.isWatched(r) {
				select {
				case slots <- struct{}{}:
				case <-ctx.Done():
					return
				}
				if w := e.start(ctx, r); w != nil {
					parts.Go(func() { (&reader{Engine: e, resource: w, turnover: make(map[string]struct{})}).read(ctx) })
					parts.Go(func() {
						defer func() { <-slots }()
						w.informer.Wait(ctx, startWait, func() bool {
							now := w.informer.CurrentState(nil)
							return now.Synced || now.HasNoRows // Do not wait for a resource that may not be listed.
						})
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

// markAfterDiscovery marks the objects whose verdict can change when the cluster serves other kinds. These objects are
// all objects with a problem, all custom resources (they can name an object of a new kind), and all admission policies
// with their bindings (a policy names the kind of its parameters).
func markAfterDiscovery(e *Engine) {
	e.queue.Mark(e.graph.All(func(kind graph.Kind) bool {
		return kind.Group == admissionGroup || resource.IsCustom(kind.Group)
	})...)
	e.queue.Mark(e.results.ProblemIDs()...)
}

func (e *Engine) start(ctx context.Context, r *resource.Resource) *watched {
	//nolint:contextcheck // An informer outlives the engine.
	i, release, err := e.options.Pool.Acquire(plan.ScopeOf(r), r, informer.Owner{})
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

// neighbors returns the objects whose verdict can depend on the verdict or the existence of an object.
func (e *Engine) neighbors(id graph.ID) []graph.ID {
	uses, owners := e.graph.References(id)
	affected := e.graph.Users(id, revisit.MaxAffected)
	for n := range owners {
		affected = append(affected, owners[n].ID)
	}
	for _, selector := range e.graph.Selectors(id) { // A client can depend on which pods of a Service are ready.
		affected = append(append(affected, selector), e.mentions.Users(selector)...)
	}
	for n := range uses {
		if explainsTarget(id.Kind, uses[n].Target.Kind) {
			affected = append(affected, uses[n].Target)
		}
		if resource.IsCustom(id.Group) && (uses[n].Optional || id.Kind.Kind == "Certificate") { // A target can be an output.
			affected = append(affected, e.graph.Users(uses[n].Target, revisit.MaxAffected)...)
		}
	}
	affected = append(affected, e.mentions.Users(id)...)
	// The verdict of an object can depend on whether its owner is in order, and on a newer object of this owner.
	if resource.IsCustom(id.Group) || id.Group == "batch" {
		affected = append(affected, e.graph.Owned(e.uidOf(id), revisit.MaxAffected)...)
		for n := range owners {
			affected = append(affected, e.graph.Owned(owners[n].UID, revisit.MaxAffected)...)
		}
	}
	for _, container := range e.containers(id) {
		if e.results.IsProblem(container) { // The deletion of the container can wait for the object.
			affected = append(affected, container)
		}
	}
	switch id.Kind.Kind {
	case "Event":
		affected = slices.DeleteFunc(affected, func(other graph.ID) bool { return other.Kind.Kind == "Event" })
	case "APIService", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "ReferenceGrant":
		affected = append(affected, e.results.ProblemIDs()...) // The message of any problem can name this object.
	case "EndpointSlice":
		affected = append(affected, revisit.Served(e.graph, id)...)
	case "DestinationRule": // A VirtualService of the same Service can use its subsets.
		affected = append(affected, revisit.UsersOf(e.graph, uses, "Service")...)
	case "PodDisruptionBudget": // Another budget can select the same pods.
		affected = append(affected, e.graph.In(id.Kind, id.Namespace())...)
	case "Job", "Deployment", "ReplicaSet", "StatefulSet": // If such an owner is OK, its failed pods count as OK, too.
		affected = append(affected, e.graph.Owned(e.uidOf(id), revisit.MaxAffected)...)
	}
	return affected
}

// repeatedBy returns the failed attempts that an object can repeat, if the object's own verdict is OK. An object with
// an owner repeats none of them.
func repeatedBy(e *Engine, id graph.ID, own verdict.Severity) []graph.ID {
	_, owners := e.graph.References(id)
	if own != verdict.OK || len(owners) > 0 || !cause.IsAttempt(id.Kind) || !resource.IsCustom(id.Group) {
		return nil
	}
	return slices.DeleteFunc(e.results.ProblemsOf(id.Kind), func(other graph.ID) bool {
		return other.Namespace() != id.Namespace()
	})
}

// explainsTarget reports whether the verdict on an object (the target) can depend on an object that refers to it (the
// user): on an event about it, on a pod that waits for a PersistentVolumeClaim, on the binding of a policy, or on the
// existence of users of a Service.
func explainsTarget(user, target graph.Kind) bool {
	return user.Kind == "Event" || target.Kind == "PersistentVolumeClaim" || target == graph.Kind{Kind: "Service"} ||
		target.Group == admissionGroup
}

const admissionGroup = "admissionregistration.k8s.io"

// containers returns the namespace of an object, the node of a pod, and the CustomResourceDefinition of a custom
// resource.
func (i *index) containers(id graph.ID) (found []graph.ID) {
	if node := i.graph.NodeOf(id); node != "" { // A failed pod can also explain why its node is not ready.
		found = append(found, graph.NewID(graph.Kind{Kind: "Node"}, "", node))
	}
	if namespace := id.Namespace(); namespace != "" {
		found = append(found, graph.NewID(graph.Kind{Kind: "Namespace"}, "", namespace))
	}
	if r := i.resourceOf(id.Kind); r != nil && resource.IsCustom(r.Group) {
		kind := graph.Kind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
		found = append(found, graph.NewID(kind, "", r.Resource+"."+r.Group))
	}
	return found
}

// dependsOnText returns the objects whose verdict can depend on the content of an object, such as a Service's ports.
func dependsOnText(e *Engine, id graph.ID) []graph.ID {
	switch id.Kind.Kind {
	case "Service": // The ports, also for clients. Another Service can have the port that the pods declare.
		affected := append(e.graph.Users(id, revisit.MaxAffected), e.mentions.Users(id)...)
		affected = append(affected, e.results.ProblemsIn(id.Namespace(), "NoSuchPort")...)
		// The rules use Services to find the namespace of a Gateway's Secrets.
		return append(affected, e.results.ProblemsOf(graph.Kind{Group: "networking.istio.io", Kind: "Gateway"})...)
	case "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy": // The kind of the parameters.
		return e.graph.Users(id, revisit.MaxAffected)
	case "DestinationRule": // The subsets.
		uses, _ := e.graph.References(id)
		return revisit.UsersOf(e.graph, uses, "Service")
	case "EndpointSlice": // The ports and the addresses.
		return revisit.Served(e.graph, id)
	case "Deployment", "StatefulSet", "ReplicationController", "Rollout": // Scaled to zero.
		return e.results.ProblemsIn(id.Namespace(), "NoPods", "ScaledToZero")
	// Which requests of pods a server accepts.
	case "FlowSchema", "PriorityLevelConfiguration", "PeerAuthentication", "AuthorizationPolicy", "VirtualService":
		return append(e.results.ProblemsOf(graph.Kind{Kind: "Pod"}), e.mentions.Users(id)...)
	}
	if strings.HasSuffix(id.Kind.Kind, "NetworkPolicy") { // The rules, which can prevent connections of pods.
		return e.results.ProblemsOf(graph.Kind{Kind: "Pod"})
	}
	return e.mentions.Users(id) // For example, the limits of a pool of nodes that a pod requires.
}
