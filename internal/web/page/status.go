package page

import (
	"cmp"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
	"github.com/glasshouse-project/glasshouse/web/templates"
)

// Status renders the page with the watch status: all watched resources and their states.
func (s *Site) Status(w http.ResponseWriter, r *http.Request) error {
	layout := s.layout(r, "Watch status", "")
	layout.Assets.PageStyle = s.Assets.URL("status.css")
	page := formatStatus(layout, s.Reader.Access(r).WatchStatus(r.Context()), time.Now())
	return response.HTML(w, r, http.StatusOK, templates.StatusPage(page))
}

// formatStatus formats the watch status for its page. The texts must match those of
// web/static/src/status/watch-status.ts. Tests check both against testdata/watchstatus.json.
func formatStatus(layout templates.Layout, status watch.WatchStatus, now time.Time) templates.Status {
	page := templates.Status{Layout: layout, At: formatTime(now), Memory: memoryText(status)}
	relative := watch.Column{Relative: true}
	relativeCell := func(wire string) templates.Cell {
		return templates.Cell{Text: relative.ElapsedText(wire, now), Wire: wire}
	}
	for i := range status.Entries {
		c := &status.Entries[i]
		group, resource := path.Split(c.Resource)
		row := templates.Scope{
			Href: "/r/" + c.Resource, Resource: templates.Plural(c.Kind, resource), Group: strings.TrimSuffix(group, "/"),
			Scope: scopeText(c), State: string(c.State), Reason: c.Reason, Status: relativeCell(stateText(c)),
		}
		for _, wire := range statusCells(c) {
			row.Cells = append(row.Cells, relativeCell(wire))
		}
		page.Scopes = append(page.Scopes, row)
	}
	return page
}

// unknownCell is the text of a cell whose value is unknown. A zero would be wrong there.
const unknownCell = "–"

// statusCells returns the cells after the state column in one row of the status page. In place of an age, a cell
// contains a point in time, such as "2026-11-21T10:04:56Z ago". The function relativeCell then computes the age.
func statusCells(c *watch.WatchStatusEntry) []string {
	listed := c.State == status.Live || c.State == status.Stale
	objects, lastEvent, relists := unknownCell, unknownCell, unknownCell
	drops, resets, interruptions := unknownCell, unknownCell, unknownCell
	if listed {
		objects = templates.Digits(c.Objects)
	}
	if !c.LastEvent.IsZero() {
		lastEvent = formatTime(c.LastEvent) + " ago"
	}
	// The numbers of relists, drops, resets and interruptions are unknown before the first list.
	if c.Lists > 0 {
		relists, drops, resets = templates.Digits(c.Lists-1), templates.Digits(c.Drops), templates.Digits(c.Resets)
		interruptions = interruptionText(c)
	}
	cache := unknownCell
	if c.CacheBytes > 0 || listed && c.Objects == 0 {
		cache = sizeText(c.CacheBytes)
	}
	return []string{
		objects,
		templates.Digits(c.Readers),
		cache,
		historyText(c),
		lastEvent,
		relists,
		drops,
		resets,
		interruptions,
	}
}

func scopeText(c *watch.WatchStatusEntry) string {
	text := cmp.Or(strings.Join(c.Namespaces, ", "), "all")
	if c.Metadata {
		text += ", metadata only"
	}
	if c.Shared {
		text += ", masked for guests"
	}
	if c.Fields != "" {
		text += " where " + c.Fields
	}
	return text
}

func stateText(c *watch.WatchStatusEntry) string {
	text := stateWord(c.State)
	if !c.Since.IsZero() {
		text += " for " + formatTime(c.Since)
	}
	if c.Count != nil {
		text += ", " + templates.Digits(*c.Count) + " so far"
	}
	return text
}

func stateWord(state status.State) string {
	return map[status.State]string{
		status.Syncing: "Loading", status.Live: "Live", status.Stale: "Stale",
		status.Forbidden: "Forbidden", status.Absent: "Not available", status.Failed: "Failed",
	}[state]
}

func historyText(c *watch.WatchStatusEntry) string {
	if c.RingBytes == 0 {
		return "none"
	}
	text := sizeText(c.RingBytes)
	if !c.RingSince.IsZero() {
		text += " over " + formatTime(c.RingSince)
	}
	return text
}

func interruptionText(c *watch.WatchStatusEntry) string {
	if c.Interruptions == 0 {
		return "none"
	}
	text := templates.Digits(c.Interruptions) + " times, "
	if c.Interruptions == 1 {
		text = "1 time, "
	}
	text += durationText(c.InterruptedSeconds)
	if !c.InterruptedSince.IsZero() {
		text += ", ongoing for " + formatTime(c.InterruptedSince)
	}
	return text
}

func memoryText(l watch.WatchStatus) string {
	text := "memory not measured"
	if l.UsedBytes > 0 || len(l.Entries) == 0 {
		text = sizeText(l.UsedBytes) + " cached"
	}
	if l.Limit > 0 {
		return text + ", limit " + sizeText(l.Limit)
	}
	return text + ", no limit"
}

// sizeText formats a number of bytes, such as "512 B", "1.5 KiB" or "12 MiB". bytesText in
// web/static/src/text/bytes.ts returns the same text.
func sizeText(bytes int64) string {
	units := []string{"KiB", "MiB", "GiB", "TiB"}
	if bytes < 1<<10 {
		return strconv.FormatInt(bytes, 10) + " B"
	}
	unit := int64(1 << 10)
	for len(units) > 1 && bytes >= unit<<10 {
		unit <<= 10
		units = units[1:]
	}
	if tenths := (bytes*10 + unit/2) / unit; tenths < 100 {
		return fmt.Sprintf("%d.%d %s", tenths/10, tenths%10, units[0])
	}
	return templates.Digits(int((bytes+unit/2)/unit)) + " " + units[0]
}

// durationText formats a number of seconds, such as "2.5 s". Unlike an age, this text does not change as time passes.
func durationText(seconds float64) string {
	tenths := int64(seconds * 10)
	switch {
	case tenths < 100:
		return fmt.Sprintf("%d.%d s", tenths/10, tenths%10)
	case tenths < 1200:
		return fmt.Sprintf("%d s", tenths/10)
	case tenths < 72_000:
		return fmt.Sprintf("%d min", tenths/600)
	}
	return templates.Digits(int(tenths/36_000)) + " h"
}

func formatTime(at time.Time) string { return at.UTC().Format(time.RFC3339) }
