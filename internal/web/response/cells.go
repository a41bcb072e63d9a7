package response

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch"
)

// CellTexts returns the cells of a row as plain text.
func CellTexts(o *watch.Item) ([]string, error) {
	cells, err := decodeCells(o)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(cells))
	for i, cell := range cells {
		out[i] = cellText(cell)
	}
	return out, nil
}

func decodeCells(o *watch.Item) (cells []any, err error) {
	decoder := json.NewDecoder(strings.NewReader(string(o.Cells())))
	decoder.UseNumber()
	if err := decoder.Decode(&cells); err != nil {
		return nil, fmt.Errorf("decode the cells of %s: %w", o.Name(), err)
	}
	return cells, nil
}

func cellText(cell any) string {
	switch cell := cell.(type) {
	case nil:
		return ""
	case string:
		return cell
	case json.Number, bool:
		return fmt.Sprint(cell)
	}
	text, err := json.Marshal(cell)
	if err != nil {
		return "" // Cannot happen: the value was decoded from JSON.
	}
	return string(text)
}
