// Package cellsort sorts table rows, and splits text filters into words, exactly as the web page does. The server sorts
// long tables, of which it sends only a part to the page. The page itself sorts short tables.
//
// web/static/src/model/sort.ts and rows.ts implement the same rules. internal/web/testdata contains test cases for both
// implementations.
package cellsort

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// A Rank is the sort key of a cell. The zero Rank means an unknown value.
type Rank struct {
	Text string
	bits uint64 // The inverted bits of the cell's number, or 0 if the cell contains no number.
}

func number(n float64) Rank {
	if math.IsNaN(n) {
		return Rank{}
	}
	return Rank{bits: ^math.Float64bits(n)}
}

func (r Rank) number() float64 { return math.Float64frombits(^r.bits) }

// Compare compares two Ranks: numbers are before texts, and unknown values are last. If descending is true, texts are
// before numbers, but unknown values are still last.
func Compare(a, b Rank, descending bool) int {
	none := Rank{}
	switch {
	case a == none && b == none:
		return 0
	case a == none:
		return 1
	case b == none:
		return -1
	}
	var order int
	switch {
	case a.Text == "" && b.Text == "":
		order = cmp.Compare(a.number(), b.number())
	case a.Text == "":
		order = -1
	case b.Text == "":
		order = 1
	default:
		order = CompareText(a.Text, b.Text)
	}
	if descending {
		return -order
	}
	return order
}

// RankNatural returns the Rank of a text in natural order (node-2 before node-10).
func RankNatural(text string) Rank { return Rank{Text: padNumbers(text)} }

// RankCell returns the Rank of a JSON cell. If showsAge is true, the page shows timestamps as ages, so the newest
// timestamp is first in ascending order.
func RankCell(cell []byte, showsAge bool) Rank {
	if len(cell) == 0 {
		return Rank{}
	}
	switch cell[0] {
	case 'n':
		return Rank{}
	case 't':
		return number(1)
	case 'f':
		return number(0)
	case '"':
		text, err := jsonscan.Unquote(cell)
		if err != nil {
			return Rank{}
		}
		return rankText(text, showsAge)
	case '[', '{': // Aggregated APIs can return arrays and objects as cells.
		return rankText(string(cell), showsAge)
	}
	return number(parseFloat(string(cell)))
}

// rankText returns the Rank of a text: a number if the text is a duration, quantity, fraction or number, and otherwise
// the Rank for natural order. If showsAge is true, the Rank of a timestamp is the negative time, so that the newest
// time (the smallest age) is first.
func rankText(text string, showsAge bool) Rank {
	text = strings.TrimFunc(text, isSpace)
	if isUnknown(text) {
		return Rank{}
	}
	if showsAge && len(text) > 4 && digits(text) == 4 && text[4] == '-' {
		if at, ok := findTime(text); ok {
			return number(-float64(at.UnixMilli()))
		}
		return Rank{}
	}
	for _, parse := range []func(string) (float64, bool){elapsed, quantity, fraction, leadingNumber} {
		if n, ok := parse(text); ok {
			return number(n)
		}
	}
	return RankNatural(text)
}

func isUnknown(text string) bool {
	if len(text) > len("<unknown>") {
		return false
	}
	switch Lower(text) {
	case "", "<none>", "<unknown>", "<unset>", "<pending>", "<invalid>", "n/a", "-":
		return true
	}
	return false
}

var timestampPattern = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`)

func findTime(text string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.Parse(time.RFC3339, timestampPattern.FindString(text))
	}
	return at, err == nil
}

// elapsed returns the number of seconds in a duration, such as 86400 for "1d". In printed tables, "5m" means 5 minutes,
// although it would mean 0.005 as a Kubernetes quantity.
func elapsed(text string) (total float64, ok bool) {
	for text != "" {
		n := digits(text)
		if n == 0 || n == len(text) {
			return 0, false
		}
		at := strings.IndexByte("smhdy", text[n])
		if at < 0 {
			return 0, false
		}
		total += parseFloat(text[:n]) * [...]float64{1, 60, 3600, 86400, 31536000}[at]
		text = text[n+1:]
	}
	return total, true
}

func quantity(text string) (float64, bool) {
	sign := 0
	if text != "" && (text[0] == '+' || text[0] == '-') {
		sign = 1
	}
	n := decimal(text[sign:])
	if n == 0 {
		return 0, false
	}
	factor, ok := unit(text[sign+n:])
	return parseFloat(text[:sign+n]) * factor, ok
}

func unit(suffix string) (float64, bool) {
	if i := strings.Index("KiMiGiTiPiEi", suffix); len(suffix) == 2 && i >= 0 && i%2 == 0 {
		return math.Ldexp(1, 5*i+10), true
	}
	switch suffix {
	case "":
		return 1, true
	case "n":
		return 1e-9, true
	case "u":
		return 1e-6, true
	case "m":
		return 1e-3, true
	case "k":
		return 1e3, true
	case "M":
		return 1e6, true
	case "G":
		return 1e9, true
	case "T":
		return 1e12, true
	case "P":
		return 1e15, true
	case "E":
		return 1e18, true
	}
	return 0, false
}

// fraction returns the value of a fraction such as "2/3". If the denominator is 0, the value is 1 (complete).
func fraction(text string) (float64, bool) {
	n := digits(text)
	if n == 0 || n == len(text) || text[n] != '/' || n+1 == len(text) || digits(text[n+1:]) != len(text)-n-1 {
		return 0, false
	}
	denominator := parseFloat(text[n+1:])
	if denominator == 0 {
		return 1, true
	}
	return parseFloat(text[:n]) / denominator, true
}

func leadingNumber(text string) (float64, bool) {
	n := decimal(text)
	if n == 0 || n == len(text) {
		return 0, false
	}
	rest := text[n:]
	return parseFloat(text[:n]), rest[0] == '%' || rest[0] == '(' || strings.IndexFunc(rest, isSpace) == 0
}

func digits(text string) (n int) {
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}

// decimal returns the length of the decimal number at the start of a text, such as 4 for "12.5 GB".
func decimal(text string) int {
	n := digits(text)
	if n == 0 || n == len(text) || text[n] != '.' {
		return n
	}
	if more := digits(text[n+1:]); more > 0 {
		return n + 1 + more
	}
	return n
}

// parseFloat parses a number. A number that is too large for a float64 becomes infinite, as in JavaScript.
func parseFloat(text string) float64 {
	n, _ := strconv.ParseFloat(text, 64)
	return n
}
