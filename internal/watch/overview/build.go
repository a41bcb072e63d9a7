package overview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/catalog"
	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/permit"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Query is what a reader of an overview requests.
type Query struct {
	Namespaces []string      // Empty means all namespaces.
	Limit      int           // The maximum number of findings; 0 means DefaultFindings.
	Wait       time.Duration // How long to wait for the first lists of the resources.
}

const (
	// DefaultFindings is the default number of findings in an overview.
	DefaultFindings = 200
	// MaxFindings is the maximum number of findings in an overview.
	MaxFindings = 2000

	maxShown = 30 // The maximum number of changes in an overview, and also of warnings.
	recent   = time.Hour
)

// Deps are what Build reads.
type Deps struct {
	Engine *inherit.Engine
	Cache  *event.Cache // Contains the authors of changes.
	// APIServer returns how the API server responded to discovery.
	APIServer func() catalog.Health
	// LastChange returns the newest change of an object's specification, according to its managedFields, or nil if
	// unknown.
	LastChange func(context.Context, verdict.Object) *Change
	Timeout    time.Duration // The time limit for all calls of LastChange together.
}

// Build returns the problems in the namespaces of the query, and facts about these namespaces, as far as the viewer may
// see them. The member Unexamined lists which data is still missing.
func Build(ctx context.Context, deps *Deps, checker *permit.Checker, q Query) (*Overview, error) {
	deps.Engine.AwaitSettled(ctx, q.Wait)
	b, err := newBuilder(ctx, deps, checker, q.Namespaces, "")
	if err != nil {
		return nil, err
	}
	b.addWatched()
	findings := group(b.items())
	b.result.Total = len(findings)
	b.result.Problems = findings[:min(cmp.Or(q.Limit, DefaultFindings), len(findings))]
	for n := range b.result.Problems {
		b.result.Problems[n].Owner = b.ownerOf(&b.result.Problems[n].Object)
	}
	b.addSummary()
	b.addWarnings()
	b.addChanges()
	b.addLastChanges(ctx)
	return b.result, ctx.Err()
}

func (b *builder) isGuest() bool { return b.checker.Viewer.Scope != nil }

// builder builds the overview for one viewer.
type builder struct {
	deps       *Deps
	checker    *permit.Checker
	namespaces []string
	state      inherit.State
	filters    map[graph.Kind]*query.Filter // The filters of the resources that the viewer may read.
	informers  map[graph.Kind]*inherit.Watched
	kinds      map[string]graph.Kind // The kind of each resource, by its ref.
	result     *Overview
}

// newBuilder checks which resources the viewer may list in the given namespaces. If the viewer may not list a
// namespaced resource there, newBuilder tries the namespace in the parameter alternative, unless it is empty.
func newBuilder(
	ctx context.Context, deps *Deps, checker *permit.Checker, namespaces []string, alternative string,
) (*builder, error) {
	for _, ns := range namespaces {
		if err := query.CheckNamespace(ns); err != nil {
			return nil, err
		}
	}
	b := &builder{
		deps: deps, checker: checker, namespaces: namespaces, state: deps.Engine.State(),
		filters: make(map[graph.Kind]*query.Filter), informers: make(map[graph.Kind]*inherit.Watched),
		kinds: make(map[string]graph.Kind),
		result: &Overview{
			Problems: []Finding{}, Counts: map[string]int{}, Progressing: []Progressing{}, Changes: []Change{},
			Warnings: []Warning{}, Watched: []Watched{}, Unexamined: []string{},
		},
	}
	var forbidden []string
	for n := range b.state.Watched {
		w := &b.state.Watched[n]
		if !checker.Viewer.CanDiscover(w.Resource) {
			continue
		}
		isForbidden, err := b.addFilter(ctx, w, namespaces)
		if err != nil {
			return nil, err
		}
		if isForbidden && alternative != "" && w.Resource.Namespaced {
			if isForbidden, err = b.addFilter(ctx, w, []string{alternative}); err != nil {
				return nil, err
			}
		}
		if isForbidden && (len(namespaces) == 0 || w.Resource.Namespaced) {
			forbidden = append(forbidden, w.Resource.Plural())
		}
	}
	if len(forbidden) > 0 {
		slices.Sort(forbidden)
		b.result.Unexamined = append(b.result.Unexamined,
			"You cannot list these resource types: "+strings.Join(forbidden, ", ")+".")
	}
	return b, nil
}

// addFilter adds a filter for the objects of w that the viewer may read. isForbidden means that there are none.
func (b *builder) addFilter(
	ctx context.Context, w *inherit.Watched, namespaces []string,
) (isForbidden bool, err error) {
	r := w.Resource
	q := query.Query{Resource: r.Ref()}
	if r.Namespaced {
		q.Namespaces = namespaces
	}
	filter, err := query.NewFilter(&q, r)
	if err == nil {
		err = b.checker.Restrict(ctx, r, filter, authz.VerbList, authz.TTLRequest())
	}
	if p, ok := errors.AsType[*status.Problem](err); ok && p.Cause == status.Refused {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	filter.Columns = w.Informer.CurrentState(nil).Columns
	b.checker.Record(r, filter, authz.VerbList)
	kind := graph.Kind{Group: r.Group, Kind: r.Kind}
	b.filters[kind], b.informers[kind], b.kinds[r.Ref()] = filter, w, kind
	return false, nil
}

func (b *builder) addWatched() {
	waiting := max(0, b.state.Planned-len(b.state.Watched)) // The resources whose watch has not started.
	planned := waiting
	var refused []string
	for _, w := range b.state.Watched {
		kind := graph.Kind{Group: w.Resource.Group, Kind: w.Resource.Kind}
		f := b.filters[kind]
		if f == nil {
			continue
		}
		planned++
		now := shared.Of(w.Informer).VisibleState(f)
		entry := Watched{Resource: w.Resource.Ref(), Kind: w.Resource.Kind, Status: now.Status}
		if isComplete(f) && len(f.Namespaces) == 0 {
			stats := w.Informer.Stats()
			entry.Objects, entry.Bytes = stats.Objects, stats.CacheBytes
		}
		switch now.Status.State {
		case status.Live:
		case status.Syncing:
			waiting++
		case status.Forbidden:
			refused = append(refused, w.Resource.Plural())
		default:
			text := fmt.Sprintf("%s: %s", w.Resource.Plural(), now.Status.State)
			if entry.Reason != "" {
				text += ", " + strings.TrimSuffix(entry.Reason, ".")
			}
			b.result.Unexamined = append(b.result.Unexamined, text+".")
		}
		b.result.Watched = append(b.result.Watched, entry)
	}
	if len(refused) > 0 {
		slices.Sort(refused)
		b.note("Glasshouse has no permission to list these resource types: " + strings.Join(refused, ", ") + ".")
	}
	b.noteProgress(waiting, planned)
}

// noteProgress reports how many of the planned resources are not read yet, and how many are omitted.
func (b *builder) noteProgress(waiting, planned int) {
	switch {
	case waiting == 0 && b.state.IsPlanned:
	case b.isGuest() || !b.state.IsPlanned: // The number of resource types is unknown, or not shared.
		b.note("Some resource types are not read yet.")
	default:
		b.note(fmt.Sprintf("%d of %d resource types are not read yet.", waiting, planned))
	}
	if b.state.IsPlanned && !b.isGuest() {
		b.result.Planned = planned
	}
	if b.state.Omitted > 0 && !b.isGuest() {
		b.note(fmt.Sprintf("%d more custom resource types are not examined, because the cluster has too many.",
			b.state.Omitted))
	}
}

// isComplete reports whether the viewer may read all objects of the filter's namespaces.
func isComplete(f *query.Filter) bool {
	return f.Selector == nil && f.Name == "" && !f.NeedsRow() && !f.IsPartial
}

// isCompleteIn reports whether the viewer may read all objects of one namespace, or of a cluster-scoped resource.
func isCompleteIn(f *query.Filter, namespace string) bool {
	isLimited := f.Selector != nil || f.Name != "" || f.NeedsRow()
	return !isLimited && (len(f.Namespaces) == 0 || slices.Contains(f.Namespaces, namespace))
}

// isSelected reports whether an object is in the selected namespaces, or is one of them. If namespaces are selected,
// other cluster-scoped objects, such as nodes, are shown only as causes.
func (b *builder) isSelected(id graph.ID) bool {
	namespace := id.Namespace()
	if namespace == "" && id.Kind == (graph.Kind{Kind: "Namespace"}) {
		namespace = id.Name()
	}
	return len(b.namespaces) == 0 || slices.Contains(b.namespaces, namespace)
}

// sees reports whether the viewer may read an object.
func (b *builder) sees(n *neighbor.Neighbor) bool {
	f := b.filters[n.ID.Kind]
	if f == nil {
		return false
	}
	if o, ok := n.Object.(*compact.Object); ok {
		return f.Match(o)
	}
	// The object does not exist. Only a viewer who may read all objects of the object's namespace may know this.
	return isCompleteIn(f, n.ID.Namespace())
}

func (b *builder) items() (items []item) {
	engine, progressing := b.deps.Engine, make(map[graph.Kind]int)
	for _, n := range engine.Problems() {
		isEvent := n.ID.Kind.Kind == "Event" && resource.IsBuiltIn(n.ID.Group)
		if isEvent || !b.isSelected(n.ID) || !b.sees(&n) {
			continue
		}
		packed := n.Object.Verdict()
		b.result.Counts[packed.Severity().String()]++
		if !packed.Severity().IsProblem() {
			progressing[n.ID.Kind]++
			continue
		}
		if b.isGuest() && !resource.IsBuiltIn(n.ID.Group) {
			// Keep only the severity. The engine reads custom resources without the guest mask, so its sentences can
			// contain values that guests must not see.
			packed = verdict.Pack(nil, &verdict.Verdict{Severity: packed.Severity()})
		}
		seesCause := b.seesCause(packed)
		item := item{Object: neighbor.ObjectOf(&n), Verdict: packed.Unpack(), Since: func() (time.Time, bool) {
			return since(engine, &n, packed.IsInherited() && seesCause)
		}}
		if !seesCause {
			item.Verdict = packed.Public().Unpack()
		} else if chain := engine.Chain(n.ID); !slices.ContainsFunc(chain, func(o verdict.Object) bool {
			return !b.seesObject(&o)
		}) {
			item.Chain = chain
		}
		if owner := engine.ProblemOwner(n.ID); owner != nil && b.sees(owner) {
			object := neighbor.ObjectOf(owner)
			item.Owner = &object
		}
		items = append(items, item)
	}
	for kind, count := range progressing {
		b.result.Progressing = append(b.result.Progressing, Progressing{b.informers[kind].Resource.Ref(), kind.Kind, count})
	}
	slices.SortFunc(b.result.Progressing, func(x, y Progressing) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Resource, y.Resource))
	})
	return items
}

// seesCause reports whether the viewer may read the texts of an object's verdict, which can describe other objects.
func (b *builder) seesCause(v verdict.Packed) bool {
	return !v.IsInherited() || b.seesSources(v.Unpack().Sources)
}

// seesSources reports whether the viewer may read all objects of the sources of a text.
func (b *builder) seesSources(s verdict.Sources) bool {
	return s.Within(func(ref, namespace string) bool {
		w, f := b.informers[b.kinds[ref]], b.filters[b.kinds[ref]]
		if f == nil || b.isGuest() && !resource.IsBuiltIn(w.Resource.Group) {
			return false
		}
		return isCompleteIn(f, namespace)
	})
}

func (b *builder) seesObject(o *verdict.Object) bool {
	n := b.deps.Engine.Find(neighbor.IDOf(o))
	return b.sees(&n)
}

// each calls visit for the objects of a kind that the viewer may read. It returns false if the viewer may read none, or
// if the program may list none.
func (b *builder) each(kind graph.Kind, visit func(*compact.Object)) (ok bool) {
	f, w := b.filters[kind], b.informers[kind]
	if f == nil || w.Informer.CurrentState(f.Namespaces).Status.State.IsRefused() {
		return false
	}
	entries, _ := w.Informer.Snapshot()
	for n := range entries {
		if f.Match(entries[n].Value) {
			visit(entries[n].Value)
		}
	}
	return true
}
