// Package search finds objects in memory by parts of their namespaces and names.
package search

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/permit"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// maxSearch is the maximum length of a search text in bytes. Namespace and name together have at most 316 bytes.
const maxSearch = 320

// Words returns the words of a search text in lower case.
func Words(text string) ([]string, error) {
	words := slices.Compact(slices.Sorted(strings.FieldsSeq(strings.ToLower(text))))
	if len(words) == 0 {
		return nil, status.Invalidf("Empty search",
			"The search text q is empty; write parts of a namespace or name, such as q=shop web.")
	}
	if len(text) > maxSearch {
		return nil, status.Invalidf("Selector too long", "A search may have at most %d bytes.", maxSearch)
	}
	return words, nil
}

// A Target is a resource to search, with a filter for the objects that the viewer is allowed to see.
type Target struct {
	Informer       *shared.Informer // Nil if no informer runs, or if the viewer may not see the resource.
	Filter         *query.Filter
	IsForbidden    bool
	IsReviewFailed bool
	resource       *resource.Resource
}

// Find returns the informer of a resource to search with a filter, or nil.
type Find func(*resource.Resource, *query.Filter) *shared.Informer

// Plan runs an access review for each resource, and returns all targets. If reviews fail, it also returns an error.
func Plan(
	ctx context.Context, checker *permit.Checker, resources []resource.Resource, find Find,
) ([]*Target, error) {
	ctx, cancel := context.WithTimeout(ctx, permit.ReviewsTimeout)
	defer cancel()
	all := make([]*Target, len(resources))
	for n := range resources {
		all[n] = &Target{Filter: &query.Filter{}, IsReviewFailed: true, resource: &resources[n]}
	}
	_, err := permit.CheckEach(ctx, all, func(ctx context.Context, t *Target) (bool, error) {
		err := checker.Restrict(
			ctx, t.resource, t.Filter, authz.VerbWatch,
			authz.DecisionTTL{Allowed: authz.TTLRequest().Allowed, Denied: authz.TTLRecheck().Denied},
		)
		if p, ok := errors.AsType[*status.Problem](err); ok && p.Cause != status.Unavailable {
			t.IsForbidden, t.IsReviewFailed = true, false
			return false, nil
		}
		if err == nil {
			t.Informer, t.IsReviewFailed = find(t.resource, t.Filter), false
		}
		return err == nil, err
	})
	return all, err
}

const ranks = 3 // The number of ranks that matchKey can return.

// matchKey reports whether a key contains all words. rank is 0 if a word is the complete name, 1 if the name starts
// with a word, else 2.
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

// A Candidate is an object that matches the words of a search.
type Candidate struct {
	ResourceIndex int
	Object        *compact.Object
	rank          int
	key           string
}

func (c Candidate) compare(other Candidate) int {
	return cmp.Or(
		cmp.Compare(c.rank, other.rank), cmp.Compare(c.ResourceIndex, other.ResourceIndex),
		informer.CompareKeys(c.key, other.key),
	)
}

// A Shortlist keeps the best candidates of a search. When it has 2*Limit candidates, it drops the worse half.
type Shortlist struct {
	Limit int
	// EventsLast sorts Events after all other objects, because the name of an Event starts with the name of its object.
	EventsLast bool
	Total      int // The number of all matches, including those beyond the limit.
	candidates []Candidate
	// isTrimmed means that candidates was sorted and cut to Limit. New candidates that sort after these are ignored.
	isTrimmed bool
}

// Scan adds the visible objects that match the words, with the given index of their resource. It reads only the
// namespaces in covered, or all if covered is empty. visible is the number of visible objects, matching or not.
func (s *Shortlist) Scan(index int, i *shared.Informer, f *query.Filter, covered, words []string) (visible int) {
	entries, _ := i.Snapshot()
	all := f.MatchesAll()
	lowest := 0
	if s.EventsLast && i.Scope.Resource.Resource == "events" {
		lowest = ranks
	}
	for _, e := range entries {
		// Skip objects of other namespaces: the permission for these was lost, and the informer will soon remove
		// them.
		_, isCovered := slices.BinarySearch(covered, informer.NamespaceOf(e.Key))
		if !isCovered && len(covered) > 0 || !all && !f.Match(e.Value) {
			continue
		}
		visible++
		if rank, ok := matchKey(e.Key, words); ok {
			s.add(Candidate{ResourceIndex: index, Object: e.Value, rank: lowest + rank, key: e.Key})
		}
	}
	return visible
}

func (s *Shortlist) add(c Candidate) {
	s.Total++
	if s.isTrimmed && c.compare(s.candidates[s.Limit-1]) > 0 {
		return
	}
	if s.candidates = append(s.candidates, c); len(s.candidates) >= 2*s.Limit {
		s.candidates, s.isTrimmed = s.Sorted(), true
	}
}

// Sorted returns the best candidates, in order.
func (s *Shortlist) Sorted() []Candidate {
	slices.SortFunc(s.candidates, Candidate.compare)
	return s.candidates[:min(s.Limit, len(s.candidates))]
}
