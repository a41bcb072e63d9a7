// Package printer describes the columns that the API server or a CustomResourceDefinition prints for a resource. It
// knows what the columns show, which cells are times, and which cells can show a masked value.
package printer

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// Column is one column of the Table that the API server prints for a resource, or an extra column.
type Column struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Format      string `json:"format"`
	Description string `json:"description,omitempty"`
	Priority    int32  `json:"priority"` // kubectl get shows columns with a priority above 0 only with -o wide.
	// Relative means that cells contain a timestamp, which is displayed as elapsed time, as in
	// "3 (2026-11-21T10:00:00Z ago)".
	Relative bool `json:"relative,omitempty"`
	// IsExtra means that this program computes the cells. The extra columns are after those that the API server prints.
	IsExtra bool `json:"-"`

	fullDescription string   // Description before shortening. In a CRD, it can contain the JSONPath.
	paths           []string // Paths to the timestamp in the object, the preferred path first.
	shownPath       string   // JSON Pointer to the displayed value or a parent of it; empty if unknown.
}

// CRDColumns describes the columns in the CustomResourceDefinition of a resource, by column name. Its maps are
// nil if the resource has no CustomResourceDefinition, or if the program is not permitted to read it.
type CRDColumns struct {
	// Dates contains a path (see SimplePath) for each column of type date, by the column's name. The path leads to the
	// time that the column shows. In the cells, the API server sends an age ("33h"), which becomes outdated. If a
	// column has no path, the program computes the time from the age.
	Dates map[string]string
	// Paths contains the JSONPaths of all columns. The paths show which cells can contain a masked value, so that these
	// cells are masked, too.
	Paths map[string]string
}

// Parse parses the column definitions of a Table. resource is the plural name with the group, as in "cronjobs.batch".
// crd describes the columns of a custom resource.
func Parse(definitions []byte, resource string, crd CRDColumns) ([]Column, error) {
	var columns []Column
	if err := json.Unmarshal(definitions, &columns); err != nil {
		return nil, fmt.Errorf("decode the column definitions: %w", err)
	}
	for i := range columns {
		columns[i].fullDescription = columns[i].Description
		// The description is from the API documentation. Only its first sentence is kept, because it is enough for a
		// column.
		columns[i].Description, _, _ = strings.Cut(columns[i].Description, ". ")
	}
	return markPaths(markRelative(columns, resource, crd.Dates), crd.Paths), nil
}

// Same reports whether cells for the columns a are also valid for the columns b.
func Same(a, b []Column) bool {
	return slices.EqualFunc(a, b, func(a, b Column) bool {
		return a.Name == b.Name && a.Type == b.Type && a.Format == b.Format && a.Priority == b.Priority &&
			a.IsExtra == b.IsExtra &&
			a.fullDescription == b.fullDescription && a.shownPath == b.shownPath && slices.Equal(a.paths, b.paths)
	})
}

// Plain returns the columns for objects from a server that prints no Tables: Name and Age.
func Plain() []Column {
	return markRelative([]Column{{Name: "Name", Type: "string", Format: "name"}, {Name: "Age", Type: "date"}}, "", nil)
}

// WithLastChange returns the columns with the extra column "Last change" at the end. If the API server already prints a
// column of this name, it returns the columns unchanged.
func WithLastChange(columns []Column) []Column {
	last := Column{
		Name: "Last change", Type: "string", Priority: 1, Relative: true, IsExtra: true,
		Description: "The newest change of the specification by a person or a deployment tool.",
	}
	if slices.ContainsFunc(columns, func(c Column) bool { return strings.EqualFold(c.Name, last.Name) }) {
		return columns
	}
	return append(slices.Clip(columns), last)
}

// Printed returns the columns that the API server prints, without the extra columns.
func Printed(columns []Column) []Column {
	if at := slices.IndexFunc(columns, func(c Column) bool { return c.IsExtra }); at >= 0 {
		return columns[:at]
	}
	return columns
}

const creationPath = "metadata.creationTimestamp"

// relativePaths returns the paths to a column's timestamps, with the preferred path first. In a path, [] means each
// element of a list. Source: kubernetes v1.36, pkg/printers/internalversion/printers.go.
func relativePaths(resource, column string) []string {
	switch resource + " " + column {
	case "pods Restarts":
		return []string{
			"status.containerStatuses.[].lastState.terminated.finishedAt",
			"status.initContainerStatuses.[].lastState.terminated.finishedAt",
		}
	case "events Last Seen", "events.events.k8s.io Last Seen":
		return []string{
			"series.lastObservedTime", "lastTimestamp", "deprecatedLastTimestamp", "eventTime", "firstTimestamp",
			"deprecatedFirstTimestamp",
		}
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

// markRelative sets Relative for columns that show elapsed time. dates is the field Dates of type CRDColumns.
func markRelative(columns []Column, resource string, dates map[string]string) []Column {
	for i := range columns {
		c := &columns[i]
		// A CRD's column Age counts as a time only if its type is date. Otherwise, the column can contain anything.
		isCRD := dates != nil || strings.HasPrefix(c.fullDescription, generatedDescription)
		if path, ok := dates[c.Name]; ok {
			c.paths = []string{path}
		} else if c.Type == "date" || !isCRD {
			c.paths = relativePaths(resource, c.Name)
		}
		c.Relative = len(c.paths) > 0 || c.Type == "date"
	}
	return columns
}

// ElapsedText returns the text that is displayed for a cell at the time now. It replaces timestamps with elapsed time.
func (c *Column) ElapsedText(cell string, now time.Time) string {
	if !c.Relative {
		return cell
	}
	return TimestampPattern.ReplaceAllStringFunc(cell, func(text string) string {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return text
		}
		return duration.HumanDuration(now.Sub(at))
	})
}

// TimestampPattern matches the timestamps that replace elapsed times in stored cells (see Resolve).
var TimestampPattern = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// elapsedPattern matches a cell that is a duration in the format of duration.HumanDuration ("5m"), or a number with
// such a duration in parentheses ("3 (5m ago)").
var elapsedPattern = regexp.MustCompile(`^(?:(\d+) \()?((?:\d+[ydhms]){1,2})(?: ago\))?$`)

// futureDuration is what duration.HumanDuration prints for a time in the future. Such times occur if clocks differ.
const futureDuration = "<invalid>"

// Resolve replaces the elapsed time in a cell with the timestamp from the object. The timestamp is more precise.
func (c *Column) Resolve(cell string, object []byte, created, now time.Time) string {
	m := elapsedPattern.FindStringSubmatchIndex(cell)
	if m == nil && cell == futureDuration {
		m = []int{0, len(cell), -1, -1, 0, len(cell)}
	}
	if m == nil {
		return cell // The cell shows no elapsed time, as in "<unknown>", "<none>" or "3".
	}
	printed := cell[m[4]:m[5]]
	if c.Name == "Duration" && lookup(object, "status.completionTime") != nil {
		return cell // Keep the text: the duration of a completed job does not change.
	}
	at := created // Most date columns show the creation time, which is known already.
	if created.IsZero() || len(c.paths) != 1 || c.paths[0] != creationPath {
		at = c.timestamp(printed, object, now)
	}
	if at.IsZero() && printed == futureDuration {
		return cell
	}
	if at.IsZero() {
		// The text of the cell is rounded, such as 33h, so this time is not exact.
		at = now.Add(-parseElapsed(printed)).Truncate(time.Second)
	}
	return cell[:m[4]] + at.UTC().Format(time.RFC3339) + cell[m[5]:]
}

// timestamp returns the time at the column's paths, or the zero Time. If a path leads to several times, it prefers the
// one whose age is the printed text, and otherwise the newest.
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

func parseElapsed(text string) (total time.Duration) {
	units := map[byte]time.Duration{
		's': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'y': 365 * 24 * time.Hour,
	}
	for start, i := 0, 0; i < len(text); i++ {
		if unit, ok := units[text[i]]; ok {
			n, _ := strconv.Atoi(text[start:i])
			total += time.Duration(n) * unit
			start = i + 1
		}
	}
	return total
}

// lookup returns the strings at a path, such as spec.ports.[].name. The name [] means each element of a list.
func lookup(object []byte, path string) []string {
	return find(jsonscan.NewCursor(object), strings.Split(path, "."))
}

func find(c *jsonscan.Cursor, path []string) (found []string) {
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
	// Errors are ignored, because the object was parsed before.
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

// SimplePath converts a JSONPath of plain member names into the dotted path for CRDColumns.Dates. It returns false
// for other JSONPaths.
func SimplePath(jsonPath string) (string, bool) {
	path := strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(jsonPath, "{"), "}"), ".")
	names := strings.Split(path, ".")
	simple := !slices.ContainsFunc(names, func(name string) bool {
		return name == "" || strings.ContainsAny(name, `[]()'"*?@\ `)
	})
	return path, simple
}

// ParseCRD returns the columns of one version of the resource that a CustomResourceDefinition defines. It
// returns none if crdText is invalid.
func ParseCRD(crdText []byte, version string) CRDColumns {
	var crd struct {
		Spec struct {
			Versions []struct {
				Name    string `json:"name"`
				Columns []struct {
					Name     string `json:"name"`
					Type     string `json:"type"`
					JSONPath string `json:"jsonPath"`
				} `json:"additionalPrinterColumns"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(crdText, &crd); err != nil {
		return CRDColumns{}
	}
	columns := CRDColumns{Dates: make(map[string]string), Paths: make(map[string]string)}
	for _, v := range crd.Spec.Versions {
		if v.Name != version {
			continue
		}
		for _, column := range v.Columns {
			if path, isSimple := SimplePath(column.JSONPath); column.Type == "date" && isSimple {
				columns.Dates[column.Name] = path
			}
			path := column.JSONPath
			if _, isDuplicate := columns.Paths[column.Name]; isDuplicate {
				path = "" // Two columns have this name, so the path is ambiguous.
			}
			columns.Paths[column.Name] = path
		}
	}
	return columns
}
