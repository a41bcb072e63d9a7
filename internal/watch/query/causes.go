package query

import (
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Shown returns an object with only the texts that the viewer may see. If the viewer may not read the cause of an
// inherited verdict, Shown replaces the verdict's texts with those of the object's own verdict. For guests, it removes
// the cells of the extra columns.
func (f *Filter) Shown(o *compact.Object) *compact.Object {
	if o != nil && f.HidesExtra {
		o = compact.WithoutExtra(o)
	}
	if !f.HidesCauses || o == nil || !o.Verdict().IsInherited() {
		return o
	}
	v := o.Verdict().Unpack()
	if v.Sources.Within(f.permitsSource) {
		return o
	}
	return o.WithVerdict(o.Verdict().Public())
}

// ShownColumns returns the columns that the viewer may see: guests do not see the extra columns.
func (f *Filter) ShownColumns(columns []printer.Column) []printer.Column {
	if f.HidesExtra {
		return printer.Printed(columns)
	}
	return columns
}

func (f *Filter) permitsSource(resource, namespace string) bool {
	for _, line := range []string{resource, string(verdict.Source(resource, namespace))} {
		if _, ok := slices.BinarySearch(f.CauseSources, line); ok {
			return true
		}
	}
	return false
}
