package compact

// extraPart is the index of the extra cells; see part.
const extraPart = 4

// Extra returns the cells of the object's extra columns, which this program computes, as a JSON array. It is empty if
// the object has none. Callers must not change the array.
func Extra(o *Object) []byte { return part(o, extraPart) }

// ExtraCell returns the cell at an index of the extra columns, as JSON. It returns nil if the row has fewer cells.
func ExtraCell(o *Object, at int) (cell []byte) { return cellAt(Extra(o), at) }
