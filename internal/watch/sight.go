package watch

import (
	"maps"
	"slices"
)

// sight is which namespaces an informer sees: an object that comes into sight, or
// goes out of it, has neither been made nor deleted. The informer's lock guards
// it.
type sight struct {
	seen map[string]bool // Whose rows are all held, as they were at some time since; "" is all.
	// lost has the offsets that a cursor must have reached lest it be of a time
	// when a namespace was seen that was not for a while after; "" is any.
	lost map[string]uint64
}

func newSight() sight { return sight{seen: make(map[string]bool), lost: make(map[string]uint64)} }

// comes returns what the add of a key begins with, by what is seen now.
func (i *informer) comes() func(key string) memo {
	i.mu.Lock()
	seen := maps.Clone(i.sight.seen)
	i.mu.Unlock()
	return func(key string) memo { return memo{sight: !seen[""] && !seen[namespaceOf(key)]} }
}

// lose says that the rows of namespaces have been taken out, and reports whether
// somebody asks for one of them all the same.
func (i *informer) lose(which func(namespace string) bool) (asked bool) {
	i.mu.Lock()
	some := false
	for ns := range i.sight.seen {
		some = some || which(ns)
	}
	i.mu.Unlock()
	if !some {
		return false
	}
	i.Mark() // For to take nothing out takes no offset.
	kept, _ := i.Kept()
	now := i.Now().Offset
	i.mu.Lock()
	defer i.mu.Unlock()
	lost := i.sight.lost
	maps.DeleteFunc(lost, func(_ string, at uint64) bool { return at+uint64(kept) <= now }) //nolint:gosec // Not negative.
	for ns := range i.sight.seen {
		if which(ns) {
			delete(i.sight.seen, ns)
			lost[ns] = now
			asked = asked || i.asked[ns] != nil && i.asked[ns].holders > 0
		}
	}
	if len(lost) > maxAsked {
		clear(lost)
		lost[""] = now
	}
	return asked
}

// missed reports whether changes after an offset are told to nobody that a reader
// of the namespaces would have been told, had they been watched all the time.
func (i *informer) missed(namespaces []string, offset uint64) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	for ns, at := range i.sight.lost {
		of := slices.Contains(namespaces, ns)
		if len(namespaces) == 0 { // What is not seen now is not to be told of either.
			of = i.feeds[""] != nil || i.feeds[ns] != nil
		}
		if offset < at && (of || ns == "") {
			return true
		}
	}
	return false
}
