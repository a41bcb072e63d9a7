// Package fieldmanager finds the field managers (users and programs) that made a change. It compares the operations of
// a patch with the managedFields of the object, in which the API server records who wrote each field.
//
// If the managedFields are malformed, the result contains no authors.
package fieldmanager

import (
	"cmp"
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// Author is one entry of managedFields, without the list of owned fields. The precision of the field Time is 1 s.
type Author struct {
	Manager     string    `json:"manager"`
	Operation   string    `json:"operation"` // "Apply" or "Update"
	Subresource string    `json:"subresource,omitempty"`
	Time        time.Time `json:"time,omitzero"`
}

// Contribution is an author with the operations of a patch that this author made.
type Contribution struct {
	Author

	Ops []int `json:"ops"` // indices in the patch, ascending
}

// Newest returns the managedFields entry with the newest time, or nil if there are no entries. If several entries have
// the newest time, unambiguous is false.
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
	clone := *newest // A pointer to an entry would keep all entries in memory.
	return &clone, unambiguous
}

// Latest returns the newest time in managedFields, or the zero Time if there is none. Unlike Newest, it allocates no
// strings.
func Latest(managed []byte) (latest time.Time) {
	c := jsonscan.NewCursor(managed)
	_ = c.Array(func(int) error { // Ignore errors: the times before an error are still valid.
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

// Attribute returns the authors of a patch, newest first, each with the operations that this author made. managed
// contains the managedFields of newDocument, the object after the patch. lastWrite is the newest time in the
// managedFields before the patch. Paths are compared literally, so fields that have different paths in another API
// version are not found.
func Attribute(managed, patch, newDocument []byte, lastWrite time.Time) []Contribution {
	entries := read(managed)
	slices.Reverse(entries) // The stable sort then puts the last of the entries with the same time first.
	slices.SortStableFunc(entries, func(a, b entry) int { return b.Time.Compare(a.Time) })
	contributions := make([]Contribution, len(entries))
	for i := range entries {
		contributions[i].Author = entries[i].Author
	}
	document := &node{text: newDocument}
	hasNewTime := len(contributions) > 0 && contributions[0].Time.After(lastWrite)
	var unattributed []int
	for n, op := range operations(patch) {
		// managedFields record no owner of these operations. After the loop, such operations get the newest author.
		isUnowned := op.name == "remove" || isUntracked(op.path)
		var owners []int
		if !isUnowned && (hasNewTime || op.path != "" && op.path != "/metadata") {
			owners = ownersOf(entries, document.steps(op.path), lastWrite)
		}
		for _, i := range owners {
			contributions[i].Ops = append(contributions[i].Ops, n)
		}
		if len(owners) == 0 && (hasNewTime || isUnowned) {
			unattributed = append(unattributed, n)
		}
	}
	// The author with the newest time gets the operations without an owner. If the patch did not update this time (as in
	// the binding of a pod), the author gets them only if the author also owns another operation of the patch.
	if i := fallbackIndex(contributions, lastWrite); i >= 0 {
		contributions[i].Ops = append(contributions[i].Ops, unattributed...)
		slices.Sort(contributions[i].Ops)
	}
	return slices.DeleteFunc(contributions, func(s Contribution) bool { return len(s.Ops) == 0 })
}

func fallbackIndex(contributions []Contribution, lastWrite time.Time) int {
	for i := range contributions {
		if len(contributions[i].Ops) > 0 && contributions[i].Time.Equal(contributions[0].Time) {
			return i
		}
	}
	if len(contributions) > 0 && contributions[0].Time.After(lastWrite) {
		return 0
	}
	return -1
}

// ownersOf returns the indices of the entries that own the value at a path. If no entry owns the value, it returns the
// owners of the nearest parent that has an owner. If entries newer than lastWrite are among the owners, it returns only
// these. The parameter entries is sorted, newest first.
func ownersOf(entries []entry, path []step, lastWrite time.Time) (owners []int) {
	nearest := 0
	for i := range entries {
		hasRecentOwner := len(owners) > 0 && entries[owners[0]].Time.After(lastWrite) &&
			!entries[i].Time.After(lastWrite)
		if hasRecentOwner && nearest == len(path) {
			return owners // The value itself has recent owners, so ignore all older entries.
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

// isUntracked reports whether a field is set by the API server itself, which does not record these fields in
// managedFields.
func isUntracked(path string) bool {
	return path == "/metadata/resourceVersion" || path == "/metadata/generation"
}

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

type operation struct{ name, path string }

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
