package compact

import "slices"

// extraPart is the index of the extra cells; see part.
const extraPart = 4

// Extra returns the cells of the object's extra columns, which this program computes, as a JSON array. It is empty if
// the object has none. Callers must not change the array.
func Extra(o *Object) []byte { return part(o, extraPart) }

// ExtraCell returns the cell at an index of the extra columns, as JSON. It returns nil if the row has fewer cells.
func ExtraCell(o *Object, at int) (cell []byte) { return cellAt(Extra(o), at) }

// WithoutExtra returns a copy of the object without extra cells, or the object itself if it has none.
func WithoutExtra(o *Object) *Object {
	if len(Extra(o)) == 0 {
		return o
	}
	_, rest := cut(o, extraPart-1)
	_, after := cut(o, extraPart)
	other := *o
	other.data = slices.Concat(o.data[:len(o.data)-len(rest)], []byte{0}, after)
	removed := uint32(len(o.data) - len(other.data)) //nolint:gosec // The length is far below 4 GiB.
	other.cellsEnd -= removed
	other.verdictEnd -= removed
	return &other
}
