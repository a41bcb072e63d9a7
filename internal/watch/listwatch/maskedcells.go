package listwatch

import (
	"slices"
	"strings"

	"glasshouse/internal/watch/redact"
)

// maskedCell replaces a cell that may show a masked value.
const maskedCell = `"(masked)"`

// generatedDescription is the prefix of the description that the API server generates for a CRD's column that has none.
// The column's JSONPath follows the prefix.
const generatedDescription = "Custom resource definition column (in JSONPath format): "

// markPaths sets the path of the value that each column shows, if it is known. paths contains the JSONPaths of the
// columns in the definition of a CRD; the key is the column's name. It is nil if they are not known.
func markPaths(columns []Column, paths map[string]string) []Column {
	for i := range columns {
		c := &columns[i]
		path, isDefined := paths[c.Name]
		generatedPath, ok := strings.CutPrefix(c.fullDescription, generatedDescription)
		switch {
		case i == 0 && c.Format == "name":
			c.shownPath = "/metadata/name" // This is so for every kind that the API server itself prints.
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

// literalPrefix converts the start of a JSONPath to a JSON Pointer, as far as it consists of plain member names. The
// JSONPath leads to the value there, or to a value inside it.
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

// cutName splits a path after its first name. A dot after a backslash is part of the name, as in
// annotations.example\.com/owner.
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

// mayShowMasked reports whether a cell of the column may show a part of a value that was removed from its object. That
// is so if the column shows the path of a removed value, or a parent or child of that path.
//
// A column whose path is not known may show any masked value. Kubernetes' own kinds are an exception: they print
// nothing at the paths for which isUnprinted returns true. Dropped annotations do not count for such a column: most
// objects have a dropped annotation with a copy of themselves, so all their cells would be masked.
func (c *Column) mayShowMasked(removed *redact.Redacted, builtIn bool) bool {
	if c.shownPath == "" {
		return slices.ContainsFunc(removed.Masked, func(path string) bool { return !builtIn || !isUnprinted(path) })
	}
	return slices.ContainsFunc(removed.Masked, c.overlaps) || slices.ContainsFunc(removed.Dropped, c.overlaps)
}

// overlaps reports whether path equals the path that the column shows, or is a parent or child of it.
func (c *Column) overlaps(path string) bool {
	return path == c.shownPath || strings.HasPrefix(path, c.shownPath+"/") || strings.HasPrefix(c.shownPath, path+"/")
}

// isUnprinted reports whether no column of Kubernetes' own kinds shows anything at the path (kubernetes v1.36,
// pkg/printers/internalversion/printers.go).
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

// IsBuiltIn reports whether the kinds of a group are Kubernetes' own. group is "" for the core group.
func IsBuiltIn(group string) bool {
	switch group {
	case "", "apps", "autoscaling", "batch", "extensions", "policy",
		"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io",
		"authorization.k8s.io",
		"certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
		"flowcontrol.apiserver.k8s.io",
		"internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "rbac.authorization.k8s.io", "resource.k8s.io",
		"scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io":
		return true
	}
	return false
}
