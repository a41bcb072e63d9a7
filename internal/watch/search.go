package watch

import (
	"context"
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/search"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// SearchResult is the result of Access.Search.
type SearchResult struct {
	Hits  []Hit // Best match first.
	Total int   // The number of all matches, including those beyond the limit.
	// Searched lists the watched resources in search order. A nil Count means that a resource was not searched.
	Searched []ResourceStatus
}

// Hit is an object that matches the search text.
type Hit struct {
	Resource             *resource.Resource
	Namespace, Name, UID string
}

// Search finds the watched objects whose namespace and name together contain all words of text, ignoring case. Names
// that equal a word are first, then names that start with a word.
func (a *Access) Search(
	ctx context.Context, text string, limit int, order func(a, b *resource.Resource) int,
) (*SearchResult, error) {
	words, err := search.Words(text)
	if err != nil {
		return nil, err
	}
	resources, _, err := a.cluster.catalog.All()
	if err != nil {
		return nil, err
	}
	find := func(r *resource.Resource) *shared.Informer {
		return a.cluster.find(a.checker.Viewer.InformerScope(r, ""))
	}
	watched := slices.DeleteFunc(slices.Clone(resources), func(r resource.Resource) bool { return find(&r) == nil })
	slices.SortFunc(watched, func(a, b resource.Resource) int { return order(&a, &b) })
	found := &SearchResult{}
	best := search.Shortlist{Limit: limit}
	targets, reviewErr := search.Plan(ctx, &a.checker, watched, find)
	reviewedAt := time.Now()
	release, err := a.AcquireProcessor(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if time.Since(reviewedAt) > authz.TTLRecheck().Allowed { // A permission can have been revoked since the review.
		targets, reviewErr = search.Plan(ctx, &a.checker, watched, find)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for index := range watched {
		i, f := targets[index].Informer, targets[index].Filter
		switch {
		case i == nil:
			continue
		case targets[index].IsReviewFailed:
			status := &status.Status{State: status.Stale, Since: time.Now(), Reason: reviewErr.Error()}
			found.Searched = append(found.Searched, ResourceStatus{Resource: watched[index], Status: status})
			continue
		}
		a.checker.Record(&watched[index], f, authz.VerbWatch)
		now := i.VisibleState(f)
		searched := ResourceStatus{Resource: watched[index], Status: &now.Status, Count: objectCount(i)}
		if f.Columns = now.Columns; searched.Count != nil {
			count := best.Scan(index, i, f, now.Status.Namespaces, words)
			searched.Count = &count
		}
		found.Searched = append(found.Searched, searched)
	}
	for _, c := range best.Sorted() {
		found.Hits = append(found.Hits, Hit{&watched[c.ResourceIndex], c.Object.Namespace(), c.Object.Name(), c.Object.UID()})
	}
	found.Total = best.Total
	return found, nil
}
