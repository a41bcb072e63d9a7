package printer

import (
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/redact"
)

// MaskedCell is the JSON text that replaces a cell that can show a masked value.
const MaskedCell = `"(masked)"`

// generatedDescription is the start of the text that the API server sends if a CRD's column has no description. The
// JSONPath follows.
const generatedDescription = "Custom resource definition column (in JSONPath format): "

// markPaths sets shownPath in columns with a known path, and returns all columns. paths has a CRD's JSONPaths by name.
func markPaths(columns []Column, paths map[string]string) []Column {
	for i := range columns {
		c := &columns[i]
		path, isDefined := paths[c.Name]
		generatedPath, ok := strings.CutPrefix(c.fullDescription, generatedDescription)
		switch {
		case i == 0 && c.Format == "name":
			c.shownPath = "/metadata/name" // kube-apiserver prints the object's name in this column for every kind.
		case slices.Equal(c.paths, []string{creationPath}):
			c.shownPath = "/metadata/creationTimestamp"
		case isDefined:
			c.shownPath = literalPrefix(path)
		case paths == nil && ok:
			c.shownPath = literalPrefix(generatedPath)
		}
	}
	return columns
}

// literalPrefix converts the start of a JSONPath to a JSON Pointer, up to the first name that is not a plain name. The
// pointer leads to the value or to a parent of the value.
func literalPrefix(jsonPath string) string {
	var pointer strings.Builder
	path, ok := strings.CutPrefix(strings.Trim(jsonPath, "{} "), ".")
	for more := ok; more; {
		var name string
		name, path, more = cutName(path)
		literal, _, hasSubscript := strings.Cut(name, "[")
		if literal == "" || strings.ContainsAny(literal, `\'"*?@(){}$ `) {
			break
		}
		pointer.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(literal))
		if hasSubscript {
			break
		}
	}
	return pointer.String()
}

// cutName splits a path after its first name. A dot after a backslash belongs to the name, as in example\.com.
func cutName(path string) (name, rest string, more bool) {
	for {
		part, rest, more := strings.Cut(path, ".")
		before, escaped := strings.CutSuffix(part, `\`)
		if !more || !escaped {
			return name + part, rest, more
		}
		name, path = name+before+".", rest
	}
}

// MayShowMasked reports whether a cell can show one of the values that the parameter removed lists. builtIn is true for
// Kubernetes' own kinds.
func (c *Column) MayShowMasked(removed *redact.Redacted, builtIn bool) bool {
	if c.shownPath == "" {
		// Dropped annotations do not count here. Most objects have a dropped annotation, so the column would always be
		// masked.
		return slices.ContainsFunc(removed.Masked, func(path string) bool { return !builtIn || !isUnprinted(path) })
	}
	return slices.ContainsFunc(removed.Masked, c.overlaps) || slices.ContainsFunc(removed.Dropped, c.overlaps)
}

func (c *Column) overlaps(path string) bool {
	return path == c.shownPath || strings.HasPrefix(path, c.shownPath+"/") || strings.HasPrefix(c.shownPath, path+"/")
}

// isUnprinted returns true for paths whose values never appear in the columns of Kubernetes' own kinds. Source:
// kubernetes v1.36, pkg/printers/internalversion/printers.go.
func isUnprinted(path string) bool {
	names := strings.Split(path, "/")[1:]
	switch names[0] {
	case "binaryData", "data", "stringData":
		return true
	}
	for i, name := range names {
		switch name {
		case "annotations":
			if i > 0 && names[i-1] == "metadata" {
				return true
			}
		case "args", "command", "env":
			if i > 1 && strings.HasSuffix(names[i-2], "ontainers") {
				return true
			}
		}
	}
	return false
}
