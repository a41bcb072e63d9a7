package response

import (
	"bytes"
	"encoding/json"

	"github.com/glasshouse-project/glasshouse/internal/watch"
)

// CellTexts returns the cells of a row of a snapshot as plain text, one for each column. A missing cell is empty.
func CellTexts(o *watch.Item, snapshot *watch.Snapshot) ([]string, error) {
	cells, err := snapshot.Cells(o)
	if err != nil {
		return nil, err //nolint:wrapcheck // It names the object.
	}
	out := make([]string, len(cells))
	for i, cell := range cells {
		out[i] = cellText(cell)
	}
	return out, nil
}

// cellText returns the text of a string, and the JSON text of other values, without white space.
func cellText(cell json.RawMessage) string {
	var text string
	if len(cell) == 0 || json.Unmarshal(cell, &text) == nil { // null leaves the text empty.
		return text
	}
	var compact bytes.Buffer
	if json.Compact(&compact, cell) != nil {
		return "" // Cannot happen: the cell was decoded from JSON.
	}
	return compact.String()
}
