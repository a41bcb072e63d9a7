package incidents

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// This file judges reported objects that no fixture lists. In a fixture with expectations, such an object is
//
//   - right, if an expectation covers it, or has the same cause,
//   - unjudged, if it is related to an expected object (the result prints it, because only a person can judge it),
//   - wrong, if not.

// refusesUnrelated selects the strict rule for precision. With it, a reported object is wrong if no fixture lists it,
// and if it is not related to an expected object of its fixture. Without it, the result only prints such an object.
const refusesUnrelated = true

// comparison compares findings with fixtures.
type comparison struct {
	fixtures []*fixture
	// further contains fixtures that are not part of the result. Their objects are in the cluster too, so a finding about
	// their expected objects is not wrong.
	further []*fixture
	// owners returns the owners of an object, and the owners of these.
	owners           func(*object) []object
	refusesUnrelated bool
}

func (c *comparison) all() []*fixture { return slices.Concat(c.fixtures, c.further) }

// home returns the fixture that has created an object, or nil if no fixture has. The object is in a namespace of the
// fixture, or its name contains this namespace.
func (c *comparison) home(o *object) (home *fixture) {
	for _, f := range c.all() {
		isOwn := strings.HasPrefix(f.namespace, prefix) &&
			(strings.HasPrefix(o.Namespace+"-", f.namespace+"-") || contains(o.Name, f.namespace))
		if isOwn && (home == nil || len(f.namespace) > len(home.namespace)) {
			home = f
		}
	}
	return home
}

// contains reports whether a name contains a part that ends at a separator or at the end of the name.
func contains(name, part string) bool {
	_, rest, ok := strings.Cut(name, part)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], "-./:"))
}

// isListed reports whether an object is expected, or is a cause of an expected object.
func (c *comparison) isListed(o *object) bool {
	return slices.ContainsFunc(c.all(), func(f *fixture) bool {
		return slices.ContainsFunc(f.Expect, func(e expectation) bool {
			return f.matches(&e.reference, o) || slices.ContainsFunc(e.causes(), func(cause reference) bool {
				return f.matches(&cause, o)
			})
		})
	})
}

// isCovered reports whether an expectation covers a report, or has the same cause.
func (c *comparison) isCovered(got *report) bool {
	return c.isListed(&got.object) || c.isListed(&got.head) || got.Cause != nil && c.isListed(&got.Cause.object)
}

// relation returns how a reported object is related to an expected object of f, such as "is owned by the expected ...".
// It returns "" if the object is not related to any.
func (c *comparison) relation(f *fixture, got *report, all []report) string {
	owners := c.owners(&got.object)
	for i := range f.Expect {
		for n := range owners {
			if f.matches(&f.Expect[i].reference, &owners[n]) {
				return fmt.Sprintf("is owned by the expected %s", &owners[n])
			}
		}
	}
	for i := range all {
		want := &all[i]
		if !slices.ContainsFunc(f.Expect, func(e expectation) bool { return f.matches(&e.reference, &want.object) }) {
			continue
		}
		var how string
		switch {
		case want.head == got.head, isSame(want.root(), got.root()):
			how = "has the cause of"
		case slices.ContainsFunc(want.Chain, got.is), slices.ContainsFunc(got.Chain, want.is):
			how = "is in a chain with"
		case slices.ContainsFunc(c.owners(&want.object), got.is):
			how = "owns"
		default:
			continue
		}
		return fmt.Sprintf("%s the expected %s", how, &want.object)
	}
	return ""
}

// root returns the cause of a reported object. An object without a cause is its own cause.
func (r *report) root() *object {
	if r.Cause != nil {
		return &r.Cause.object
	}
	return &r.object
}

func (r *report) is(o object) bool { return isSame(&r.object, &o) }

// isSame compares two objects. It ignores the versions of their APIs, because an owner reference can contain another
// version than a report.
func isSame(a, b *object) bool {
	x, y := (&reference{Resource: a.Resource}).gvr(), (&reference{Resource: b.Resource}).gvr()
	return a.Name == b.Name && a.Namespace == b.Namespace && x.GroupResource() == y.GroupResource()
}

// judge judges the reported objects that no fixture lists as healthy. Objects of fixtures without expectations are
// wrong. Objects of the demo cluster itself are wrong too, except those that a fixture expects.
func (r *result) judge(c *comparison, all []report) {
	for i := range all {
		got := &all[i]
		f := c.home(&got.object)
		switch {
		case f == nil && c.isExpected(&got.object):
		case f == nil:
			r.wrong = append(r.wrong, fmt.Sprintf("demo: %s: %s: %s", &got.object, got.Severity, got.line()))
		case !slices.Contains(c.fixtures, f): // The result does not contain this fixture.
		case len(f.Expect) == 0:
			if !f.isHealthy(&got.object) {
				r.addWrong(f, got, "its fixture expects no problems")
			}
		default:
			r.reported[got.object] = true
			if !f.isHealthy(&got.object) && !c.isCovered(got) {
				r.judgeUnlisted(c, f, got, all)
			}
		}
	}
}

func (r *result) judgeUnlisted(c *comparison, f *fixture, got *report, all []report) {
	how := c.relation(f, got, all)
	if how == "" {
		how = "is not related to an expected object"
		if c.refusesUnrelated {
			r.addWrong(f, got, how)
			return
		}
	}
	r.unjudged[got.object] = fmt.Sprintf("%s: %s [%s]", &got.object, got.line(), how)
}

// isExpected reports whether a fixture expects an object.
func (c *comparison) isExpected(o *object) bool {
	return slices.ContainsFunc(c.all(), func(f *fixture) bool {
		return slices.ContainsFunc(f.Expect, func(e expectation) bool { return f.matches(&e.reference, o) })
	})
}

// line returns the sentence of a report and its cause in one line.
func (r *report) line() string {
	text := r.Sentence
	if r.Cause != nil {
		text += fmt.Sprintf(" (cause %s)", &r.Cause.object)
	}
	return strings.Join(strings.Fields(text), " ")
}

// ownersOf returns a function that reads the owners of an object from the cluster. The function remembers them.
func (c *testCluster) ownersOf(ctx context.Context) func(*object) []object {
	known := make(map[object][]object)
	var find func(*object) []object
	find = func(o *object) []object {
		if owners, ok := known[*o]; ok {
			return owners
		}
		known[*o] = nil // Ends the recursion for objects that own each other.
		r := reference{Resource: o.Resource}
		live, err := c.api(r.gvr(), o.Namespace).Get(ctx, o.Name, metav1.GetOptions{})
		if err != nil {
			return nil // The object was deleted.
		}
		for _, owner := range live.GetOwnerReferences() {
			gvr, isNamespaced := c.resourceOf(schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind))
			if gvr.Group == "" {
				gvr.Group = "core"
			}
			found := object{Resource: gvr.Group + "/" + gvr.Version + "/" + gvr.Resource, Name: owner.Name}
			if isNamespaced {
				found.Namespace = o.Namespace
			}
			known[*o] = append(append(known[*o], found), find(&found)...)
		}
		return known[*o]
	}
	return find
}
