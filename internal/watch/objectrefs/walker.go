package objectrefs

import (
	"bytes"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

type walker struct {
	object *Object
	path   [][]byte
	seen   map[Ref]int // the index in object.Uses of each reference found so far; the keys have an empty field Via
	found  []mention   // all references, also repeated ones
	// isExternal is true for a Component of Dapr whose secretKeyRefs refer to a store outside Kubernetes.
	isExternal bool
	// lacksSource is true for a DataVolume of CDI that cannot start to copy its source. CDI does not need the source of
	// any other DataVolume, because the copy is complete, or has its own error.
	lacksSource bool
}

// mention is one reference in the text of an object. Several mentions can refer to the same object.
type mention struct {
	use        int // index in object.Uses
	isOptional bool
}

type refMembers struct {
	name, namespace, kind, apiVersion, group, key string
	// source is the member "type", which some CRDs have instead of a kind, as in caProvider: {type: ConfigMap, name: a}.
	source     string
	isOptional bool
}

func (r *refMembers) field(key []byte) *string {
	switch string(key) {
	case "name":
		return &r.name
	case "namespace":
		return &r.namespace
	case "kind":
		return &r.kind
	case "apiVersion":
		return &r.apiVersion
	case "apiGroup", "group":
		return &r.group
	case "key":
		return &r.key
	}
	return nil
}

func (w *walker) root(text []byte) error { return w.members(jsonscan.NewCursor(text)) }

func (w *walker) value(c *jsonscan.Cursor) error {
	switch c.Peek() {
	case '{':
		return w.members(c)
	case '[':
		return c.Array(func(int) error { return w.value(c) })
	case '"':
		target, ok := kindOfNameMember(string(w.path[len(w.path)-1]))
		if !ok && w.object.Group != istioGroup {
			return c.Skip()
		}
		name, err := c.Text()
		if err != nil || w.addIstio(name) || !ok {
			return err
		}
		target.Name, target.Via = name, w.via()
		w.add(target)
		return nil
	}
	return c.Skip()
}

// members reads a JSON object and the values in it. The object itself can be a reference, such as a secretKeyRef.
func (w *walker) members(c *jsonscan.Cursor) error {
	var s refMembers
	before := len(w.found)
	err := c.Object(func(key []byte) error {
		isSettings := string(key) == "metadata" && c.Peek() == '[' && !w.isExternal // A list is no ObjectMeta.
		if isOpaque(string(key), len(w.path)) && !isSettings {
			return c.Skip()
		}
		// A reference with a bundle is optional, too: Tekton reads the task from the bundle, and not from an object.
		if string(key) == "optional" && c.Peek() == 't' || string(key) == "bundle" {
			s.isOptional = true
		}
		if text := s.field(key); text != nil && c.Peek() == '"' {
			var err error
			*text, err = c.Text()
			return err
		}
		if string(key) == "type" && c.Peek() == '"' {
			var err error
			s.source, err = c.Text()
			return err
		}
		w.path = append(w.path, key)
		err := w.value(c)
		w.path = w.path[:len(w.path)-1]
		return err
	})
	if err == nil && len(w.path) > 0 && s.name != "" {
		w.addRef(string(w.path[len(w.path)-1]), &s)
	}
	for n := before; s.isOptional && n < len(w.found); n++ {
		w.found[n].isOptional = true // References in a JSON object with "optional":true are optional.
	}
	return err
}

func (w *walker) addRef(key string, s *refMembers) {
	target, ok := kindOfObjectMember(key)
	if !ok && s.kind == "" {
		target, ok = defaultKindOf(key)
		completeGroup(&w.object.Ref, key, &target)
	}
	if key == "dependsOn" && strings.HasSuffix(w.object.Group, ".toolkit.fluxcd.io") {
		target, ok = Ref{Group: w.object.Group, Kind: w.object.Kind}, true
	}
	isParameters := key == "parameters" && w.object.Kind == "IngressClass"
	isTyped := key == "ref" && s.apiVersion != "" // As in sink: {ref: {...}} of Knative.
	if s.kind != "" && (hasKind(key) || isParameters || isTyped) {
		target, ok = Ref{Kind: s.kind, Group: s.group}, s.kind != "User" && s.kind != "Group"
		if s.apiVersion != "" {
			target.Group, target.Version = splitVersion(s.apiVersion)
		}
		completeGroup(&w.object.Ref, key, &target)
	}
	if w.lacksSource && w.via() == "spec.source.pvc" {
		target, ok = Ref{Kind: "PersistentVolumeClaim"}, true
	}
	if key == "secrets" && w.object.Kind == "ServiceAccount" {
		target, ok = Ref{Kind: "Secret"}, true
	}
	if !ok {
		target, ok = customRef(&w.object.Ref, key, s)
	}
	if ok {
		target.Namespace, target.Name, target.Via = s.namespace, s.name, w.via()
		w.add(target)
	}
}

func (w *walker) via() string { return string(bytes.Join(w.path, []byte("."))) }

func (w *walker) add(target Ref) {
	if strings.Contains(target.Name, "/") { // Names of objects contain no slash, so this is NAMESPACE/NAME, or a path.
		parts := namePattern.FindStringSubmatch(target.Name)
		if parts == nil {
			return
		}
		target.Namespace, target.Name = parts[1], parts[2]
	}
	if target.Name == "" {
		return
	}
	key := target
	key.Via = ""
	at, isKnown := w.seen[key]
	if !isKnown {
		at = len(w.object.Uses)
		w.seen[key] = at
		w.object.Uses = append(w.object.Uses, target)
	}
	w.found = append(w.found, mention{at, IsOutput(&w.object.Ref, target.Via)})
}

// markOptional sets the field Optional of each used object: true only if all references to the object are optional.
func (w *walker) markOptional() {
	for n := range w.object.Uses {
		w.object.Uses[n].Optional = true
	}
	for _, m := range w.found {
		if !m.isOptional {
			w.object.Uses[m.use].Optional = false
		}
	}
}
