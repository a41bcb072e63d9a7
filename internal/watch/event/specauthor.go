package event

import (
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
)

// specAuthor returns the author of the newest change of the specification that an update contains. It returns nil if
// the author is unknown, or if the update contains only other changes or changes by components of Kubernetes.
func specAuthor(c *Change, cache *Cache) (*fieldmanager.Author, error) {
	if cache.IsController == nil {
		return nil, nil //nolint:nilnil // The author is unknown.
	}
	if c.Memo.Folded == nil {
		return ownSpecAuthor(c, cache)
	}
	for _, single := range slices.Backward((*c.Memo.Folded)[:min(MaxFolded, len(*c.Memo.Folded))]) {
		if single.Op != journal.Update {
			continue
		}
		if by, err := ownSpecAuthor(single, cache); by != nil || err != nil {
			return by, err
		}
	}
	return nil, nil //nolint:nilnil // No change has a known author.
}

// ownSpecAuthor is specAuthor for a single change. It reads the managedFields only if the newest entry can be by the
// author, and compares the versions of the object only if the author of the change is not certain.
func ownSpecAuthor(c *Change, cache *Cache) (author *fieldmanager.Author, err error) {
	newest, guess := newestAuthor(c)
	if newest == nil || !guess && (newest.Subresource == "status" || cache.IsController(newest.Manager)) {
		return nil, nil //nolint:nilnil // The change is not by an author who counts.
	}
	managed, err := c.Memo.Managed.JSON()
	if err != nil {
		return nil, err
	}
	by := fieldmanager.NewestSpec(managed, cache.IsController)
	if by == nil || by.Time.Before(newest.Time) {
		return nil, nil //nolint:nilnil // The change is not one of the specification.
	}
	author, err = rowAuthor(c, cache)
	if author == nil || author.Manager != by.Manager || author.Operation != by.Operation ||
		author.Subresource != by.Subresource {
		return nil, err
	}
	return author, nil
}
