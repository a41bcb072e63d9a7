package listwatch

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// Column is one column of the Table that the API server prints for a resource.
type Column struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Format      string `json:"format"`
	Description string `json:"description,omitempty"`
	Priority    int32  `json:"priority"` // kubectl get shows columns with a priority above 0 only with -o wide.
	// Relative means that cells contain a timestamp, which is displayed as elapsed time, as in
	// "3 (2026-11-21T10:00:00Z ago)".
	Relative bool `json:"relative,omitempty"`

	fullDescription string   // Description before shortening. In a CRD, it can contain the JSONPath.
	paths           []string // Paths to the timestamp in the object, the preferred path first.
	shownPath       string   // JSON Pointer to the displayed value or a parent of it; empty if unknown.
}

func plainColumns() []Column {
	return markRelative([]Column{{Name: "Name", Type: "string", Format: "name"}, {Name: "Age", Type: "date"}}, "", nil)
}

const creationPath = "metadata.creationTimestamp"

// relativePaths returns the paths to a column's timestamps, the preferred first. In a path, [] means each element of
// a list. Source: kubernetes v1.36, pkg/printers/internalversion/printers.go.
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

// markRelative sets Relative for columns that show elapsed time. dates contains the paths of a CRD's date columns, by
// name.
func markRelative(columns []Column, resource string, dates map[string]string) []Column {
	for i := range columns {
		c := &columns[i]
		// A CRD's column Age can contain anything if its type is not date.
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

// ElapsedText returns the text that is displayed for a cell at the time now. It replaces timestamps by elapsed time.
func (c *Column) ElapsedText(cell string, now time.Time) string {
	if !c.Relative {
		return cell
	}
	return timestampPattern.ReplaceAllStringFunc(cell, func(text string) string {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return text
		}
		return duration.HumanDuration(now.Sub(at))
	})
}

// timestampPattern matches the timestamps that replace elapsed times in stored cells (see resolve).
var timestampPattern = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// elapsedPattern matches a cell or a part of a cell that duration.HumanDuration printed, as in "3 (5m ago)".
var elapsedPattern = regexp.MustCompile(`^(?:(\d+) \()?((?:\d+[ydhms]){1,2})(?: ago\))?$`)

// futureDuration is what duration.HumanDuration prints for a time in the future, which different clocks can cause.
const futureDuration = "<invalid>"

// resolve replaces the elapsed time in a cell with the timestamp from the object, which is more precise.
func (c *Column) resolve(cell string, object []byte, created, now time.Time) string {
	m := elapsedPattern.FindStringSubmatchIndex(cell)
	if m == nil && cell == futureDuration {
		m = []int{0, len(cell), -1, -1, 0, len(cell)}
	}
	if m == nil {
		return cell // The cell shows no elapsed time, as in "<unknown>", "<none>" or "3".
	}
	printed := cell[m[4]:m[5]]
	if c.Name == "Duration" && lookup(object, "status.completionTime") != nil {
		return cell // The job has ended, so its duration does not change any more.
	}
	at := created // Most columns show the creation time, which needs no search in the object.
	if created.IsZero() || len(c.paths) != 1 || c.paths[0] != creationPath {
		at = c.timestamp(printed, object, now)
	}
	if at.IsZero() && printed == futureDuration {
		return cell
	}
	if at.IsZero() {
		// This time is only as precise as the text of the cell.
		at = now.Add(-parseElapsed(printed)).Truncate(time.Second)
	}
	return cell[:m[4]] + at.UTC().Format(time.RFC3339) + cell[m[5]:]
}

// timestamp returns the time at the column's paths, or the zero Time. It prefers the time that the cell shows.
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

// lookup returns the strings at a path of names with dots. The name [] means each element of a list.
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

// SimplePath converts a JSONPath of plain member names into the dotted path for PrinterColumns.Dates. It returns false
// for other JSONPaths.
func SimplePath(jsonPath string) (string, bool) {
	path := strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(jsonPath, "{"), "}"), ".")
	names := strings.Split(path, ".")
	simple := !slices.ContainsFunc(names, func(name string) bool {
		return name == "" || strings.ContainsAny(name, `[]()'"*?@\ `)
	})
	return path, simple
}

// ParsePrinterColumns returns the columns of one version of the resource that a CustomResourceDefinition defines. It
// returns none if crdText is invalid.
func ParsePrinterColumns(crdText []byte, version string) PrinterColumns {
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
		return PrinterColumns{}
	}
	columns := PrinterColumns{Dates: make(map[string]string), Paths: make(map[string]string)}
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
