package objectrefs

import (
	"bytes"

	"glasshouse/internal/watch/jsonscan"
)

// walker finds the objects that an object uses, by a walk through its text.
type walker struct {
	object *Object
	path   [][]byte
	seen   map[Ref]bool // The references found so far, without Via.
}

// refMembers contains those members of a JSON object that can identify another Kubernetes object.
type refMembers struct {
	name, namespace, kind, apiVersion, group string
}

// field returns the field for the value of the member with the key, or nil if the member is not needed.
func (s *refMembers) field(key []byte) *string {
	switch string(key) {
	case "name":
		return &s.name
	case "namespace":
		return &s.namespace
	case "kind":
		return &s.kind
	case "apiVersion":
		return &s.apiVersion
	case "apiGroup", "group":
		return &s.group
	}
	return nil
}

// root walks through the complete text of the object.
func (w *walker) root(text []byte) error { return w.members(jsonscan.NewCursor(text)) }

// value walks through the value of the last member in the path.
func (w *walker) value(c *jsonscan.Cursor) error {
	switch c.Peek() {
	case '{':
		return w.members(c)
	case '[':
		return c.Array(func(int) error { return w.value(c) })
	case '"':
		target, ok := kindOfNameMember(string(w.path[len(w.path)-1]))
		if !ok {
			return c.Skip()
		}
		name, err := c.Text()
		if err != nil {
			return err
		}
		target.Name, target.Via = name, w.via()
		w.add(target)
		return nil
	}
	return c.Skip()
}

// members walks through a JSON object, which may itself be a reference to a Kubernetes object.
func (w *walker) members(c *jsonscan.Cursor) error {
	var s refMembers
	err := c.Object(func(key []byte) error {
		if isOpaque(string(key), len(w.path)) {
			return c.Skip()
		}
		if text := s.field(key); text != nil && c.Peek() == '"' {
			var err error
			*text, err = c.Text()
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
	return err
}

// addRef adds the reference that s contains, if there is one. s is from the value of the member key.
func (w *walker) addRef(key string, s *refMembers) {
	target, ok := kindOfObjectMember(key)
	if s.kind != "" && hasKind(key) {
		target, ok = Ref{Kind: s.kind, Group: s.group}, s.kind != "User" && s.kind != "Group"
		if s.apiVersion != "" {
			target.Group, target.Version = splitVersion(s.apiVersion)
		}
	}
	if key == "secrets" && w.object.Kind == "ServiceAccount" {
		target, ok = Ref{Kind: "Secret"}, true
	}
	if ok {
		target.Namespace, target.Name, target.Via = s.namespace, s.name, w.via()
		w.add(target)
	}
}

func (w *walker) via() string { return string(bytes.Join(w.path, []byte("."))) }

// add adds a reference, unless it has no name or was added before.
func (w *walker) add(target Ref) {
	key := target
	key.Via = ""
	if target.Name == "" || w.seen[key] {
		return
	}
	w.seen[key] = true
	w.object.Uses = append(w.object.Uses, target)
}
