package query

import (
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Shown returns an object with only the texts that the viewer may see. If the viewer may not read the cause of an
// inherited verdict, Shown replaces the verdict's texts with those of the object's own verdict.
func (f *Filter) Shown(o *compact.Object) *compact.Object {
	if !f.HidesCauses || o == nil || !o.Verdict().IsInherited() {
		return o
	}
	v := o.Verdict().Unpack()
	if v.Sources.Within(f.permitsSource) {
		return o
	}
	return o.WithVerdict(o.Verdict().Public())
}

func (f *Filter) permitsSource(resource, namespace string) bool {
	for _, line := range []string{resource, string(verdict.Source(resource, namespace))} {
		if _, ok := slices.BinarySearch(f.CauseSources, line); ok {
			return true
		}
	}
	return false
}
