// Package fieldmanager attributes changes to field managers. The API server records the last writer of each field in an
// object's managedFields. From these, the package finds the managers that made the operations of a patch.
//
// All functions are pure. They are safe for any input and for concurrent use. Malformed managedFields have no authors.
package fieldmanager

import (
	"cmp"
	"slices"
	"time"

	"glasshouse/internal/watch/jsonscan"
)

// Author is one entry of managedFields: a manager, the operation by which it wrote, and the time of its last write, to
// the second.
type Author struct {
	Manager     string    `json:"manager"`
	Operation   string    `json:"operation"` // "Apply" or "Update"
	Subresource string    `json:"subresource,omitempty"`
	Time        time.Time `json:"time,omitzero"`
}

// Share is the set of those operations of a patch that one author made.
type Share struct {
	Author

	Ops []int `json:"ops"` // Indices of operations in the patch, ascending.
}

// Newest returns the entry of managedFields with the newest time, and unambiguous is true. If several entries have this
// time, it returns the last of them, and unambiguous is false. It returns nil if there are no entries.
func Newest(managed []byte) (newest *Author, unambiguous bool) {
	entries := read(managed)
	for i := range entries {
		a := &entries[i].Author
		switch {
		case newest == nil || a.Time.After(newest.Time):
			newest, unambiguous = a, true
		case a.Time.Equal(newest.Time):
			newest, unambiguous = a, false
		}
	}
	if newest == nil {
		return nil, false
	}
	clone := *newest // A pointer into entries would keep all of them in memory.
	return &clone, unambiguous
}

// Latest returns the newest time in managedFields, or the zero Time if there is none. It is cheaper than Newest, for
// callers with thousands of objects: it creates no strings. It reads as much as it can of malformed managedFields.
func Latest(managed []byte) (latest time.Time) {
	c := jsonscan.NewCursor(managed)
	_ = c.Array(func(int) error { // Malformed managedFields contain no further times.
		return c.Object(func(key []byte) error {
			if string(key) != "time" {
				return nil
			}
			text, err := c.Value()
			if at, timeErr := time.Parse(`"`+time.RFC3339+`"`, string(text)); timeErr == nil && at.After(latest) {
				latest = at
			}
			return err
		})
	})
	return latest
}

// Attribute attributes the operations of a patch to authors, and returns the authors from the newest to the oldest. The
// patch must be from package diff. after must be the document that results from the patch, because an index in a path
// refers to an element of after. managed is the managedFields of after. since is the newest time in the managedFields
// before the change.
//
// An operation belongs to every manager that owns its path or a value inside that path. If there is none, it belongs to
// the managers that own the nearest parent as a whole, such as an atomic list. If some of these managers wrote after
// since, it belongs only to them, because a replaced object may contain older values of other managers.
//
// Some operations have no owner, because they remove a value, or because the API server sets the field with every
// write. These belong to the entry with the newest time. If several entries have this time, they belong to one that
// owns another operation of the patch.
//
// If no time is newer than since, possibly no manager set a time for this change. Examples are an Update that only
// removes fields, a deletion, and the binding of a pod. In this case, the newest entry gets operations without an owner
// only if it owns another operation of the patch. It gets only removed values and the fields that change with every
// write. Ownership of a value inside a replaced document, or inside its replaced metadata, does not count, because the
// resourceVersion is inside them too.
//
// Paths are compared literally. An entry that was made in another version of the API may use another name for a field,
// and then does not own it.
func Attribute(managed, patch, after []byte, since time.Time) []Share {
	entries := read(managed)
	slices.Reverse(entries) // Among entries with the same time, the last one is first.
	slices.SortStableFunc(entries, func(a, b entry) int { return b.Time.Compare(a.Time) })
	shares := make([]Share, len(entries))
	for i := range entries {
		shares[i].Author = entries[i].Author
	}
	document := &node{text: after}
	hasNewTime := len(shares) > 0 && shares[0].Time.After(since)
	var unattributed []int
	for n, op := range operations(patch) {
		isUnowned := op.name == "remove" || isUntracked(op.path)
		var owners []int
		if !isUnowned && (hasNewTime || op.path != "" && op.path != "/metadata") {
			owners = ownersOf(entries, document.steps(op.path), since)
		}
		for _, i := range owners {
			shares[i].Ops = append(shares[i].Ops, n)
		}
		if len(owners) == 0 && (hasNewTime || isUnowned) {
			unattributed = append(unattributed, n)
		}
	}
	if i := fallbackIndex(shares, since); i >= 0 {
		shares[i].Ops = append(shares[i].Ops, unattributed...)
		slices.Sort(shares[i].Ops)
	}
	return slices.DeleteFunc(shares, func(s Share) bool { return len(s.Ops) == 0 })
}

// fallbackIndex returns the index of the share that gets the operations without an owner, or -1 if no share gets them.
func fallbackIndex(shares []Share, since time.Time) int {
	for i := range shares {
		if len(shares[i].Ops) > 0 && shares[i].Time.Equal(shares[0].Time) {
			return i
		}
	}
	if len(shares) > 0 && shares[0].Time.After(since) {
		return 0
	}
	return -1
}

// ownersOf returns the indices of the entries that own the path, or the nearest parent of it. If some of these entries
// were written after since, it returns only those. The entries and the result are sorted by time, newest first.
func ownersOf(entries []entry, path []step, since time.Time) (owners []int) {
	nearest := 0
	for i := range entries {
		hasRecentOwner := len(owners) > 0 && entries[owners[0]].Time.After(since) && !entries[i].Time.After(since)
		if hasRecentOwner && nearest == len(path) {
			return owners // No older entry is nearer. This return avoids parsing most fields.
		}
		depth, ok := entries[i].ownedDepth(path)
		if !ok || depth < nearest || hasRecentOwner && depth == nearest {
			continue
		}
		if depth > nearest {
			nearest, owners = depth, nil
		}
		owners = append(owners, i)
	}
	return owners
}

// isUntracked reports whether a path is a field that the API server sets with every write, and does not record in
// managedFields.
func isUntracked(path string) bool {
	return path == "/metadata/resourceVersion" || path == "/metadata/generation"
}

// read returns the entries of managedFields, or none if they are malformed.
func read(managed []byte) (entries []entry) {
	c := jsonscan.NewCursor(managed)
	err := c.Array(func(int) error {
		var e entry
		err := c.Object(func(key []byte) (err error) {
			switch string(key) {
			case "manager":
				e.Manager, err = c.Text()
			case "operation":
				e.Operation, err = c.Text()
			case "subresource":
				e.Subresource, err = c.Text()
			case "time":
				e.Time, err = readTime(c)
			case "fieldsV1":
				e.fields, err = c.Value()
			}
			return err
		})
		entries = append(entries, e)
		return err
	})
	if cmp.Or(err, c.End()) != nil {
		return nil
	}
	return entries
}

func readTime(c *jsonscan.Cursor) (time.Time, error) {
	text, err := c.Text()
	if err != nil || text == "" {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339, text)
}

// operation contains those parts of a patch operation that this package needs.
type operation struct{ name, path string }

// operations returns the operations of a patch, or none if the text is not a patch.
func operations(patch []byte) (ops []operation) {
	c := jsonscan.NewCursor(patch)
	err := c.Array(func(int) error {
		var op operation
		err := c.Object(func(key []byte) (err error) {
			switch string(key) {
			case "op":
				op.name, err = c.Text()
			case "path":
				op.path, err = c.Text()
			}
			return err
		})
		ops = append(ops, op)
		return err
	})
	if err != nil {
		return nil
	}
	return ops
}
