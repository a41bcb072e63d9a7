// Package objectrefs finds references to other objects in an object's JSON text: its owners, the objects that its
// spec uses, and its pod selector. Malformed text has no references.
package objectrefs

import (
	"bytes"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// Ref is a reference from one Kubernetes object to another.
type Ref struct {
	Group     string // empty for the core group
	Version   string // empty for any version
	Kind      string
	Namespace string // empty for the referring object's own namespace, or a cluster-scoped kind
	Name      string
	UID       string
	Via       string // path of the referring member without indices, such as "spec.volumes.configMap"
	Optional  bool   // the referring object works without the other object
}

// Object contains the references in the JSON text of an object.
type Object struct {
	Ref

	Labels  map[string]string
	Owners  []Ref // managing controller first
	Uses    []Ref // each object once, in the order of the text
	Selects *Selector
}

// Of returns the references in the JSON text of an object.
func Of(text []byte) Object {
	parts := make(map[string][]byte)
	c := jsonscan.NewCursor(text)
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
	w := walker{object: &o, seen: make(map[Ref]int)}
	w.addSpecialRefs(parts["spec"])
	members(parts["auth"], func(key string, value []byte) {
		w.isExternal = w.isExternal || key == "secretStore" && textOf(value) != "kubernetes"
	})
	w.lacksSource = o.Kind == "DataVolume" && bytes.Contains(parts["status"], []byte(`"CloneWithoutSource"`))
	if err := w.root(text); err != nil {
		return Object{}
	}
	w.markOptional()
	return o
}

// Owners returns the owner references in an object's JSON text. It does not read the text after the metadata.
func Owners(text []byte) (owners []Ref) {
	c := jsonscan.NewCursor(text)
	_ = c.Object(func(key []byte) error {
		if string(key) != "metadata" {
			return nil
		}
		metadata, err := c.Value()
		if err == nil {
			owners, err = ownersOf(metadata), jsonscan.ErrStop
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
	elements(list, func(element []byte) {
		owner, isController := Ref{Via: "metadata.ownerReferences"}, false
		members(element, func(key string, value []byte) {
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
				isController = string(value) == "true"
			}
		})
		switch {
		case owner.Kind == "" || owner.Name == "" || owner.UID == "":
		case isController:
			owners = append([]Ref{owner}, owners...)
		default:
			owners = append(owners, owner)
		}
	})
	return owners
}
