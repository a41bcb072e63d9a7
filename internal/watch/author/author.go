// Package author tells who changed what: it reads an object's managedFields,
// in which the API server keeps who last wrote each field, and names the
// managers to whom the operations of a patch belong.
//
// Everything here is a pure function, safe for any input and any goroutine.
// Malformed managedFields name nobody.
package author

import (
	"cmp"
	"slices"
	"time"

	"glasshouse/internal/watch/rawjson"
)

// Author is an entry of managedFields: who made changes, how, and when last, to
// the second.
type Author struct {
	Manager     string    `json:"manager"`
	Operation   string    `json:"operation"` // "Apply" or "Update"
	Subresource string    `json:"subresource,omitempty"`
	Time        time.Time `json:"time,omitzero"`
}

// A Share is what of a patch belongs to one author.
type Share struct {
	Author

	Ops []int `json:"ops"` // Indices of operations, rising.
}

// Newest is the entry of managedFields with the newest time; of several, the
// last, and then it is not alone. It is nil where there is none.
func Newest(managed []byte) (newest *Author, alone bool) {
	entries := read(managed)
	for i := range entries {
		a := &entries[i].Author
		switch {
		case newest == nil || a.Time.After(newest.Time):
			newest, alone = a, true
		case a.Time.Equal(newest.Time):
			newest, alone = a, false
		}
	}
	if newest == nil {
		return nil, false
	}
	clone := *newest // It would hold all the others.
	return &clone, alone
}

// Latest is the newest time in managedFields, the zero Time where there is none.
// It is Newest for who has thousands to read: it makes no text of them, and
// takes what it can read.
func Latest(managed []byte) (latest time.Time) {
	c := rawjson.NewCursor(managed)
	_ = c.Array(func(int) error { // What is malformed has none.
		return c.Object(func(key []byte) error {
			if string(key) != "time" {
				return nil
			}
			text, err := c.Value()
			if at, bad := time.Parse(`"`+time.RFC3339+`"`, string(text)); bad == nil && at.After(latest) {
				latest = at
			}
			return err
		})
	})
	return latest
}

// Of tells whose the operations of a patch are, newest author first. The patch
// must be one of package diff, and after the document that it leads to: there
// an index in a path is that of the element in after. managed is after's, and
// since the newest time of the managedFields before.
//
// An operation belongs to every manager that owns its path or something below,
// failing that to those that own the nearest value above it as a whole, as an
// atomic list. Who has written since owns it alone: a replaced object may hold
// what others wrote before, and what stayed.
//
// What nobody owns, because it was removed, or because the API server sets it
// with every write, belongs to the entry with the newest time; of several to
// one that owns another of the operations. Where no time is newer than since,
// nobody need have taken one (who only removes fields by an Update does not,
// nor does a deletion, nor a pod's binding): then it must own another, and gets
// only what was removed and what comes with every write. To own something below
// a replaced document or its metadata says nothing then: the version is below too.
//
// Paths are compared as they are written: an entry that was made in another
// version of the API may name a field otherwise, and then does not own it.
func Of(managed, patch, after []byte, since time.Time) []Share {
	entries := read(managed)
	slices.Reverse(entries) // Of several with one time the last comes first.
	slices.SortStableFunc(entries, func(a, b entry) int { return b.Time.Compare(a.Time) })
	shares := make([]Share, len(entries))
	for i := range entries {
		shares[i].Author = entries[i].Author
	}
	document := &node{text: after}
	taken := len(shares) > 0 && shares[0].Time.After(since)
	var rest []int
	for n, op := range operations(patch) {
		left := op.name == "remove" || unowned(op.path)
		var owners []int
		if !left && (taken || op.path != "" && op.path != "/metadata") {
			owners = ownersOf(entries, document.steps(op.path), since)
		}
		for _, i := range owners {
			shares[i].Ops = append(shares[i].Ops, n)
		}
		if len(owners) == 0 && (taken || left) {
			rest = append(rest, n)
		}
	}
	if i := heir(shares, since); i >= 0 {
		shares[i].Ops = append(shares[i].Ops, rest...)
		slices.Sort(shares[i].Ops)
	}
	return slices.DeleteFunc(shares, func(s Share) bool { return len(s.Ops) == 0 })
}

// heir is whose share takes what nobody owns; -1 is nobody's.
func heir(shares []Share, since time.Time) int {
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

// ownersOf returns the entries that come nearest to a path: those that have
// written since, if there are any. Entries, and owners, are newest first.
func ownersOf(entries []entry, path []step, since time.Time) (owners []int) {
	nearest := 0
	for i := range entries {
		stayed := len(owners) > 0 && entries[owners[0]].Time.After(since) && !entries[i].Time.After(since)
		if stayed && nearest == len(path) {
			return owners // Nobody comes nearer; so most entries' fields are never read.
		}
		depth, ok := entries[i].reach(path)
		if !ok || depth < nearest || stayed && depth == nearest {
			continue
		}
		if depth > nearest {
			nearest, owners = depth, nil
		}
		owners = append(owners, i)
	}
	return owners
}

// unowned reports that the API server sets the field with every write, and keeps
// it out of managedFields.
func unowned(path string) bool {
	return path == "/metadata/resourceVersion" || path == "/metadata/generation"
}

// read returns the entries of managedFields, none of malformed ones.
func read(managed []byte) (entries []entry) {
	c := rawjson.NewCursor(managed)
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

func readTime(c *rawjson.Cursor) (time.Time, error) {
	text, err := c.Text()
	if err != nil || text == "" {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339, text)
}

// operation is what is read of an operation of a patch.
type operation struct{ name, path string }

// operations are those of a patch, none of what is no patch.
func operations(patch []byte) (ops []operation) {
	c := rawjson.NewCursor(patch)
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
