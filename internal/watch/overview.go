package watch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/health"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit"
	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Limits of an overview.
const (
	maxShown = 30 // Changes and warnings.
	recent   = time.Hour
)

// KeepOverview keeps the data of overviews up to date until release is called.
func (a *Access) KeepOverview() (release func()) { return a.cluster.verdicts.Acquire() }

// OverviewChanged returns a channel that is closed when the result of Overview can have changed.
func (a *Access) OverviewChanged() <-chan struct{} { return a.cluster.verdicts.Changed() }

// OverviewQuery is what a reader of an overview requests.
type OverviewQuery struct {
	Namespaces []string      // Empty means all namespaces.
	Limit      int           // The maximum number of findings; 0 means DefaultFindings.
	Wait       time.Duration // How long to wait for the first lists of the resources.
}

// DefaultFindings and MaxFindings are the default and the maximum number of findings in an overview.
const (
	DefaultFindings = 200
	MaxFindings     = 1000
)

// Overview returns what is wrong in the namespaces, and facts about them, as far as the viewer may see it. It starts
// the watches that it needs, and reports which data is missing still.
func (a *Access) Overview(ctx context.Context, q OverviewQuery) (*overview.Overview, error) {
	defer a.checker.ReleaseAfterResponse(a.KeepOverview())
	a.cluster.verdicts.AwaitSettled(ctx, q.Wait)
	b, err := a.newOverviewBuilder(ctx, q.Namespaces)
	if err != nil {
		return nil, err
	}
	b.addWatched()
	items := b.items()
	findings := overview.Group(items)
	b.result.Total = len(findings)
	b.result.Problems = findings[:min(cmp.Or(q.Limit, DefaultFindings), len(findings))]
	b.addSummary()
	b.addWarnings()
	b.addChanges()
	b.addLastChanges(ctx)
	return b.result, ctx.Err()
}

// overviewBuilder builds the overview for one viewer.
type overviewBuilder struct {
	access     *Access
	namespaces []string
	state      inherit.State
	filters    map[graph.Kind]*query.Filter // Of the resources that the viewer may read.
	informers  map[graph.Kind]*inherit.Watched
	kinds      map[string]graph.Kind // By the ref of the resource.
	result     *overview.Overview
}

func (a *Access) newOverviewBuilder(ctx context.Context, namespaces []string) (*overviewBuilder, error) {
	for _, ns := range namespaces {
		if err := query.CheckNamespace(ns); err != nil {
			return nil, err
		}
	}
	b := &overviewBuilder{
		access: a, namespaces: namespaces, state: a.cluster.verdicts.State(),
		filters: make(map[graph.Kind]*query.Filter), informers: make(map[graph.Kind]*inherit.Watched),
		kinds: make(map[string]graph.Kind),
		result: &overview.Overview{
			Problems: []overview.Finding{}, Counts: map[string]int{}, Changes: []overview.Change{},
			Warnings: []overview.Warning{}, Watched: []overview.Watched{}, Unexamined: []string{},
		},
	}
	var forbidden []string
	for n := range b.state.Watched {
		w := &b.state.Watched[n]
		r := w.Resource
		if !a.checker.Viewer.CanDiscover(r) {
			continue
		}
		q := query.Query{Resource: r.Ref()}
		if r.Namespaced {
			q.Namespaces = namespaces
		}
		filter, err := query.NewFilter(&q, r)
		if err == nil {
			err = a.checker.Restrict(ctx, r, filter, authz.VerbList, authz.TTLRequest())
		}
		if p, ok := errors.AsType[*status.Problem](err); ok && p.Cause == status.Refused {
			if len(namespaces) == 0 || r.Namespaced {
				forbidden = append(forbidden, r.Kind)
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		filter.Columns = w.Informer.CurrentState(nil).Columns
		a.checker.Record(r, filter, authz.VerbList)
		kind := graph.Kind{Group: r.Group, Kind: r.Kind}
		b.filters[kind], b.informers[kind], b.kinds[r.Ref()] = filter, w, kind
	}
	if len(forbidden) > 0 {
		slices.Sort(forbidden)
		b.result.Unexamined = append(b.result.Unexamined,
			"You cannot list these resource types: "+strings.Join(forbidden, ", ")+".")
	}
	return b, nil
}

func (b *overviewBuilder) addWatched() {
	waiting := max(0, b.state.Planned-len(b.state.Watched))
	for _, w := range b.state.Watched {
		kind := graph.Kind{Group: w.Resource.Group, Kind: w.Resource.Kind}
		f := b.filters[kind]
		if f == nil {
			continue
		}
		now := w.Informer.CurrentState(f.Namespaces)
		entry := overview.Watched{Resource: w.Resource.Ref(), Kind: w.Resource.Kind, Status: now.Status}
		if b.isWhole(f) && len(f.Namespaces) == 0 {
			stats := w.Informer.Stats()
			entry.Objects, entry.Bytes = stats.Objects, stats.CacheBytes
		}
		if b.access.IsGuest() {
			entry.Reason = now.Status.PublicReason
		}
		switch now.Status.State {
		case status.Live:
		case status.Syncing:
			waiting++
		default:
			text := fmt.Sprintf("%s: %s", w.Resource.Kind, now.Status.State)
			if entry.Reason != "" {
				text += ", " + strings.TrimSuffix(entry.Reason, ".")
			}
			b.result.Unexamined = append(b.result.Unexamined, text+".")
		}
		b.result.Watched = append(b.result.Watched, entry)
	}
	switch {
	case waiting == 0 && b.state.IsPlanned:
	case b.access.IsGuest(): // The number of resource types is not shared.
		b.result.Unexamined = append(b.result.Unexamined, "Some resource types are not read yet.")
	default:
		b.result.Unexamined = append(b.result.Unexamined, fmt.Sprintf(
			"%d of %d resource types are not read yet.", waiting, max(waiting, b.state.Planned)))
	}
}

// isWhole reports whether the viewer may read all objects of the filter's namespaces.
func (*overviewBuilder) isWhole(f *query.Filter) bool {
	return f.Selector == nil && f.Name == "" && !f.NeedsRow() && !f.IsPartial
}

// sees reports whether the viewer may read an object.
func (b *overviewBuilder) sees(n *cause.Neighbor) bool {
	f := b.filters[n.ID.Kind]
	if f == nil {
		return false
	}
	if o, ok := n.Object.(*Item); ok {
		return f.Match(o)
	}
	// The object does not exist. The viewer may know that if the viewer may read all objects there.
	return b.isWhole(f) && (len(f.Namespaces) == 0 || slices.Contains(f.Namespaces, n.ID.Namespace()))
}

func (b *overviewBuilder) items() (items []overview.Item) {
	engine := b.access.cluster.verdicts
	for _, n := range engine.Problems() {
		if n.ID.Kind.Kind == "Event" || !b.sees(&n) {
			continue
		}
		packed := n.Object.Verdict()
		b.result.Counts[packed.Severity().String()]++
		if !packed.Severity().IsProblem() {
			continue
		}
		if b.access.IsGuest() && !printer.IsBuiltIn(n.ID.Group) {
			// Values of custom resources are masked for guests, but the engine reads them unmasked.
			packed = verdict.Pack(nil, &verdict.Verdict{Severity: packed.Severity()})
		}
		item := overview.Item{Object: objectOf(&n), Verdict: packed.Unpack(), Since: func() time.Time {
			return since(&n)
		}}
		if !b.seesCause(packed) {
			item.Verdict = packed.Public().Unpack()
		} else if chain := engine.Chain(n.ID); !slices.ContainsFunc(chain, func(o verdict.Object) bool {
			return !b.seesObject(&o)
		}) {
			item.Chain = chain
		}
		if owner := engine.ProblemOwner(n.ID); owner != nil && b.sees(owner) {
			object := objectOf(owner)
			item.Owner = &object
		}
		items = append(items, item)
	}
	return items
}

// seesCause reports whether the viewer may read the texts of an object's verdict.
func (b *overviewBuilder) seesCause(v verdict.Packed) bool {
	return !v.IsInherited() || v.Unpack().Sources.Within(func(ref, namespace string) bool {
		w, f := b.informers[b.kinds[ref]], b.filters[b.kinds[ref]]
		if f == nil || b.access.IsGuest() && !printer.IsBuiltIn(w.Resource.Group) {
			return false
		}
		return b.isWhole(f) && (len(f.Namespaces) == 0 || slices.Contains(f.Namespaces, namespace))
	})
}

func (b *overviewBuilder) seesObject(o *verdict.Object) bool {
	group, _, _ := strings.Cut(o.Resource, "/")
	if group == "core" {
		group = ""
	}
	n := b.access.cluster.verdicts.Find(graph.NewID(graph.Kind{Group: group, Kind: o.Kind}, o.Namespace, o.Name))
	return b.sees(&n)
}

// since returns when the problem of an object began.
func since(n *cause.Neighbor) time.Time {
	text, err := n.Object.JSON()
	if err != nil {
		return n.Object.Created()
	}
	if at := health.Since(text); !at.IsZero() {
		return at
	}
	return n.Object.Created()
}

func objectOf(n *cause.Neighbor) verdict.Object {
	return verdict.Object{
		Resource: n.Resource, Kind: n.ID.Kind.Kind, Namespace: n.ID.Namespace(), Name: n.ID.Name(),
	}
}

// each calls visit for each object of a kind that the viewer may read.
func (b *overviewBuilder) each(kind graph.Kind, visit func(*Item)) (ok bool) {
	f, w := b.filters[kind], b.informers[kind]
	if f == nil {
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

func (b *overviewBuilder) addSummary() {
	s := &b.result.Summary
	s.APIServer.State = status.Live
	if resources, _, err := b.access.cluster.catalog.All(); err != nil && len(resources) == 0 {
		s.APIServer.State = status.Stale
		if !b.access.IsGuest() {
			s.APIServer.Reason = err.Error()
		}
	}
	var allocatable core.ResourceList
	nodes := &overview.Nodes{}
	var cpu, memory resource.Quantity
	hasNodes := b.each(graph.Kind{Kind: "Node"}, func(o *Item) {
		n := decodeItem[core.Node](o)
		nodes.Total++
		for _, c := range n.Status.Conditions {
			if c.Type == core.NodeReady && c.Status == core.ConditionTrue {
				nodes.Ready++
			}
		}
		allocatable = n.Status.Allocatable
		cpu.Add(allocatable[core.ResourceCPU])
		memory.Add(allocatable[core.ResourceMemory])
	})
	if hasNodes {
		s.Nodes = nodes
	}
	if f := b.filters[graph.Kind{Kind: "Pod"}]; f != nil && b.isWhole(f) {
		usage := b.access.cluster.verdicts.Usage(func(namespace string) bool {
			return len(f.Namespaces) == 0 || slices.Contains(f.Namespaces, namespace)
		})
		s.Pods = usage.Phases
		s.CPU = &overview.Amount{Requested: float64(usage.MilliCPU) / 1000, Allocatable: cpu.AsApproximateFloat64()}
		s.Memory = &overview.Amount{Requested: float64(usage.Memory), Allocatable: memory.AsApproximateFloat64()}
	}
	if len(b.namespaces) == 1 {
		b.each(graph.Kind{Kind: "ResourceQuota"}, func(o *Item) { s.Quotas = append(s.Quotas, quotasOf(o)...) })
	}
}

func decodeItem[T any](o *Item) (value T) {
	if text, err := o.JSON(); err == nil {
		_ = json.Unmarshal(text, &value) // Objects of the API server are valid.
	}
	return value
}

func quotasOf(o *Item) (quotas []overview.Quota) {
	q := decodeItem[core.ResourceQuota](o)
	for name, hard := range q.Status.Hard {
		used := q.Status.Used[name]
		percent := 0
		if most := hard.AsApproximateFloat64(); most > 0 {
			percent = int(100 * used.AsApproximateFloat64() / most)
		}
		quotas = append(quotas, overview.Quota{
			Name: q.Name, Resource: string(name), Used: used.String(), Hard: hard.String(), Percent: percent,
		})
	}
	sort.Slice(quotas, func(i, j int) bool { return quotas[i].Resource < quotas[j].Resource })
	return quotas
}

func (b *overviewBuilder) addWarnings() {
	byReason := make(map[string]*overview.Warning)
	since := time.Now().Add(-recent)
	b.each(graph.Kind{Kind: "Event"}, func(o *Item) {
		if o.Verdict().Severity() <= verdict.OK {
			return // Only warnings are not OK.
		}
		e := decodeItem[core.Event](o)
		last := e.LastTimestamp.Time
		if last.IsZero() {
			last = e.EventTime.Time
		}
		if e.Series != nil {
			last = e.Series.LastObservedTime.Time
		}
		if e.Type != core.EventTypeWarning || last.Before(since) {
			return
		}
		w := byReason[e.Reason]
		if w == nil {
			w = &overview.Warning{Reason: e.Reason}
			byReason[e.Reason] = w
		}
		w.Count += int(max(1, e.Count))
		if last.After(w.Last) {
			w.Last, w.Message = last, e.Message
		}
		if len(w.Objects) < overview.MaxMembers {
			w.Objects = append(w.Objects, b.regarded(&e))
		}
	})
	for _, w := range byReason {
		b.result.Warnings = append(b.result.Warnings, *w)
	}
	slices.SortFunc(b.result.Warnings, func(x, y overview.Warning) int {
		return y.Last.Compare(x.Last)
	})
	b.result.Warnings = b.result.Warnings[:min(maxShown, len(b.result.Warnings))]
}

func (b *overviewBuilder) regarded(e *core.Event) verdict.Object {
	o := verdict.Object{
		Kind: e.InvolvedObject.Kind, Namespace: e.InvolvedObject.Namespace, Name: e.InvolvedObject.Name,
	}
	group, _, hasGroup := strings.Cut(e.InvolvedObject.APIVersion, "/")
	if !hasGroup {
		group = ""
	}
	if w := b.informers[graph.Kind{Group: group, Kind: o.Kind}]; w != nil {
		o.Resource = w.Resource.Ref()
	}
	return o
}

func (b *overviewBuilder) addChanges() {
	for _, c := range b.access.cluster.verdicts.SpecChanges(time.Now().Add(-recent)) {
		f, w := b.filters[c.ID.Kind], b.informers[c.ID.Kind]
		if f == nil || !f.Match(c.Change.New) || !f.Match(c.Change.Old) || b.access.IsGuest() {
			continue
		}
		by, what := inherit.Author(&c, &b.access.cluster.encodedCache)
		if by == nil || isController(by.Manager) {
			continue
		}
		b.result.Changes = append(b.result.Changes, overview.Change{
			Object: verdict.Object{
				Resource: w.Resource.Ref(), Kind: w.Resource.Kind, Namespace: c.ID.Namespace(), Name: c.ID.Name(),
			},
			At: c.Change.Time, By: by.Manager, What: what,
		})
		if len(b.result.Changes) == maxShown {
			break
		}
	}
	for n := range b.result.Problems {
		p := &b.result.Problems[n]
		for m := range b.result.Changes {
			if c := &b.result.Changes[m]; c.Object == p.Object {
				p.LastChange = c
				break
			}
		}
	}
}

// maxLastChanges is the maximum number of findings whose last change is read from the API server.
const maxLastChanges = 20

// addLastChanges adds the last change of the specification before this program watched the object. Only the API server
// knows it, because objects are stored without managedFields.
func (b *overviewBuilder) addLastChanges(ctx context.Context) {
	if b.access.IsGuest() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, b.access.cluster.timeout)
	defer cancel()
	for n := range b.result.Problems[:min(maxLastChanges, len(b.result.Problems))] {
		p := &b.result.Problems[n]
		if p.LastChange == nil && p.Kind != "Pod" {
			p.LastChange = b.access.cluster.lastChange(ctx, p.Object)
		}
	}
}

// lastChange returns the newest change of an object's specification that its managedFields record, or nil.
func (c *Cluster) lastChange(ctx context.Context, o verdict.Object) *overview.Change {
	isFresh := func(_ *overview.Change, readAt time.Time) bool { return time.Since(readAt) < lastChangeAge }
	change, _ := c.lastChanges.Get(ctx, o, isFresh, func(ctx context.Context) *overview.Change {
		r, err := c.catalog.Find(ctx, o.Resource)
		if err != nil {
			return nil
		}
		by, err := c.client.SpecAuthor(ctx, r.GVR(), o.Namespace, o.Name)
		if err != nil || by == nil {
			return nil // The finding is shown without a change.
		}
		return &overview.Change{Object: o, At: by.Time, By: by.Manager}
	})
	return change
}

// lastChangeAge is how long a result of lastChange is used. Newer changes are in the history of the watches.
const lastChangeAge = 5 * time.Minute

// isController reports whether a field manager is a component of Kubernetes, and not a person or a deployment tool.
func isController(manager string) bool {
	return strings.HasPrefix(manager, "kube-") || manager == "kubelet" || manager == "cloud-controller-manager" ||
		manager == "cluster-autoscaler" || manager == "kwok"
}
