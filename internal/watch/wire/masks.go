package wire

import (
	"slices"
	"strings"

	"glasshouse/internal/watch/redact"
)

// maskedCell replaces a cell that may show a masked value.
const maskedCell = `"(masked)"`

// describedAs is the prefix of the description that the API server generates for a CRD's column that has none. The
// column's JSONPath follows the prefix.
const describedAs = "Custom resource definition column (in JSONPath format): "

// markPaths sets the path of the value that each column shows, if it is known. paths contains the JSONPaths of the
// columns in the definition of a CRD; the key is the column's name. It is nil if they are not known.
func markPaths(columns []Column, paths map[string]string) []Column {
	for i := range columns {
		c := &columns[i]
		path, defined := paths[c.Name]
		described, ok := strings.CutPrefix(c.text, describedAs)
		switch {
		case i == 0 && c.Format == "name":
			c.shows = "/metadata/name" // This is so for every kind that the API server itself prints.
		case slices.Equal(c.paths, []string{creationPath}):
			c.shows = "/metadata/creationTimestamp"
		case defined:
			c.shows = plainPart(path)
		case paths == nil && ok:
			c.shows = plainPart(described)
		}
	}
	return columns
}

// plainPart converts the start of a JSONPath to a JSON Pointer, as far as it consists of plain member names. The
// JSONPath leads to the value there, or to a value inside it.
func plainPart(jsonPath string) string {
	var plainly strings.Builder
	path, ok := strings.CutPrefix(strings.Trim(jsonPath, "{} "), ".")
	for more := ok; more; {
		var name string
		name, path, more = cutName(path)
		plain, _, cut := strings.Cut(name, "[")
		if plain == "" || strings.ContainsAny(plain, `\'"*?@(){}$ `) {
			break
		}
		plainly.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(plain))
		if cut {
			break
		}
	}
	return plainly.String()
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

// mayShow reports whether a cell of the column may show a part of a value that was removed from its object. That is so
// if the column shows the path of a removed value, or a parent or child of that path.
//
// A column whose path is not known may show any masked value. Kubernetes' own kinds are an exception: they print
// nothing at the paths for which unprinted returns true. Dropped annotations do not count for such a column: most
// objects have a dropped annotation with a copy of themselves, so all their cells would be masked.
func (c *Column) mayShow(removed *redact.Redacted, builtIn bool) bool {
	if c.shows == "" {
		return slices.ContainsFunc(removed.Masked, func(path string) bool { return !builtIn || !unprinted(path) })
	}
	return slices.ContainsFunc(removed.Masked, c.overlaps) || slices.ContainsFunc(removed.Dropped, c.overlaps)
}

// overlaps reports whether path equals the path that the column shows, or is a parent or child of it.
func (c *Column) overlaps(path string) bool {
	return path == c.shows || strings.HasPrefix(path, c.shows+"/") || strings.HasPrefix(c.shows, path+"/")
}

// unprinted reports whether no column of Kubernetes' own kinds shows anything at the path (kubernetes v1.36,
// pkg/printers/internalversion/printers.go).
func unprinted(path string) bool {
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

// BuiltIn reports whether the kinds of a group are Kubernetes' own. group is "" for the core group.
func BuiltIn(group string) bool {
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
