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

// maxSearch is the maximum length of a search text in bytes. The longest namespace and name together have 316 bytes.
// The limit also bounds the number of words, each of which is compared with every name.
const maxSearch = 320

// SearchResult is the result of Access.Search.
type SearchResult struct {
	Hits  []Hit // Best match first.
	Total int   // The number of all matches, including those beyond the limit.
	// Searched lists the watched resources, in search order. A resource with a nil Count was not searched. If the
	// viewer's permissions on it could not be checked, its Status is Stale.
	Searched []ResourceStatus
}

// Hit is an object that matches the search text.
type Hit struct {
	Resource             *resource.Resource
	Namespace, Name, UID string
}

// Search finds the objects whose namespace and name contain all words of text, ignoring case. It searches only the
// resources that are watched now, and returns at most limit objects.
//
// Objects whose name equals a word are first, then those whose name starts with a word, then all others. Within each
// group, objects are sorted by resource, then by namespace and name. The function order compares two resources.
//
// A search scans all names once. It is fast, because it decompresses no objects.
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

// planSearch runs an access review for each resource, and returns one target for each. If some reviews fail, it
// returns the targets together with an error.
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

// matchKey reports whether the key "namespace/name" contains all words, which must be in lower case. rank is 0 if the
// name equals a word, 1 if it starts with a word, and 2 otherwise. A word with a slash is compared with the whole
// key.
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

// shortlist keeps the best candidates of a search, and counts all candidates. It sorts and trims them only now and
// then, so it can contain more than limit of them, but fewer than 2*limit.
type shortlist struct {
	limit      int
	total      int
	candidates []candidate
	// isTrimmed means that candidates was sorted, and cut to the length in the field limit. After that, a new
	// candidate is ignored if it sorts after the first limit candidates.
	isTrimmed bool
}

// scan adds the objects of a resource whose names match the words, and returns the number of objects that the viewer
// is allowed to see. The parameter covered lists the watched namespaces; empty means all. Objects of other namespaces
// are skipped. The program has lost the permission to read them, and will soon remove them.
func (l *shortlist) scan(index int, i *stream.SharedInformer, f *query.Filter, covered, words []string) (visible int) {
	entries, _ := i.Snapshot()
	all := f.MatchesAll()
	for _, e := range entries {
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
