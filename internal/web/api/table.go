package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

// table is the content of a snapshot response: either rows with the selected columns, or complete objects.
type table struct {
	*watch.Snapshot

	view         string
	hasNamespace bool  // Whether CSV lines include the namespace.
	columns      []int // The selected columns, as indexes of Snapshot.Columns in ascending order.
	// hasUsualCells is true if the selected columns are those that the API server prints, as in a row without cols.
	hasUsualCells bool
	toYAML        func(text []byte) ([]byte, error)
	// expectText reserves memory for the text of an object. It is called with the length of the text, in bytes.
	expectText func(length int)
}

// newTable returns a table. cols contains names of columns in lower case, or only "usual" (the columns of kubectl) or
// "wide" (all columns that the API server prints, as with empty cols). The table always has the name column.
func newTable(snapshot *watch.Snapshot, view string, cols []string) (*table, error) {
	t := &table{Snapshot: snapshot, view: view, hasUsualCells: true}
	if len(cols) > 0 && view == "objects" {
		return nil, request.BadRequest("No such table",
			"The parameter cols selects columns of rows, but the view is objects: omit cols, or use view=rows.")
	}
	preset := "wide"
	if len(cols) == 1 && slices.Contains([]string{"usual", "wide"}, cols[0]) {
		preset, cols = cols[0], nil
	}
	for n, column := range snapshot.Columns {
		name := strings.ToLower(column.Name)
		// As in kubectl, a column with a priority above 0 is shown only in the wide output.
		chosen := (preset == "wide" || column.Priority <= 0) && !column.IsExtra
		if len(cols) > 0 {
			chosen = name == "name" || slices.Contains(cols, name)
		}
		t.hasUsualCells = t.hasUsualCells && chosen != column.IsExtra
		if chosen {
			t.columns = append(t.columns, n)
		}
	}
	t.hasNamespace = snapshot.Resource.Namespaced && (len(cols) == 0 || slices.Contains(cols, "namespace"))
	for _, name := range cols {
		known := slices.ContainsFunc(snapshot.Columns, func(c watch.Column) bool {
			return strings.ToLower(c.Name) == name
		})
		if !known && name != "namespace" && snapshot.Synced {
			return nil, request.BadRequest("No such column", "The table of %s has no column %.40q; its columns are %s.",
				snapshot.Resource.Resource, name, strings.Join(columnNames(snapshot), ", "))
		}
	}
	return t, nil
}

func columnNames(snapshot *watch.Snapshot) []string {
	names := make([]string, len(snapshot.Columns))
	for i := range snapshot.Columns {
		names[i] = strings.ToLower(snapshot.Columns[i].Name)
	}
	return names
}

func (t *table) selectedColumns() []watch.Column {
	columns := make([]watch.Column, len(t.columns))
	for i, n := range t.columns {
		columns[i] = t.Columns[n]
	}
	return columns
}

func (t *table) itemText(o *watch.Item) ([]byte, error) {
	if t.view == "objects" {
		text, err := o.JSON()
		t.expectText(len(text))
		return text, err
	}
	row := o.AppendRow(nil, false)
	if t.hasUsualCells {
		return row, nil
	}
	cells, err := t.Cells(o)
	if err != nil {
		return nil, err
	}
	chosen := make([]json.RawMessage, len(t.columns)) // A cell that the row does not have becomes null.
	for i, n := range t.columns {
		chosen[i] = cells[n]
	}
	text, err := json.Marshal(chosen)
	if err != nil {
		return nil, fmt.Errorf("encode the cells of %s: %w", o.Name(), err)
	}
	// The cells are the last member of the row. Replace them with the selected cells.
	return append(append(row[:len(row)-len(o.Cells())-1], text...), '}'), nil
}
