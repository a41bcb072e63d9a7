package objectrefs

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Convention is a member of a spec that refers to another object by a convention of operators. Only the name of the
// member suggests the kind, unless the reference includes it. Examples: clusterRef: {name: a}, queueName: a,
// project: a, middlewares: [{name: a}].
type Convention struct {
	Ref

	// Word is the name of the member without suffixes, such as "cluster" for clusterRef.
	Word string
	// IsObject is true if the value of the member is a JSON object or a list of JSON objects.
	IsObject bool
	// IsRef is true if the name of the member states that it is a reference (clusterRef).
	IsRef bool
	// IsPlain is true for a list of names, and for a JSON object that contains only a reference and no definition.
	IsPlain bool
}

const (
	maxConventions = 100 // The maximum number of references that are returned for one object.
	maxDepth       = 12  // The maximum nesting depth. Each level of nesting is read several times.
)

// namePattern matches an object's name, alone or in the form namespace/name.
var namePattern = regexp.MustCompile(`^(?:([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)/)?([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)$`)

// Conventions returns the members in the spec of an object that possibly refer to other objects by a convention.
func Conventions(text []byte) []Convention {
	var c conventions
	var spec []byte
	members(text, func(key string, value []byte) {
		switch key {
		case "apiVersion":
			c.by.Group, c.by.Version = splitVersion(textOf(value))
		case "kind":
			c.by.Kind = textOf(value)
		case "spec":
			spec = value
		}
	})
	if len(spec) > 0 && spec[0] == '{' {
		c.object([]string{"spec"}, spec)
	}
	return c.found
}

type conventions struct {
	by    Ref // The object whose spec contains the references.
	found []Convention
	depth int // The nesting depth of the current value. Lists count, too.
}

func (c *conventions) add(path []string, found Convention) {
	key := path[len(path)-1]
	_, isName := kindOfNameMember(key)
	_, isObject := kindOfObjectMember(key)
	_, hasDefault := defaultKindOf(key)
	found.Via = strings.Join(path, ".")
	if found.Kind == "" && found.IsObject {
		found.Group = cmp.Or(found.Group, groups[found.Word])
	}
	isListed := isName && !found.IsObject || (isObject || hasDefault) && found.IsObject
	if isListed || IsOutput(&c.by, found.Via) {
		return // Skip the reference: the function Of returns it, or a controller creates its target.
	}
	c.found = append(c.found, found)
}

// value adds the references in the JSON value at path. For a text without a namespace, the parameter namespace is the
// namespace of the reference.
func (c *conventions) value(path []string, value []byte, namespace string) {
	if len(c.found) >= maxConventions || len(value) == 0 || c.depth >= maxDepth {
		return
	}
	c.depth++
	defer func() { c.depth-- }()
	switch value[0] {
	case '{':
		c.object(path, value)
	case '[':
		before := len(c.found)
		elements(value, func(element []byte) { c.value(path, element, namespace) })
		for n := before; n < len(c.found); n++ {
			// A list of strings contains only names of objects, and no definitions of objects.
			c.found[n].IsPlain = c.found[n].IsPlain || !c.found[n].IsObject && value[1] == '"'
		}
	case '"':
		c.text(path, textOf(value), namespace)
	}
}

func (c *conventions) text(path []string, text, namespace string) {
	key := path[len(path)-1]
	word, isRef := wordOf(key)
	found := namePattern.FindStringSubmatch(text)
	isExternal := slices.Contains(path, "forProvider") // Crossplane passes forProvider to a cloud, so it names no object.
	if found == nil || key == "name" || key == "namespace" || isExternal {
		return
	}
	target := Ref{Namespace: cmp.Or(found[1], namespace), Name: found[2]}
	c.add(path, Convention{Ref: target, Word: word, IsRef: isRef})
}

// object adds the references in the JSON object at path. The object can itself be a reference.
func (c *conventions) object(path []string, value []byte) {
	s, isPlain, isClusterScoped := refMembers{}, true, false
	namespaces := make(map[string]string) // The members with the suffix Namespace, by their names without the suffix.
	members(value, func(key string, value []byte) {
		if target := s.field([]byte(key)); target != nil {
			*target = textOf(value)
			return
		}
		isPlain = false
		isTrue := string(value) == "true"
		isClusterScoped = isClusterScoped || key == "clusterScope" && isTrue
		s.isOptional = s.isOptional || key == "optional" && isTrue || slices.Contains(elsewhere, key)
		if of, ok := strings.CutSuffix(key, "Namespace"); ok {
			namespaces[of] = textOf(value)
		}
	})
	members(value, func(key string, value []byte) {
		if !isOpaque(key, len(path)) && (len(path) == 1 || s.field([]byte(key)) == nil) {
			word, _ := wordOf(key)
			c.value(append(slices.Clone(path), key), value, namespaces[word])
		}
	})
	key := path[len(path)-1]
	if len(path) == 1 {
		return // The object is the spec itself, which is not a reference.
	}
	if key == "from" {
		key = path[len(path)-2] // In clusterRef: {from: {name: a}} of the AWS controllers, clusterRef is the key.
	}
	word, isRef := wordOf(key)
	if isClusterScoped {
		word = "Cluster" + word // With clusterScope: true, Argo Workflows means a ClusterWorkflowTemplate.
	}
	isRef = s.useStream(&c.by, path) || isRef
	if name := namePattern.FindStringSubmatch(s.name); name == nil || name[1] != "" || s.isOptional || s.key != "" {
		return
	}
	target := s.target()
	if c.isInclude(key) {
		target.Group, target.Kind, word, isRef = c.by.Group, c.by.Kind, "include", true
	}
	c.add(path, Convention{Ref: target, Word: word, IsObject: true, IsRef: isRef, IsPlain: isPlain})
}

// isInclude reports whether a member refers to an HTTPProxy of Contour whose routes another HTTPProxy includes.
func (c *conventions) isInclude(key string) bool {
	return key == "includes" && c.by.Group == contourGroup
}

// target returns the object to which the members refer.
func (r *refMembers) target() Ref {
	target := Ref{Group: r.group, Kind: r.kind, Namespace: r.namespace, Name: r.name}
	if r.apiVersion != "" {
		target.Group, target.Version = splitVersion(r.apiVersion)
	}
	return target
}

// groups maps the word of a member to the API group of its target, for references that contain only a name. The kinds
// of composite resources are in groups of their users, but these resources refer to objects of Crossplane.
var groups = map[string]string{ //nolint:gochecknoglobals // Constant.
	"composition": "apiextensions.crossplane.io", "compositionRevision": "apiextensions.crossplane.io",
}

// elsewhere are members that a reference has if its target is not an object of the cluster.
var elsewhere = []string{"bundle", "resolver", "external", "url"} //nolint:gochecknoglobals // Constant.

// suffixes are the ends of the names of members that refer to an object, in the order in which they are removed.
var suffixes = []string{ //nolint:gochecknoglobals // Constant.
	"References", "Reference", "Refs", "Ref", "Names", "Name", "IDs", "Ids", "ID", "Id", "Arn",
}

// wordOf returns the name of a member without suffixes. isRef is true if a suffix states that it is a reference.
func wordOf(key string) (word string, isRef bool) {
	word = key
	for n, suffix := range suffixes {
		if rest, ok := strings.CutSuffix(word, suffix); ok && rest != "" {
			word, isRef = rest, isRef || n < 4
		}
	}
	return word, isRef
}
