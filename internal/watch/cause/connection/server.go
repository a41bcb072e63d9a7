package connection

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
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
	if server := c.unready(n); server != nil {
		return c.inherit(server, n)
	}
	return nil
}

// unready returns the pod of a Service with the worst problem of its own, if none of the pods is ready. Otherwise, it
// returns nil.
func (c *client) unready(n *neighbor.Neighbor) (worst *neighbor.Neighbor) {
	selector := c.Selector(n.ID)
	if selector == nil || neighbor.Decode[corev1.Service](n.Object).Spec.PublishNotReadyAddresses {
		return nil
	}
	ids := c.Selected(n.ID.Namespace(), selector, neighbor.Limit)
	pods := c.Existing(ids)
	if len(ids) == neighbor.Limit || slices.ContainsFunc(pods, func(server neighbor.Neighbor) bool {
		p := neighbor.Decode[corev1.Pod](server.Object)
		return neighbor.IsReady(&p)
	}) {
		return nil
	}
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

// lacksObject reports whether the cause of an object's verdict is a missing object, but no Service. Such a verdict does
// not depend on the verdicts of other objects.
func lacksObject(n *neighbor.Neighbor) bool {
	v := n.Object.Verdict().Unpack()
	return v.Cause != nil && v.Cause.Missing && v.Via == nil && v.Cause.Kind != serviceKind.Kind
}

// inherit explains the pod by the verdict of an object, which is the server or belongs to it. If the object inherits its
// verdict from a further object, inherit uses the object's own verdict.
func (c *client) inherit(n, server *neighbor.Neighbor) *verdict.Verdict {
	prefix, via := c.Own.Sentence+". "+server.String()+": ", neighbor.ObjectOf(server)
	var v *verdict.Verdict
	if n.ID.Kind != serviceKind && n.Object.Verdict().IsInherited() && !lacksObject(n) {
		own := n.Object.Verdict().Own().Unpack()
		v = c.ExplainBy(n, c.Own.Severity, "", own.Why())
		v.Sentence = prefix + v.Sentence
	} else {
		v = c.Inherit(n, c.Own.Severity, prefix)
	}
	c.AddSource(server.Resource, server.ID.Namespace())
	v.Reason, v.Via = c.Own.Reason, &via
	return v
}
