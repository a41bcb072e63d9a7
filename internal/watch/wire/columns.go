package wire

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"glasshouse/internal/watch/rawjson"
)

// Column is one column of the API server's table for a resource.
type Column struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Format      string `json:"format"`
	Description string `json:"description,omitempty"`
	Priority    int32  `json:"priority"` // Above 0: kubectl shows it with -o wide only.
	// Relative cells hold RFC 3339 timestamps, in text or alone ("3
	// (2026-11-21T10:00:00Z ago)"), that are shown as the time since then.
	Relative bool `json:"relative,omitempty"`

	text  string   // The whole description: of a CRD's column it may name the path.
	paths []string // Where the timestamp stands, the first that is set.
	shows string   // What it shows lies there or within, as a JSON Pointer; empty where that is not known.
}

// plainColumns are those of objects that a server sent without printing them.
func plainColumns() []Column {
	return markRelative([]Column{{Name: "Name", Type: "string", Format: "name"}, {Name: "Age", Type: "date"}}, "", nil)
}

const creationPath = "metadata.creationTimestamp"

// relativePaths tells where the times stand that the API server prints as
// passed time (kubernetes v1.36, pkg/printers/internalversion/printers.go), by
// resource and column. [] is every element of a list; of several times the one
// that the server printed is taken.
func relativePaths(resource, column string) []string {
	switch resource + " " + column {
	case "pods Restarts":
		return []string{
			"status.containerStatuses.[].lastState.terminated.finishedAt",
			"status.initContainerStatuses.[].lastState.terminated.finishedAt",
		}
	case "events Last Seen", "events.events.k8s.io Last Seen":
		return []string{"series.lastObservedTime", "lastTimestamp", "deprecatedLastTimestamp", "eventTime", "firstTimestamp", "deprecatedFirstTimestamp"}
	case "events First Seen", "events.events.k8s.io First Seen":
		return []string{"firstTimestamp", "deprecatedFirstTimestamp", "eventTime"}
	case "cronjobs.batch Last Schedule":
		return []string{"status.lastScheduleTime"}
	case "jobs.batch Duration":
		return []string{"status.startTime"}
	}
	if column == "Age" {
		return []string{creationPath}
	}
	return nil
}

// markRelative finds the columns whose cells are passed time. dates are the
// paths that a CRD's printer columns of type date name, by column; nil where it is
// not known to be one. What else a CRD calls Age may be anything.
func markRelative(columns []Column, resource string, dates map[string]string) []Column {
	for i := range columns {
		c := &columns[i]
		custom := dates != nil || strings.HasPrefix(c.text, describedAs)
		if path, ok := dates[c.Name]; ok {
			c.paths = []string{path}
		} else if c.Type == "date" || !custom {
			c.paths = relativePaths(resource, c.Name)
		}
		c.Relative = len(c.paths) > 0 || c.Type == "date"
	}
	return columns
}

// Passed is the text of a relative cell as a person reads it at a moment: each
// timestamp becomes the time passed since.
func (c *Column) Passed(cell string, now time.Time) string {
	if !c.Relative {
		return cell
	}
	return stamp.ReplaceAllStringFunc(cell, func(text string) string {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return text
		}
		return duration.HumanDuration(now.Sub(at))
	})
}

// stamp finds what resolve wrote.
var stamp = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// passed finds a duration as duration.HumanDuration prints it, where it is the
// whole cell or stands as "(5m ago)" behind a number.
var passed = regexp.MustCompile(`^(?:(\d+) \()?((?:\d+[ydhms]){1,2})(?: ago\))?$`)

// ahead is what duration.HumanDuration prints of a time that is to come: by the
// API server's clock, or by that of another one.
const ahead = "<invalid>"

// resolve puts a timestamp in the place of the passed time in a cell.
//
// The timestamp is the object's own where one of the paths leads to it.
// Otherwise it is reckoned back from now, as exact as the cell was.
func (c *Column) resolve(cell string, object []byte, created, now time.Time) string {
	m := passed.FindStringSubmatchIndex(cell)
	if m == nil && cell == ahead {
		m = []int{0, len(cell), -1, -1, 0, len(cell)}
	}
	if m == nil {
		return cell // "<unknown>", "<none>", "3": nothing passes.
	}
	printed := cell[m[4]:m[5]]
	if c.Name == "Duration" && lookup(object, "status.completionTime") != nil {
		return cell // It has ended, and passes no more.
	}
	at := created // Nearly always: worth not walking the object for.
	if created.IsZero() || len(c.paths) != 1 || c.paths[0] != creationPath {
		at = c.timestamp(printed, object, now)
	}
	if at.IsZero() && printed == ahead {
		return cell
	}
	if at.IsZero() {
		at = now.Add(-parsePassed(printed)).Truncate(time.Second)
	}
	return cell[:m[4]] + at.UTC().Format(time.RFC3339) + cell[m[5]:]
}

// timestamp is what the paths lead to, zero for nothing.
func (c *Column) timestamp(printed string, object []byte, now time.Time) time.Time {
	var newest time.Time
	for _, path := range c.paths {
		for _, text := range lookup(object, path) {
			at, err := time.Parse(time.RFC3339, text)
			if err != nil || at.IsZero() {
				continue
			}
			if !strings.Contains(path, "[]") || duration.HumanDuration(now.Sub(at)) == printed {
				return at
			}
			if at.After(newest) {
				newest = at
			}
		}
	}
	return newest
}

// parsePassed reads what duration.HumanDuration printed; the unit of days is 24
// hours and that of years 365 days.
func parsePassed(text string) (total time.Duration) {
	units := map[byte]time.Duration{
		's': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'y': 365 * 24 * time.Hour,
	}
	for start, i := 0, 0; i < len(text); i++ {
		if unit, ok := units[text[i]]; ok {
			n, _ := strconv.Atoi(text[start:i]) // Digits, by the pattern.
			total += time.Duration(n) * unit
			start = i + 1
		}
	}
	return total
}

// lookup returns the strings at a dotted path.
func lookup(object []byte, path string) []string {
	return find(rawjson.NewCursor(object), strings.Split(path, "."))
}

func find(c *rawjson.Cursor, path []string) (found []string) {
	if len(path) == 0 {
		if text, err := c.Text(); err == nil && text != "" {
			return []string{text}
		}
		return nil
	}
	visit := func() {
		if kind := c.Peek(); len(path) == 1 && kind == '"' || len(path) > 1 && (kind == '{' || kind == '[') {
			found = append(found, find(c, path[1:])...)
		}
	}
	// The object was walked before: it is well formed.
	switch {
	case path[0] == "[]" && c.Peek() == '[':
		_ = c.Array(func(int) error { visit(); return nil })
	case path[0] != "[]" && c.Peek() == '{':
		_ = c.Object(func(key []byte) error {
			if string(key) == path[0] {
				visit()
			}
			return nil
		})
	}
	return found
}

// SimplePath turns a JSONPath of plain member names (".status.lastRun") into
// the path that a date column is looked up by; others are not simple.
func SimplePath(jsonPath string) (string, bool) {
	path := strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(jsonPath, "{"), "}"), ".")
	names := strings.Split(path, ".")
	simple := !slices.ContainsFunc(names, func(name string) bool {
		return name == "" || strings.ContainsAny(name, `[]()'"*?@\ `)
	})
	return path, simple
}
