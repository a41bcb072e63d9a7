package connection

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// serverFailure explains the pod by a Service that has no ready endpoints. It never uses a verdict that the Service or
// its pods possibly inherit from this pod: pods that wait for each other would otherwise swap their causes forever.
func (c *client) serverFailure(n *neighbor.Neighbor) *verdict.Verdict {
	of := n.Object.Verdict().Unpack()
	switch of.Reason {
	case "ScaledToZero":
		if of.Cause != nil && of.Via == nil {
			return c.inherit(n, n)
		}
	case "NoPods", "NoSuchPort", "ServiceNotFound":
		if c.HasProblem(n) && of.Via == nil {
			return c.inherit(n, n)
		}
	}
	if !n.Object.Verdict().IsInherited() && c.IsFailed(n) {
		return c.inherit(n, n)
	}
	return c.byServer(c.unready(n), n)
}

// byServer explains the pod by a server, which is a pod of the Service via. It returns nil if server is nil.
func (c *client) byServer(server, via *neighbor.Neighbor) *verdict.Verdict {
	if server == nil {
		return nil
	}
	if !lacksObject(server) {
		if v, isCycle := c.beyond(server, via); v != nil || isCycle {
			return v
		}
	}
	return c.inherit(server, via)
}

// chain contains the pods of a chain of servers, each of which cannot connect to the next one.
type chain struct {
	pods     []graph.ID
	isCyclic bool
}

// maxChain limits the number of pods in a chain. A longer chain counts as a cycle.
const maxChain = 10

// beyond follows a chain of failed connections: if the pod's server cannot connect to another server, that other one is
// the cause. The parameter server is a pod of the Service via. beyond starts from the own error of this pod, not
// from a verdict that this pod inherits. If the servers form a cycle, no pod is the cause, and v is nil.
func (c *client) beyond(server, via *neighbor.Neighbor) (v *verdict.Verdict, isCycle bool) {
	if len(c.chain.pods) == maxChain || slices.Contains(c.chain.pods, server.ID) {
		c.chain.isCyclic = true
		return nil, true
	}
	c.chain.isCyclic = false
	next := newClient(subject.New(c.Cluster, *server), c.chain)
	of := next.failure(subject.CompleteSentence(next.Subject))
	if of == nil || of.Cause == nil {
		return nil, c.chain.isCyclic
	}
	next.Complete(of)
	v = c.Explain(c.Own.Severity, c.Own.Reason, prefix(c, via)+of.Cause.Sentence, of.Cause)
	v.Sources = of.Sources.ForInheritor(verdict.Source(server.Resource, server.ID.Namespace()))
	c.AddSource(server.Resource, server.ID.Namespace())
	return c.through(v, via), false
}

// prefix returns the start of a sentence about a server.
func prefix(c *client, server *neighbor.Neighbor) string {
	return subject.Sentences(c.Own.Sentence, server.String()+": ")
}

// through adds a server to a verdict, as the neighbor through which the pod has its problem.
func (c *client) through(v *verdict.Verdict, server *neighbor.Neighbor) *verdict.Verdict {
	via := neighbor.ObjectOf(server)
	c.AddSource(server.Resource, server.ID.Namespace())
	v.Reason, v.Via = c.Own.Reason, &via
	return v
}

// unready returns the pod with the worst problem of its own among the pods of a Service, if none of these pods is
// ready. Otherwise, it returns nil.
func (c *client) unready(n *neighbor.Neighbor) *neighbor.Neighbor {
	selector := c.Selector(n.ID)
	if selector == nil || neighbor.Decode[corev1.Service](n.Object).Spec.PublishNotReadyAddresses {
		return nil
	}
	pods, isComplete := subject.PodsOf(c.Subject, n.ID.Namespace(), selector, neighbor.Limit)
	if !isComplete || slices.ContainsFunc(pods, func(server neighbor.Neighbor) bool {
		p := neighbor.Decode[corev1.Pod](server.Object)
		return neighbor.IsReady(&p)
	}) {
		return nil
	}
	return c.worst(pods)
}

// worst returns the pod with the worst problem of its own, or nil.
func (c *client) worst(pods []neighbor.Neighbor) (worst *neighbor.Neighbor) {
	for at := range pods {
		server := &pods[at]
		subject.Follow(c.Subject, server)
		if isExplained(server) && (worst == nil || compare(server, worst) < 0) {
			worst = server
		}
	}
	return worst
}

func compare(a, b *neighbor.Neighbor) int {
	return cmp.Or(
		cmp.Compare(b.Object.Verdict().Own().Severity(), a.Object.Verdict().Own().Severity()),
		cmp.Compare(a.ID.Key, b.ID.Key),
	)
}

// isExplained reports whether an object explains the failure of a connection: it has a problem of its own, or lacks
// another object.
func isExplained(n *neighbor.Neighbor) bool {
	return n.Object != nil && n.Object.Verdict().Severity().IsProblem() &&
		(n.Object.Verdict().Own().Severity().IsProblem() || lacksObject(n))
}

// lacksObject reports whether the cause of an object's verdict is a missing object other than a Service. Such a verdict
// does not depend on the verdicts of other objects.
func lacksObject(n *neighbor.Neighbor) bool {
	v := n.Object.Verdict().Unpack()
	return v.Cause != nil && v.Cause.Missing && v.Via == nil && v.Cause.Kind != serviceKind.Kind
}

// inherit explains the pod by the verdict of an object, which is the server or belongs to it. If the object inherits
// its verdict from a further object, inherit uses the object's own verdict.
func (c *client) inherit(n, server *neighbor.Neighbor) *verdict.Verdict {
	if n.ID.Kind == serviceKind || !n.Object.Verdict().IsInherited() || lacksObject(n) {
		return c.through(c.Inherit(n, c.Own.Severity, prefix(c, server)), server)
	}
	own := n.Object.Verdict().Own().Unpack()
	v := c.ExplainBy(n, c.Own.Severity, "", own.Why())
	v.Sentence = prefix(c, server) + v.Sentence
	return c.through(v, server)
}
