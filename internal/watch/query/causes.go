package query

import (
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Shown returns an object with only the texts that the viewer may see. If the viewer may not read the cause of an
// inherited verdict, Shown replaces the verdict's texts with those of the object's own verdict. The object keeps its
// extra cells, which must not be encoded if HidesExtra is true.
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

// IsHidden reports whether only the cause of a verdict has changed, and the viewer may not read this cause.
func (f *Filter) IsHidden(c *event.Change) bool {
	if !f.HidesCauses || c.Op != journal.Update || !c.Old.Verdict().IsInherited() && !c.New.Verdict().IsInherited() {
		return false
	}
	before, after := f.Shown(c.Old), f.Shown(c.New)
	return before.ResourceVersion() == after.ResourceVersion() && before.SameText(after) &&
		before.SameCells(after) && before.Verdict().Same(after.Verdict())
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
