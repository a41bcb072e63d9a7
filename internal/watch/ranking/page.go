package ranking

import (
	"slices"
	"strconv"
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// rowCounts are numbers of rows. The field matching counts only rows with the words of the query. The other fields
// also count rows without these words.
type rowCounts struct {
	Total, matching int
	bySeverity      [verdict.Failed + 1]int
}

// Page contains the rows of a ranking in one range at one moment. Windows on this range share it.
type Page struct {
	query.Range

	number  uint64
	newest  uint64
	Counts  rowCounts
	Rows    []*Row
	encoded event.WeakLazy[[]byte]

	mu    sync.Mutex
	diffs map[uint64]*event.WeakLazy[Diff] // The differences from earlier pages. The key is an earlier page's number.
}

// Encode returns the page as encoded JSON members, with or without the extra cells. The caller adds members that are
// different for each reader. All readers of a page have the same withExtra.
func (p *Page) Encode(withExtra bool) ([]byte, error) {
	text, _, err := p.encoded.Get(func() (*[]byte, error) {
		text := p.Counts.Append(nil)
		text = strconv.AppendInt(append(text, `,"offset":`...), int64(p.Offset), 10)
		text = strconv.AppendInt(append(text, `,"count":`...), int64(p.Count), 10)
		text = append(text, `,"rows":[`...)
		for n, row := range p.Rows {
			if n > 0 {
				text = append(text, ',')
			}
			text = row.Object.AppendRow(text, withExtra)
		}
		text = append(text, ']')
		return &text, nil
	})
	if err != nil {
		return nil, err
	}
	return *text, nil
}

func (c *rowCounts) Append(dst []byte) []byte {
	failed, degraded := c.bySeverity[verdict.Failed], c.bySeverity[verdict.Degraded]
	for _, member := range []struct {
		name string
		n    int
	}{
		{`,"total":`, c.Total},
		{`,"matching":`, c.matching},
		{`,"failing":`, failed + degraded},
		{`,"waiting":`, c.bySeverity[verdict.Progressing]},
		{`,"degraded":`, degraded},
	} {
		dst = strconv.AppendInt(append(dst, member.name...), int64(member.n), 10)
	}
	return dst
}

// Equal reports whether two pages of the same range have the same rows and counts.
func (p *Page) Equal(other *Page) bool {
	return p == other || p.Counts == other.Counts && slices.Equal(p.Rows, other.Rows)
}

// DiffFrom returns the difference from an earlier page of ranking r to this page. Both pages have the same range.
func (p *Page) DiffFrom(from *Page, r *Ranking, cache *event.Cache) (*Diff, error) {
	p.mu.Lock()
	s := p.diffs[from.number]
	if s == nil {
		s = new(event.WeakLazy[Diff])
		if p.diffs == nil {
			p.diffs = make(map[uint64]*event.WeakLazy[Diff])
		}
		p.diffs[from.number] = s
	}
	p.mu.Unlock()
	diff, _, err := s.Get(func() (*Diff, error) { return newDiff(from, p, r, cache) })
	return diff, err
}
