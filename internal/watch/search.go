package watch

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/informer"
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/query"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/status"
	"glasshouse/internal/watch/stream"
)

// maxSearch is the maximum length of a search text in bytes. Namespace and name together have at most 316.
const maxSearch = 320

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

// Search finds the watched objects whose namespace and name contain all words of text, ignoring case. Equal names are
// first, then names that start with a word.
func (a *Access) Search(
	ctx context.Context, text string, limit int, order func(a, b *resource.Resource) int,
) (*SearchResult, error) {
	words := slices.Compact(slices.Sorted(strings.FieldsSeq(strings.ToLower(text))))
	if len(words) == 0 {
		return nil, status.Invalidf(
			"Empty search", "The search text q is empty; write parts of a namespace or name, such as q=shop web.",
		)
	}
	if len(text) > maxSearch {
		return nil, status.Invalidf("Selector too long", "A search may have at most %d bytes.", maxSearch)
	}
	resources, _, err := a.cluster.catalog.All()
	if err != nil {
		return nil, err
	}
	watched := slices.DeleteFunc(slices.Clone(resources), func(r resource.Resource) bool {
		return a.cluster.find(a.scope(&r, "")) == nil
	})
	slices.SortFunc(watched, func(a, b resource.Resource) int { return order(&a, &b) })
	found := &SearchResult{}
	best := shortlist{limit: limit}
	targets, reviewErr := a.planSearch(ctx, watched)
	reviewedAt := time.Now()
	release, err := a.acquireScan(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if time.Since(reviewedAt) > authz.TTLRecheck().Allowed { // A permission can have been revoked since the review.
		targets, reviewErr = a.planSearch(ctx, watched)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for index := range watched {
		i, f := targets[index].informer, targets[index].filter
		switch {
		case i == nil:
			continue
		case targets[index].isReviewFailed:
			status := &status.Status{State: status.Stale, Since: time.Now(), Reason: reviewErr.Error()}
			found.Searched = append(found.Searched, ResourceStatus{Resource: watched[index], Status: status})
			continue
		}
		a.recordFilter(&watched[index], f, authz.VerbWatch)
		now := i.VisibleState(f)
		searched := ResourceStatus{Resource: watched[index], Status: &now.Status, Count: objectCount(i)}
		if f.Columns = now.Columns; searched.Count != nil {
			count := best.scan(index, i, f, now.Status.Namespaces, words)
			searched.Count = &count
		}
		found.Searched = append(found.Searched, searched)
	}
	for _, c := range best.sorted() {
		found.Hits = append(found.Hits, Hit{&watched[c.resourceIndex], c.object.Namespace(), c.object.Name(), c.object.UID()})
	}
	found.Total = best.total
	return found, nil
}

// searchTarget is a resource to search, with a filter for the objects that the viewer is allowed to see.
type searchTarget struct {
	resource       *resource.Resource
	informer       *stream.SharedInformer // Nil if no informer runs, or if the viewer may not see the resource.
	filter         *query.Filter
	isReviewFailed bool
}

// planSearch runs an access review for each resource, and returns the targets even if some reviews fail.
func (a *Access) planSearch(ctx context.Context, resources []resource.Resource) ([]*searchTarget, error) {
	ctx, cancel := context.WithTimeout(ctx, statusReviewTimeout)
	defer cancel()
	all := make([]*searchTarget, len(resources))
	for n := range resources {
		all[n] = &searchTarget{
			resource: &resources[n], informer: a.cluster.find(a.scope(&resources[n], "")), filter: &query.Filter{},
		}
	}
	_, err := checkEach(ctx, all, func(ctx context.Context, s *searchTarget) (bool, error) {
		err := a.restrict(
			ctx, s.resource, s.filter, authz.VerbWatch,
			authz.DecisionTTL{Allowed: authz.TTLRequest().Allowed, Denied: authz.TTLRecheck().Denied},
		)
		if p, ok := errors.AsType[*status.Problem](err); ok && p.Cause != status.Unavailable {
			s.informer = nil
			return false, nil
		}
		s.isReviewFailed = err != nil
		return err == nil, err
	})
	return all, err
}

// matchKey reports whether a key contains all words. rank is 0 for the name, 1 for its start, else 2.
func matchKey(key string, words []string) (rank int, ok bool) {
	key = strings.TrimPrefix(strings.ToLower(key), "/")
	for _, word := range words {
		if !strings.Contains(key, word) {
			return 0, false
		}
	}
	rank = 2
	for _, word := range words {
		name := key[strings.IndexByte(key, '/')+1:]
		if strings.Contains(word, "/") {
			name = key
		}
		switch {
		case name == word:
			return 0, true
		case strings.HasPrefix(name, word):
			rank = 1
		}
	}
	return rank, true
}

type candidate struct {
	rank, resourceIndex int
	key                 string
	object              *listwatch.Object
}

func (c candidate) compare(other candidate) int {
	return cmp.Or(
		cmp.Compare(c.rank, other.rank), cmp.Compare(c.resourceIndex, other.resourceIndex),
		informer.CompareKeys(c.key, other.key),
	)
}

// shortlist keeps the best candidates of a search: fewer than 2*limit, because it trims them only now and then.
type shortlist struct {
	limit      int
	total      int
	candidates []candidate
	// isTrimmed means that candidates was sorted and cut to limit. New candidates that sort after these are ignored.
	isTrimmed bool
}

// scan adds the matching objects in covered namespaces; empty means all. It returns the number of visible objects.
func (l *shortlist) scan(index int, i *stream.SharedInformer, f *query.Filter, covered, words []string) (visible int) {
	entries, _ := i.Snapshot()
	all := f.MatchesAll()
	for _, e := range entries {
		// After a lost permission, the informer soon removes objects of other namespaces.
		_, isCovered := slices.BinarySearch(covered, informer.NamespaceOf(e.Key))
		if !isCovered && len(covered) > 0 || !all && !f.Match(e.Value) {
			continue
		}
		visible++
		if rank, ok := matchKey(e.Key, words); ok {
			l.add(candidate{rank, index, e.Key, e.Value})
		}
	}
	return visible
}

func (l *shortlist) add(c candidate) {
	l.total++
	if l.isTrimmed && c.compare(l.candidates[l.limit-1]) > 0 {
		return
	}
	if l.candidates = append(l.candidates, c); len(l.candidates) >= 2*l.limit {
		l.candidates, l.isTrimmed = l.sorted(), true
	}
}

func (l *shortlist) sorted() []candidate {
	slices.SortFunc(l.candidates, candidate.compare)
	return l.candidates[:min(l.limit, len(l.candidates))]
}
