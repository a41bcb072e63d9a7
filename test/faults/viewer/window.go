package viewer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// counts contains the number of all rows (Total), and the number of rows whose names contain the text that the client
// searches for (Matching).
type counts struct{ Total, Matching int }

func keys(rows []Row) (keys []string) {
	for _, row := range rows {
		keys = append(keys, row.Key())
	}
	return keys
}

// applyWindowEvent applies an event of a window (a part of a sorted list) to v.order. It also changes e into the
// equivalent event of an unsorted list of rows. If the position in e is invalid, it records a fault and returns
// false.
func (v *Viewer) applyWindowEvent(e *event) bool {
	if e.At < 0 || e.At > len(v.order) || e.At == len(v.order) && e.Op != "insert" {
		v.fault("%s at %d of %d", e.Op, e.At, len(v.order))
		return false
	}
	if e.Op == "insert" {
		v.order = slices.Insert(v.order, e.At, e.Row.Key())
		e.Op = "add"
		return true
	}
	row := v.rows[v.order[e.At]]
	e.NS, e.Name = row.NS, row.Name
	if e.Op == "remove" {
		v.order = slices.Delete(v.order, e.At, e.At+1)
		e.Op, e.UID = "delete", row.UID
	}
	return true
}

// window returns the rows that the Viewer's window (a part of the sorted list) must contain. The parameter all
// contains all rows of the list. If the counts or the order that the server sent are wrong, window returns an error.
func (v *Viewer) window(all map[string]Row) (map[string]Row, error) {
	var keys []string
	for key, row := range all {
		if strings.Contains(row.Name, v.want.Q) {
			keys = append(keys, key)
		}
	}
	if want := (counts{len(all), len(keys)}); v.counts != want {
		return nil, fmt.Errorf("the counts are %+v, want %+v", v.counts, want)
	}
	name, descending := strings.CutPrefix(v.want.Sort, "-")
	column := slices.IndexFunc(v.columns, func(c Column) bool { return strings.ToLower(c.Name) == name })
	if column < 0 {
		return nil, fmt.Errorf("no column is %s: %+v", name, v.columns)
	}
	rank := func(key string) float64 {
		n, _ := strconv.ParseFloat(string(all[key].Cells[column]), 64) // The column contains only numbers.
		if descending {
			return -n
		}
		return n
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b)) })
	from := min(v.want.Offset, len(keys))
	keys = keys[from:min(from+v.want.Count, len(keys))]
	if !slices.Equal(v.order, keys) {
		return nil, fmt.Errorf("the window is %s, want %s", v.order, keys)
	}
	part := make(map[string]Row, len(keys))
	for _, key := range keys {
		part[key] = all[key]
	}
	return part, nil
}
