package overview

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	policy "k8s.io/api/policy/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/permit"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Explanation connects one object with the cause of its verdict, and with the objects that it affects.
type Explanation struct {
	// Chain is the path from the object, which is first, to the cause of its verdict. It is empty without a cause.
	Chain []Hop `json:"chain"`
	// Affected contains the objects whose verdicts name this object as the cause, or as a step to the cause. If this
	// object is a PodDisruptionBudget, Affected also contains the pods that must not be evicted now. It contains at
	// most MaxAffected objects, the worst first.
	Affected      []Affected `json:"affected"`
	AffectedTotal int        `json:"affectedTotal"` // The number of affected objects, also beyond MaxAffected.
	// Related is a hash that changes when a related object is added or deleted, or gets another severity.
	Related string `json:"related"`
	// Unexamined lists what the explanation does not cover, as sentences for the viewer.
	Unexamined []string `json:"unexamined"`
}

// Affected is an object with its severity.
type Affected struct {
	verdict.Object

	Severity verdict.Severity `json:"severity"`
}

// Hop is one object on the path to a cause.
type Hop struct {
	Affected

	Sentence string   `json:"sentence,omitempty"`
	Rule     string   `json:"rule,omitempty"` // The host and path, name or number of a route's rule that reaches no pod.
	State    HopState `json:"state"`
}

// HopState is whether the object of a Hop exists.
type HopState string

// The values of HopState.
const (
	Present HopState = "there"
	Missing HopState = "missing"
	Unknown HopState = "unknown" // The resource is not read, or not completely.
)

const (
	// MaxAffected is the maximum number of affected objects in an Explanation.
	MaxAffected = 100

	maxInheritors = 10_000
	maxRelated    = 1000
)

// Explain returns the explanation of an object, as far as the viewer may see it.
func Explain(
	ctx context.Context, deps *Deps, checker *permit.Checker, object verdict.Object,
) (*Explanation, error) {
	b, err := newBuilder(ctx, deps, checker, nil, object.Namespace)
	if err != nil {
		return nil, err
	}
	e := &Explanation{Chain: []Hop{}, Affected: []Affected{}}
	b.addWatched()
	id := neighbor.IDOf(&object)
	self := deps.Engine.Find(id)
	switch {
	case b.sees(&self):
		b.addChain(e, &self)
		b.addAffected(e, &self)
		e.Related = b.related(id)
		for _, c := range deps.Engine.Cuts(id) {
			if b.seesSources(c.Sources) {
				b.note(c.Text)
			}
		}
	case b.filters[id.Kind] == nil:
		b.note(fmt.Sprintf("The causes and effects of problems of %s objects are not examined.", object.Kind))
	}
	e.Unexamined = b.result.Unexamined
	return e, ctx.Err()
}

func (b *builder) note(text string) { b.result.Unexamined = append(b.result.Unexamined, text) }

func (b *builder) addChain(e *Explanation, self *neighbor.Neighbor) {
	if self.Object == nil {
		return
	}
	defer func() {
		// Add the note on hidden causes even if there is no hidden cause, so that it does not reveal whether one exists.
		if len(e.Chain) == 0 && self.Object.Verdict().Severity() > verdict.OK && !b.readsEverything() {
			b.note("If the cause is an object that you cannot read, it is not shown.")
		}
	}()
	inherited := b.deps.Engine.Inherited(self.ID.Kind, self.ID.Key)
	if inherited == nil || inherited.Cause == nil {
		return
	}
	chain := b.deps.Engine.Chain(self.ID)
	isComplete := len(chain) > 0 && chain[len(chain)-1] == inherited.Cause.Object
	if !isComplete {
		chain = append(chain, inherited.Cause.Object)
	}
	isMasked := b.isGuest() && !resource.IsBuiltIn(self.ID.Group)
	if isMasked || !b.seesCause(self.Object.Verdict()) || slices.ContainsFunc(chain, func(o verdict.Object) bool {
		return !b.seesObject(&o)
	}) {
		return
	}
	if !isComplete {
		b.note("Steps before the cause can be missing, because their states are still being evaluated.")
	}
	hops := []Hop{hopOf(b, self)}
	hops[0].Rule = inherited.Rule
	for n := range chain {
		next := b.deps.Engine.Find(neighbor.IDOf(&chain[n]))
		hop := hopOf(b, &next)
		hop.Object = chain[n]
		if hop.Kind == "Pod" && hops[len(hops)-1].Kind == "Service" {
			b.note("EndpointSlices are not examined: the pods are those that the selector of the Service selects.")
		}
		hops = append(hops, hop)
	}
	last := &hops[len(hops)-1]
	if last.Sentence = cmp.Or(inherited.Cause.Sentence, last.Sentence); inherited.Cause.Missing {
		last.State = Missing
	}
	e.Chain = hops
}

// readsEverything reports whether the viewer may read all objects of all watched resources.
func (b *builder) readsEverything() bool {
	for n := range b.state.Watched {
		r := b.state.Watched[n].Resource
		f := b.filters[graph.Kind{Group: r.Group, Kind: r.Kind}]
		if f == nil || !isComplete(f) || len(f.Namespaces) > 0 {
			return false
		}
	}
	return true
}

// hopOf returns the Hop for an object that the viewer may see.
func hopOf(b *builder, n *neighbor.Neighbor) Hop {
	h := Hop{Affected: Affected{Object: neighbor.ObjectOf(n)}, State: Unknown}
	switch {
	case n.Object != nil:
		packed := n.Object.Verdict()
		if !b.seesCause(packed) {
			packed = packed.Public()
		}
		v := packed.Unpack()
		h.State, h.Severity, h.Sentence = Present, v.Severity, v.Sentence
		if b.isGuest() && !resource.IsBuiltIn(n.ID.Group) {
			h.Sentence = ""
		}
	case n.Presence == neighbor.Missing:
		h.State = Missing
	}
	return h
}

func (b *builder) addAffected(e *Explanation, self *neighbor.Neighbor) {
	inheritors, isLimited := b.deps.Engine.Inheritors(self.ID, maxInheritors)
	for n := range inheritors {
		if h := &inheritors[n]; b.sees(h) && b.seesCause(h.Object.Verdict()) {
			e.Affected = append(e.Affected, Affected{neighbor.ObjectOf(h), h.Object.Verdict().Severity()})
		}
	}
	if isLimited && len(e.Affected) == len(inheritors) {
		b.note(fmt.Sprintf("More than %d objects are affected. The others are not counted.", maxInheritors))
	}
	inherited := make(map[verdict.Object]bool, len(e.Affected))
	for _, a := range e.Affected {
		inherited[a.Object] = true
	}
	for _, pod := range blockedPods(b, self) {
		if o := neighbor.ObjectOf(&pod); !inherited[o] {
			e.Affected = append(e.Affected, Affected{o, pod.Object.Verdict().Severity()})
		}
	}
	slices.SortFunc(e.Affected, func(x, y Affected) int {
		return cmp.Or(
			cmp.Compare(y.Severity, x.Severity), cmp.Compare(rank(x.Kind), rank(y.Kind)),
			cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Name, y.Name),
		)
	})
	e.AffectedTotal = len(e.Affected)
	e.Affected = e.Affected[:min(MaxAffected, len(e.Affected))]
}

// blockedPods returns the pods whose eviction a PodDisruptionBudget does not permit now. It notes whether there
// are more.
func blockedPods(b *builder, self *neighbor.Neighbor) (blocked []neighbor.Neighbor) {
	if self.ID.Kind != (graph.Kind{Group: "policy", Kind: "PodDisruptionBudget"}) || self.Object == nil {
		return nil
	}
	selector := b.deps.Engine.Selector(self.ID)
	if selector == nil {
		return nil
	}
	budget := neighbor.Decode[policy.PodDisruptionBudget](self.Object)
	if budget.Status.DisruptionsAllowed > 0 || budget.Status.ObservedGeneration == 0 {
		return nil
	}
	ids := b.deps.Engine.Selected(self.ID.Namespace(), selector, maxInheritors+1)
	for _, id := range ids[:min(maxInheritors, len(ids))] {
		if n := b.deps.Engine.Find(id); n.Object != nil && b.sees(&n) {
			blocked = append(blocked, n)
		}
	}
	if len(ids) > maxInheritors && len(blocked) == maxInheritors {
		b.note(fmt.Sprintf("The budget protects more than %d pods. The others are not counted.", maxInheritors))
	}
	return blocked
}

// related returns a hash of the related objects that the viewer may see, with their severities.
func (b *builder) related(id graph.ID) string {
	var lines []string
	for _, related := range b.deps.Engine.Related(id, maxRelated).All {
		n := b.deps.Engine.Find(related)
		if !b.sees(&n) {
			continue
		}
		line := fmt.Sprint(n.ID, n.Presence)
		if n.Object != nil {
			line += fmt.Sprint(n.Object.UID(), n.Object.Verdict().Severity())
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	hash := fnv.New64a()
	for _, line := range lines {
		_, _ = hash.Write([]byte(line + "\n")) // A hash never returns an error.
	}
	return strconv.FormatUint(hash.Sum64(), 36)
}
