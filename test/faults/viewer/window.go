package viewer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
)

// window returns the rows that a window (a part of the sorted list) must contain.
func (v *Viewer) window(all map[string]Row) (map[string]Row, error) {
	subscription, window, columns := v.view.Subscription(), v.view.Window(), v.view.Columns()
	var keys []string
	for key, row := range all {
		if strings.Contains(row.Name, subscription.Q) {
			keys = append(keys, key)
		}
	}
	if want := (livetest.Counts{Total: len(all), Matching: len(keys)}); window.Counts != want {
		return nil, fmt.Errorf("the counts are %+v, want %+v", window.Counts, want)
	}
	name, descending := strings.CutPrefix(subscription.Sort, "-")
	column := slices.IndexFunc(columns, func(c livetest.Column) bool { return strings.ToLower(c.Name) == name })
	if column < 0 {
		return nil, fmt.Errorf("no column has the name %s: %+v", name, columns)
	}
	rank := func(key string) float64 {
		n, _ := strconv.ParseFloat(string(all[key].Cells[column]), 64) // The column contains only numbers.
		if descending {
			return -n
		}
		return n
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b)) })
	from := min(subscription.Offset, len(keys))
	keys = keys[from:min(from+subscription.Count, len(keys))]
	order := make([]string, len(window.Rows))
	for i := range window.Rows {
		order[i] = window.Rows[i].Key()
	}
	if !slices.Equal(order, keys) {
		return nil, fmt.Errorf("the window is %s, want %s", order, keys)
	}
	part := make(map[string]Row, len(keys))
	for _, key := range keys {
		part[key] = all[key]
	}
	return part, nil
}
