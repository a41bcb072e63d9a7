package watch

import (
	"context"
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/plan"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/search"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// SearchQuery is the request of a search.
type SearchQuery struct {
	Text  string // Words in any order, ignoring case.
	Limit int    // The maximum number of hits.
	// Shown is the ref of a list that the viewer has open; empty for none. The search includes this list.
	Shown string
}

// SearchResult is the result of Access.Search.
type SearchResult struct {
	Hits  []Hit // Best match first.
	Total int   // The number of all matches, including those beyond the limit.
	// Searched lists the resources to search, in search order. A nil Count means that a resource was not searched.
	Searched []ResourceStatus
	// Omitted lists resources that the search does not read, with the reasons, in search order. It includes only those
	// that the viewer may know. It is nil with --inherit-verdicts=false.
	Omitted []search.Omitted
}

// Hit is an object that matches the search text.
type Hit struct {
	Resource             *resource.Resource
	Namespace, Name, UID string
}

// Search finds the objects whose namespace and name together contain all words of a text. Names that equal a word are
// first, then names that start with a word. Events are last. With the engine of inherited verdicts, Search reads the
// same resources as the engine, and keeps it running. Without the engine, Search reads all watched resources.
func (a *Access) Search(
	ctx context.Context, q SearchQuery, order func(a, b *resource.Resource) int,
) (*SearchResult, error) {
	words, err := search.Words(q.Text)
	if err != nil {
		return nil, err
	}
	resources, _, err := a.cluster.catalog.All()
	if err != nil {
		return nil, err
	}
	coverage := a.coverage(resources, q.Shown)
	covered := coverage.Resources
	if a.cluster.readsAll() && len(covered) > 0 {
		defer a.checker.ReleaseAfterResponse(a.KeepOverview()) //nolint:contextcheck // The engine outlives requests.
	}
	slices.SortFunc(covered, func(a, b resource.Resource) int { return order(&a, &b) })
	//nolint:contextcheck // An informer outlives the request that starts it.
	find := func(r *resource.Resource, f *query.Filter) *shared.Informer {
		return a.searchedInformer(&coverage, r, f)
	}
	found := &SearchResult{Omitted: coverage.Omitted}
	best := search.Shortlist{Limit: q.Limit, EventsLast: a.cluster.readsAll()}
	targets, reviewErr := search.Plan(ctx, &a.checker, covered, find)
	reviewedAt := time.Now()
	release, err := a.AcquireProcessor(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if time.Since(reviewedAt) > authz.TTLRecheck().Allowed { // A permission can have been revoked since the review.
		targets, reviewErr = search.Plan(ctx, &a.checker, covered, find)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for index, t := range targets {
		r := &covered[index]
		searched := ResourceStatus{Resource: *r}
		switch {
		case t.IsForbidden && a.cluster.readsAll():
			found.Omitted = append(found.Omitted, search.Omitted{Resource: r, Reason: search.Forbidden})
			continue
		case t.IsReviewFailed:
			searched.Status = &status.Status{State: status.Stale, Since: time.Now(), Reason: reviewErr.Error()}
		case t.Informer != nil:
			a.checker.Record(r, t.Filter, authz.VerbWatch)
			now := t.Informer.VisibleState(t.Filter)
			searched.Status = &now.Status
			if t.Filter.Columns = now.Columns; isCounted(t.Informer) {
				count := best.Scan(index, t.Informer, t.Filter, now.Status.Namespaces, words)
				searched.Count = &count
			}
		case a.cluster.readsAll(): // The engine has not started to read it yet.
			searched.Status = &status.Status{State: status.Syncing, Since: time.Now()}
		default:
			continue
		}
		found.Searched = append(found.Searched, searched)
	}
	for _, c := range best.Sorted() {
		found.Hits = append(found.Hits, Hit{&covered[c.ResourceIndex], c.Object.Namespace(), c.Object.Name(), c.Object.UID()})
	}
	found.Total = best.Total
	slices.SortFunc(found.Omitted, func(a, b search.Omitted) int { return order(a.Resource, b.Resource) })
	return found, nil
}

// readsAll reports whether the cluster has an engine of inherited verdicts. While this engine is in use, it keeps
// most resources in the cache, where a search finds them.
func (c *Cluster) readsAll() bool { return c.opened.Verdicts != nil }

// coverage returns which resources a search reads. shown is the ref of a list that the viewer has open, or empty.
func (a *Access) coverage(resources []resource.Resource, shown string) search.Coverage {
	isWatched := func(r *resource.Resource) bool {
		return a.cluster.find(a.checker.Viewer.InformerScope(r, "")) != nil
	}
	if !a.cluster.readsAll() {
		return search.Coverage{
			Resources: slices.DeleteFunc(slices.Clone(resources), func(r resource.Resource) bool { return !isWatched(&r) }),
		}
	}
	return search.Cover(resources, a.checker.Viewer.CanDiscover, func(r *resource.Resource) bool {
		return r.Ref() == shown && isWatched(r)
	})
}

// searchedInformer returns the informer that a search of the resource r reads, or nil if there is none.
func (a *Access) searchedInformer(
	coverage *search.Coverage, r *resource.Resource, f *query.Filter,
) *shared.Informer {
	switch {
	case !coverage.Reads(r):
		return a.cluster.find(a.checker.Viewer.InformerScope(r, ""))
	case f.NeedsRow():
		// For a share link with conditions on cells, use the guests' own informer: cells in the engine's informer can be
		// different, or can contain values that are masked for guests.
		open, err := a.opener().Acquire(&query.Query{Resource: r.Ref()}, r, f)
		if err != nil {
			return nil // The program is stopping, so no informer can be opened.
		}
		a.checker.ReleaseAfterResponse(open.Release)
		return open.Informer
	}
	return a.cluster.find(plan.ScopeOf(r))
}
