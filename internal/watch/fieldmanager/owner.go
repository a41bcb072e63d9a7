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
		owner := Owner{Author: entries[n].Author, Parts: []string{}}
		c := jsonscan.NewCursor(entries[n].fields)
		err := c.Object(func(key []byte) error {
			if part, ok := strings.CutPrefix(string(key), "f:"); ok {
				owner.Parts = append(owner.Parts, part)
			}
			return c.Skip()
		})
		if err != nil {
			continue // Omit an entry whose owned fields are missing or malformed.
		}
		slices.Sort(owner.Parts)
		owners = append(owners, owner)
	}
	slices.SortStableFunc(owners, func(a, b Owner) int {
		if a.Time.IsZero() || b.Time.IsZero() {
			return a.Time.Compare(b.Time)
		}
		return b.Time.Compare(a.Time)
	})
	return owners
}
