package compact

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// extraPart is the index of the extra cells; see part.
const extraPart = 4

// Extra returns the cells of the object's extra columns, which this program computes, as a JSON array. It is empty if
// the object has none. Callers must not change the array.
func Extra(o *Object) []byte { return part(o, extraPart) }

// ExtraCell returns the cell at an index of the extra columns, as JSON. It returns nil if the row has fewer cells.
func ExtraCell(o *Object, at int) (cell []byte) { return cellAt(Extra(o), at) }

// WithExtra returns a copy of the object with other extra cells, or the object itself if it already has these cells.
func WithExtra(o *Object, cells []byte) *Object {
	if bytes.Equal(Extra(o), cells) {
		return o
	}
	_, rest := cut(o, extraPart-1)
	_, after := cut(o, extraPart)
	other := *o
	length := binary.AppendUvarint(nil, uint64(len(cells)))
	other.data = slices.Concat(o.data[:len(o.data)-len(rest)], length, cells, after)
	grown := uint32(len(other.data) - len(o.data)) //nolint:gosec // A negative difference wraps around twice.
	other.cellsEnd += grown
	other.verdictEnd += grown
	return &other
}
