package event

import (
	"cmp"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
)

// Fold merges all changes of the same object into one change. The merged change has the managedFields of the newest
// change of the object.
func Fold(changes []*Change) []*Change {
	folded := journal.Fold(changes, (*compact.Object).SameUID)
	var merged map[string]*Folding
	for _, c := range folded {
		at, _ := slices.BinarySearchFunc(changes, c.Offset, func(c *Change, offset uint64) int {
			return cmp.Compare(c.Offset, offset)
		})
		newest := changes[at]
		if c == newest {
			continue
		}
		c.Memo.Managed = newest.Memo.Managed
		if c.Op == journal.Update {
			if merged == nil {
				merged = make(map[string]*Folding)
			}
			c.Memo.Folded = new(Folding)
			merged[c.Key] = c.Memo.Folded
		}
	}
	if merged == nil {
		return folded
	}
	for _, c := range changes {
		if list := merged[c.Key]; list != nil && len(*list) <= MaxFolded {
			*list = append(*list, c)
		}
	}
	return folded
}
