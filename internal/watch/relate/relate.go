// Package relate reads from an object's text which others it names: its owners,
// what its spec uses, and the labels of the pods that it selects.
//
// It is pure: JSON text in, names out. Which objects there are, and which
// resource a kind is, is not known here. Text that is not well formed names
// nothing; a member of another type than expected is passed over.
package relate

import (
	"glasshouse/internal/watch/rawjson"
)

// A Ref names an object as another one does.
type Ref struct {
	Group     string // Empty for the core group.
	Version   string // Often empty: any.
	Kind      string
	Namespace string // Empty for that of the object which names it, and where the kind has none.
	Name      string
	UID       string // Of an owner alone.
	Via       string // The path of members that leads to it, without indices: "spec.volumes.configMap".
}

// An Object is what its text tells of relations.
type Object struct {
	Ref // Itself, without Via.

	Labels  map[string]string
	Owners  []Ref // The managing controller first.
	Uses    []Ref // Each once, in the order of the text.
	Selects *Selector
}

// Of reads the text of an object.
func Of(text []byte) Object {
	parts := make(map[string][]byte)
	c := rawjson.NewCursor(text)
	err := c.Object(func(key []byte) error {
		value, err := c.Value()
		parts[string(key)] = value
		return err
	})
	if err != nil || c.End() != nil {
		return Object{}
	}
	var o Object
	o.Group, o.Version = splitVersion(textOf(parts["apiVersion"]))
	o.Kind = textOf(parts["kind"])
	o.readMetadata(parts["metadata"])
	o.Selects = selectorOf(&o.Ref, parts["spec"])
	w := walker{object: &o, seen: make(map[Ref]bool)}
	w.special(parts["spec"])
	if err := w.root(text); err != nil {
		return Object{} // It has been walked before.
	}
	return o
}

// Owners are those that an object's metadata names. Nothing behind the metadata
// is read.
func Owners(text []byte) (owners []Ref) {
	c := rawjson.NewCursor(text)
	_ = c.Object(func(key []byte) error { // What was read before an error counts.
		if string(key) != "metadata" {
			return nil
		}
		metadata, err := c.Value()
		if err == nil {
			owners, err = ownersOf(metadata), rawjson.ErrStop
		}
		return err
	})
	return owners
}

func (o *Object) readMetadata(metadata []byte) {
	o.Labels = make(map[string]string)
	members(metadata, func(key string, value []byte) {
		switch key {
		case "name":
			o.Name = textOf(value)
		case "namespace":
			o.Namespace = textOf(value)
		case "uid":
			o.UID = textOf(value)
		case "labels":
			members(value, func(label string, value []byte) { o.Labels[label] = textOf(value) })
		}
	})
	o.Owners = ownersOf(metadata)
}

func ownersOf(metadata []byte) (owners []Ref) {
	var list []byte
	members(metadata, func(key string, value []byte) {
		if key == "ownerReferences" {
			list = value
		}
	})
	elements(list, func(one []byte) {
		owner, manages := Ref{Via: "metadata.ownerReferences"}, false
		members(one, func(key string, value []byte) {
			switch key {
			case "apiVersion":
				owner.Group, owner.Version = splitVersion(textOf(value))
			case "kind":
				owner.Kind = textOf(value)
			case "name":
				owner.Name = textOf(value)
			case "uid":
				owner.UID = textOf(value)
			case "controller":
				manages = string(value) == "true"
			}
		})
		switch {
		case owner.Kind == "" || owner.Name == "" || owner.UID == "":
		case manages:
			owners = append([]Ref{owner}, owners...)
		default:
			owners = append(owners, owner)
		}
	})
	return owners
}
