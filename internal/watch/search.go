package watch

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"glasshouse/internal/watch/wire"
)

// maxSearch is how many bytes a search may have: hardly more than a namespace and
// a name have. It bounds the words that are looked for in each name.
const maxSearch = 320

// Found are the objects that a search has found.
type Found struct {
	Hits  []Hit // The best first.
	Total int   // As many there are, in what was looked through.
	// Searched is what is watched, in the order of the search; of those without a
	// Count nothing was looked through. They are Stale where it is not known what of
	// them may be seen.
	Searched []Known
}

// Hit is an object that was found.
type Hit struct {
	Resource             *Resource
	Namespace, Name, UID string
}

// Search finds objects that have all words of text in their namespace and name,
// whatever the case, among the resources that are watched now: asking is no
// looking. At most limit are given: those first whose name is a word, then those
// whose name begins with one; resources are in the given order, and objects in
// that of namespace and name.
//
// It takes as long as it takes to go through all names once: no text is
// decompressed.
func (a *Access) Search(ctx context.Context, text string, limit int, order func(a, b *Resource) int) (*Found, error) {
	words := slices.Compact(slices.Sorted(strings.FieldsSeq(strings.ToLower(text))))
	if len(words) == 0 {
		return nil, invalid("Nothing to look for", "q has no word; give parts of a namespace or name, as in q=shop web.")
	}
	if len(text) > maxSearch {
		return nil, invalid("Selector too long", "A search may have %d bytes.", maxSearch)
	}
	resources, _, err := a.cluster.catalog.all()
	if err != nil {
		return nil, err
	}
	watched := slices.DeleteFunc(slices.Clone(resources), func(r Resource) bool { return a.cluster.pool.find(a.scope(&r, "")) == nil })
	slices.SortFunc(watched, func(a, b Resource) int { return order(&a, &b) })
	found := &Found{}
	best := shortlist{limit: limit}
	sought, unsure := a.seek(ctx, watched)
	asked := time.Now()
	leave, err := a.inTurn(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if time.Since(asked) > askedAgain().allowed { // A right may have gone meanwhile.
		sought, unsure = a.seek(ctx, watched)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for kind := range watched {
		i, f := sought[kind].informer, sought[kind].filter
		switch {
		case i == nil:
			continue
		case sought[kind].unknown:
			status := &Status{State: Stale, Since: time.Now(), Reason: unsure.Error()}
			found.Searched = append(found.Searched, Known{Resource: watched[kind], Status: status})
			continue
		}
		a.tells(&watched[kind], f, toWatch)
		now := f.present(i)
		known := Known{Resource: watched[kind], Status: &now.status, Count: i.known()}
		if f.columns = now.columns; known.Count != nil {
			count := best.look(kind, i, f, now.status.Namespaces, words)
			known.Count = &count
		}
		found.Searched = append(found.Searched, known)
	}
	for _, c := range best.sorted() {
		found.Hits = append(found.Hits, Hit{&watched[c.kind], c.object.Namespace(), c.object.Name(), c.object.UID()})
	}
	found.Total = best.total
	return found, nil
}

// sought is what of a resource a search looks through.
type sought struct {
	resource *Resource
	informer *informer // Of all of it; nil where nothing of it may be seen, or it runs no more.
	filter   *filter   // Lets through what may be seen.
	unknown  bool      // What that is could not be found out in time.
}

// seek finds out what of resources may be seen, and returns why that is not known of
// some.
func (a *Access) seek(ctx context.Context, resources []Resource) ([]*sought, error) {
	ctx, cancel := context.WithTimeout(ctx, looksPatience)
	defer cancel()
	all := make([]*sought, len(resources))
	for n := range resources {
		all[n] = &sought{resource: &resources[n], informer: a.cluster.pool.find(a.scope(&resources[n], "")), filter: &filter{}}
	}
	_, err := several(ctx, all, func(ctx context.Context, s *sought) (bool, error) {
		err := a.narrow(ctx, s.resource, s.filter, toWatch, age{askedOnce().allowed, askedAgain().denied})
		if p, ok := errors.AsType[*Problem](err); ok && p.Cause != Unavailable {
			s.informer = nil
			return false, nil
		}
		s.unknown = err != nil
		return err == nil, err
	})
	return all, err
}

// match reports whether a key has all words, which are in lower case, and how
// well its name fits the best of them: 0 is exact, 1 a beginning, 2 any part.
func match(key string, words []string) (rank int, ok bool) {
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

// candidate is an object that a search may find.
type candidate struct {
	rank, kind int
	key        string
	object     *wire.Object
}

func (c candidate) compare(other candidate) int {
	return cmp.Or(cmp.Compare(c.rank, other.rank), cmp.Compare(c.kind, other.kind), compareKeys(c.key, other.key))
}

// shortlist keeps the best candidates of any number.
type shortlist struct {
	limit int
	total int
	kept  []candidate // Fewer than twice the limit.
	full  bool        // The first of them, as many as the limit, are the best of those that came before the others.
}

// look goes through the names of a resource, all of which may be seen that the filter
// lets through, and returns how many these are. Rows of a namespace that may not be
// seen any more, and is none of those that are covered, are there for another moment.
func (l *shortlist) look(kind int, i *informer, f *filter, covered, words []string) (seen int) {
	entries, _ := i.Snapshot()
	all := f.everything()
	for _, e := range entries {
		_, in := slices.BinarySearch(covered, namespaceOf(e.Key))
		if !in && len(covered) > 0 || !all && !f.match(e.Value) {
			continue
		}
		seen++
		if rank, ok := match(e.Key, words); ok {
			l.add(candidate{rank, kind, e.Key, e.Value})
		}
	}
	return seen
}

func (l *shortlist) add(c candidate) {
	l.total++
	if l.full && c.compare(l.kept[l.limit-1]) > 0 {
		return
	}
	if l.kept = append(l.kept, c); len(l.kept) >= 2*l.limit {
		l.kept, l.full = l.sorted(), true
	}
}

func (l *shortlist) sorted() []candidate {
	slices.SortFunc(l.kept, candidate.compare)
	return l.kept[:min(l.limit, len(l.kept))]
}
