package relate

import (
	"strings"

	"glasshouse/internal/watch/rawjson"
)

// walker finds what an object uses.
type walker struct {
	object *Object
	path   []string
	seen   map[Ref]bool // Without Via.
}

// root walks the whole object.
func (w *walker) root(text []byte) error { return w.members(rawjson.NewCursor(text), "") }

// value walks the value of a member.
func (w *walker) value(c *rawjson.Cursor, key string) error {
	switch c.Peek() {
	case '{':
		return w.members(c, key)
	case '[':
		return c.Array(func(int) error { return w.value(c, key) })
	case '"':
		target, ok := named(key)
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

// members walks an object, which may itself name another.
func (w *walker) members(c *rawjson.Cursor, key string) error {
	said := make(map[string]string)
	err := c.Object(func(member []byte) error {
		name := string(member)
		if opaque(name, len(w.path)) {
			return c.Skip()
		}
		switch name {
		case "name", "namespace", "kind", "apiVersion", "apiGroup", "group":
			if c.Peek() == '"' {
				text, err := c.Text()
				said[name] = text
				return err
			}
		}
		w.path = append(w.path, name)
		defer func() { w.path = w.path[:len(w.path)-1] }()
		return w.value(c, name)
	})
	if err == nil && key != "" {
		w.refer(key, said)
	}
	return err
}

// refer adds what an object says that it refers to.
func (w *walker) refer(key string, said map[string]string) {
	target, ok := held(key)
	if kind := said["kind"]; kind != "" && typed(key) {
		target, ok = Ref{Kind: kind, Group: said["apiGroup"] + said["group"]}, kind != "User" && kind != "Group"
		if apiVersion := said["apiVersion"]; apiVersion != "" {
			target.Group, target.Version = splitVersion(apiVersion)
		}
	}
	if key == "secrets" && w.object.Kind == "ServiceAccount" {
		target, ok = Ref{Kind: "Secret"}, true
	}
	if ok {
		target.Namespace, target.Name, target.Via = said["namespace"], said["name"], w.via()
		w.add(target)
	}
}

func (w *walker) via() string { return strings.Join(w.path, ".") }

// add adds what has a name, once.
func (w *walker) add(target Ref) {
	key := target
	key.Via = ""
	if target.Name == "" || w.seen[key] {
		return
	}
	w.seen[key] = true
	w.object.Uses = append(w.object.Uses, target)
}
