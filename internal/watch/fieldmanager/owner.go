package fieldmanager

import (
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// Owner is an author with the parts of an object in which the author owns fields, such as "metadata", "spec" and
// "status".
type Owner struct {
	Author

	Parts []string `json:"parts"` // Sorted members of the object.
}

// Owners returns the authors in managedFields with the parts that they own, the newest first. The field Time is the
// time of the author's last write to any of these parts. Authors without a time precede all others, because they can be
// the newest.
func Owners(managed []byte) []Owner {
	entries := read(managed)
	owners := make([]Owner, 0, len(entries))
	for n := range entries {
		if parts, err := entries[n].parts(); err == nil { // Omit an entry whose owned fields are missing or malformed.
			owners = append(owners, Owner{Author: entries[n].Author, Parts: parts})
		}
	}
	slices.SortStableFunc(owners, func(a, b Owner) int {
		if a.Time.IsZero() || b.Time.IsZero() {
			return a.Time.Compare(b.Time)
		}
		return b.Time.Compare(a.Time)
	})
	return owners
}

// parts returns the sorted members of an object in which an entry owns fields.
func (e *entry) parts() (parts []string, err error) {
	parts = []string{}
	c := jsonscan.NewCursor(e.fields)
	err = c.Object(func(key []byte) error {
		if part, ok := strings.CutPrefix(string(key), "f:"); ok {
			parts = append(parts, part)
		}
		return c.Skip()
	})
	slices.Sort(parts)
	return parts, err
}

// specParts returns the parts of an object that count as its specification: all except its metadata and its status.
// Examples are the spec of a Deployment, the data of a ConfigMap, and the rules of a Role.
func (e *entry) specParts() []string {
	parts, err := e.parts()
	if err != nil || e.Subresource == "status" {
		return nil
	}
	return slices.DeleteFunc(parts, func(part string) bool { return part == "metadata" || part == "status" })
}

// NewestSpec returns the author of the newest change of an object's specification, with the parts of the specification
// that this author owns. It returns nil if the author is unknown. If any entry has no time, the author is unknown,
// because this entry can be the newest. The subresource scale changes the specification, but the subresource status
// does not. Field managers for which ignore returns true do not count.
func NewestSpec(managed []byte, ignore func(manager string) bool) (newest *Owner) {
	entries := read(managed)
	for i := range entries {
		e := &entries[i]
		parts := e.specParts()
		switch {
		case len(parts) == 0 || ignore(e.Manager):
		case e.Time.IsZero():
			return nil
		case newest == nil || !e.Time.Before(newest.Time):
			newest = &Owner{e.Author, parts}
		}
	}
	return newest
}
