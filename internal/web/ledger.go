package web

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"glasshouse/internal/watch"
	"glasshouse/web/templates"
)

// statusOf formats the watch status as text. web/static/src/ledger.ts formats it in the same way. Tests check both
// against testdata/ledger.json.
func statusOf(frame templates.Frame, ledger watch.Ledger, now time.Time) templates.Status {
	page := templates.Status{Frame: frame, At: stamp(now), Held: heldWords(ledger)}
	relative := watch.Column{Relative: true}
	passed := func(wire string) templates.Cell {
		return templates.Cell{Text: relative.Passed(wire, now), Wire: wire}
	}
	for i := range ledger.Entries {
		c := &ledger.Entries[i]
		group, resource := path.Split(c.Resource)
		row := templates.Scope{
			Href: "/r/" + c.Resource, Resource: resource, Group: strings.TrimSuffix(group, "/"), Scope: scopeWords(c),
			State: string(c.State), Reason: c.Reason, Status: passed(stateWords(c)),
		}
		for _, wire := range cells(c) {
			row.Cells = append(row.Cells, passed(wire))
		}
		page.Scopes = append(page.Scopes, row)
	}
	return page
}

// none is shown for an unknown value, where a zero would be wrong.
const none = "–"

// cells returns the cells of one row of the status page, without the first columns up to the state. Their order is that
// of templates.StatusPage. If the page shows a value as elapsed time, the cell is a timestamp.
func cells(c *watch.Coverage) []string {
	listed := c.State == watch.Live || c.State == watch.Stale
	objects, lastEvent, relists, drops, resets, blind := none, none, none, none, none, none
	if listed {
		objects = templates.Digits(c.Objects)
	}
	if !c.LastEvent.IsZero() {
		lastEvent = stamp(c.LastEvent) + " ago"
	}
	if c.Lists > 0 { // Before the first list there are no counts.
		relists, drops, resets = templates.Digits(c.Lists-1), templates.Digits(c.Drops), templates.Digits(c.Resets)
		blind = blindWords(c)
	}
	cache := none
	if c.CacheBytes > 0 || listed && c.Objects == 0 {
		cache = sizeWords(c.CacheBytes)
	}
	return []string{objects, templates.Digits(c.Readers), cache, ringWords(c), lastEvent, relists, drops, resets, blind}
}

func scopeWords(c *watch.Coverage) string {
	words := cmp.Or(strings.Join(c.Namespaces, ", "), "all")
	if c.Metadata {
		words += ", metadata only"
	}
	if c.Shared {
		words += ", masked for guests"
	}
	if c.Fields != "" {
		words += " where " + c.Fields
	}
	return words
}

func stateWords(c *watch.Coverage) string {
	words := map[watch.State]string{
		watch.Syncing: "Loading", watch.Live: "Live", watch.Stale: "Stale",
		watch.Forbidden: "Forbidden", watch.Absent: "Not available", watch.Failed: "Failed",
	}[c.State]
	if !c.Since.IsZero() {
		words += " for " + stamp(c.Since)
	}
	if c.Count != nil {
		words += ", " + templates.Digits(*c.Count) + " so far"
	}
	return words
}

func ringWords(c *watch.Coverage) string {
	if c.RingBytes == 0 {
		return "none"
	}
	words := sizeWords(c.RingBytes)
	if !c.RingSince.IsZero() {
		words += " over " + stamp(c.RingSince)
	}
	return words
}

func blindWords(c *watch.Coverage) string {
	if c.Blind == 0 {
		return "never"
	}
	words := templates.Digits(c.Blind) + " times, "
	if c.Blind == 1 {
		words = "1 time, "
	}
	words += secondsWords(c.BlindFor)
	if !c.BlindSince.IsZero() {
		words += ", ongoing for " + stamp(c.BlindSince)
	}
	return words
}

func heldWords(l watch.Ledger) string {
	words := "memory not measured"
	if l.Held > 0 || len(l.Entries) == 0 {
		words = sizeWords(l.Held) + " cached"
	}
	if l.Limit > 0 {
		return words + ", limit " + sizeWords(l.Limit)
	}
	return words + ", no limit"
}

// sizeWords formats a number of bytes in the largest unit that fits, with one decimal if the result is below 10.
func sizeWords(bytes int64) string {
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

// secondsWords formats a duration that does not grow any more.
func secondsWords(seconds float64) string {
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

// stamp formats a time for pages, to the second.
func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }
