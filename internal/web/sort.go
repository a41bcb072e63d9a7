package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"glasshouse/internal/watch"
)

// sorted are the objects in the order that sort asks for: a column's name in
// lower case, with "-" before it for the other way round. Without one, or with
// one that is not there, the order is that of namespace and name.
//
// static/src/sort.ts orders by the same rules; testdata/ranks.json holds both
// to them.
func sorted(snapshot *watch.Snapshot, sort string) ([]*watch.Item, error) {
	name, descending := strings.CutPrefix(sort, "-")
	column := slices.IndexFunc(snapshot.Columns, func(c watch.Column) bool { return strings.EqualFold(c.Name, name) })
	objects := snapshot.Objects
	if column < 0 && name != "namespace" {
		return objects, nil
	}
	ranks := make(map[*watch.Item]rank, len(objects))
	order := newRanking()
	for _, o := range objects {
		if column < 0 {
			ranks[o] = rank{number: math.NaN(), text: order.natural(o.Namespace()), known: true}
			continue
		}
		cells, err := cellsOf(o)
		if err != nil {
			return nil, err
		}
		if column < len(cells) {
			ranks[o] = order.rank(cells[column], snapshot.Columns[column].Relative)
		}
	}
	objects = slices.Clone(objects)
	slices.SortStableFunc(objects, func(a, b *watch.Item) int { return compareRanks(ranks[a], ranks[b], descending) })
	return objects, nil
}

// rank is what a cell is ordered by: a number, a text, or nothing known.
type rank struct {
	number float64 // NaN for a text.
	text   string
	known  bool
}

// rules are the forms that a cell's text may have.
type rule struct {
	form  *regexp.Regexp
	value func(match []string) (float64, bool)
}

// ranking is the rules, compiled.
type ranking struct {
	rules  []rule
	digits *regexp.Regexp
	year   *regexp.Regexp // What a timestamp begins with.
	stamp  *regexp.Regexp
}

func newRanking() ranking {
	return ranking{digits: regexp.MustCompile(`\d+`), year: regexp.MustCompile(`^\d{4}-`), stamp: regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`), rules: []rule{
		{regexp.MustCompile(`^(?:\d+[smhdy])+$`), func(m []string) (float64, bool) { return seconds(m[0]), true }},
		{regexp.MustCompile(`^([+-]?\d+(?:\.\d+)?)([numkMGTPE]|[KMGTPE]i)?$`), func(m []string) (float64, bool) {
			n, err := strconv.ParseFloat(m[1], 64)
			return n * unit(m[2]), err == nil
		}},
		{regexp.MustCompile(`^(\d+)/(\d+)$`), func(m []string) (float64, bool) {
			n, err := strconv.ParseFloat(m[1], 64)
			of, errOf := strconv.ParseFloat(m[2], 64)
			if of == 0 {
				return 1, true
			}
			return n / of, err == nil && errOf == nil
		}},
		{regexp.MustCompile(`^(\d+(?:\.\d+)?)(?:%|[\s(])`), func(m []string) (float64, bool) {
			n, err := strconv.ParseFloat(m[1], 64)
			return n, err == nil
		}},
	}}
}

// rank ranks a cell as JSON has it; its numbers are json.Numbers.
func (r ranking) rank(cell any, relative bool) rank {
	switch cell := cell.(type) {
	case nil:
		return rank{}
	case bool:
		return rank{number: float64(boolInt(cell)), known: true}
	case json.Number:
		if n, err := cell.Float64(); err == nil {
			return rank{number: n, known: true}
		}
	}
	text := strings.TrimSpace(textOf(cell))
	switch strings.ToLower(text) {
	case "", "<none>", "<unknown>", "<unset>", "<pending>", "<invalid>", "n/a", "-":
		return rank{}
	}
	if relative && r.year.MatchString(text) {
		at, err := time.Parse(time.RFC3339, r.stamp.FindString(text))
		return rank{number: -float64(at.UnixMilli()), known: err == nil} // The newest is the youngest.
	}
	for _, rule := range r.rules {
		if match := rule.form.FindStringSubmatch(text); match != nil {
			if n, ok := rule.value(match); ok {
				return rank{number: n, known: true}
			}
		}
	}
	return rank{number: math.NaN(), text: r.natural(text), known: true}
}

func seconds(text string) (total float64) {
	units := map[byte]float64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400, 'y': 31536000}
	for start, i := 0, 0; i < len(text); i++ {
		if unit, ok := units[text[i]]; ok {
			n, err := strconv.ParseFloat(text[start:i], 64)
			if err == nil {
				total += n * unit
			}
			start = i + 1
		}
	}
	return total
}

func unit(suffix string) float64 {
	if i := strings.Index("KiMiGiTiPiEi", suffix); len(suffix) == 2 && i >= 0 {
		return math.Pow(1024, float64(i/2+1))
	}
	return map[string]float64{"n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18, "": 1}[suffix]
}

// natural makes text whose order is the one that people expect: node-2 before
// node-10.
func (r ranking) natural(text string) string {
	return r.digits.ReplaceAllStringFunc(strings.ToLower(text), func(digits string) string {
		return fmt.Sprintf("%012s", digits)
	})
}

// compareRanks puts numbers before text and the unknown last, also when the
// order is reversed.
func compareRanks(a, b rank, descending bool) int {
	if !a.known || !b.known {
		return cmp.Compare(boolInt(b.known), boolInt(a.known))
	}
	order := cmp.Compare(a.text, b.text)
	if !math.IsNaN(a.number) || !math.IsNaN(b.number) {
		order = cmp.Compare(boolInt(math.IsNaN(a.number)), boolInt(math.IsNaN(b.number)))
		if order == 0 {
			order = cmp.Compare(a.number, b.number)
		}
	}
	if descending {
		return -order
	}
	return order
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
