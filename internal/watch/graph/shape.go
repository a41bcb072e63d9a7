package graph

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
)

// shape is what all objects of a group have in common. Groups of the Graph store it as text, in a third of the memory.
type shape struct {
	kind      Kind
	namespace string // Empty for a cluster-scoped object, and in the shape of the group of all pods on a node.
	selecting string // Key and pod selector of an object with a selector. The group contains only this object.
	labels    map[string]string
	owners    []Owner
	uses      []Use
}

// pack returns the shape as text. Equal shapes have equal texts.
func (s *shape) pack() string {
	b := make(builder, 0, 512)
	b.add(s.kind.Group, s.kind.Kind, s.namespace, s.selecting)
	b.addNumber(len(s.labels))
	for _, name := range slices.Sorted(maps.Keys(s.labels)) {
		b.add(name, s.labels[name])
	}
	b.addNumber(len(s.owners))
	for n := range s.owners {
		o := &s.owners[n]
		b.add(o.Group, o.Kind.Kind, o.Key, o.UID)
	}
	b.addNumber(len(s.uses))
	for n := range s.uses {
		u := &s.uses[n]
		optional := ""
		if u.Optional {
			optional = "optional"
		}
		b.add(u.Target.Group, u.Target.Kind.Kind, u.Target.Key, u.Via, optional)
	}
	return string(b)
}

// unpack returns the shape from a text that pack returned. The strings in the shape share the memory of the text.
func unpack(text string) (s shape) {
	r := reader(text)
	s.kind = r.kind()
	s.namespace, s.selecting = r.text(), r.text()
	s.labels = r.labels()
	if count := r.number(); count > 0 {
		s.owners = make([]Owner, count)
		for n := range s.owners {
			s.owners[n] = Owner{ID{r.kind(), r.text()}, r.text()}
		}
	}
	if count := r.number(); count > 0 {
		s.uses = make([]Use, count)
		for n := range s.uses {
			s.uses[n] = Use{ID{r.kind(), r.text()}, r.text(), r.text() != ""}
		}
	}
	return s
}

// kindOf returns the kind of a packed shape.
func kindOf(text string) Kind {
	r := reader(text)
	return r.kind()
}

// labelsOf returns the labels of a packed shape.
func labelsOf(text string) map[string]string {
	r := reader(text)
	r.kind()
	r.text()
	r.text()
	return r.labels()
}

// term is a property of a shape by which groups are found, such as "uses the ConfigMap a/c".
type term struct {
	relation relation
	kind     Kind
	text     string
}

type relation uint8

const (
	exists  relation = iota // Objects of a kind in a namespace. The field text is the namespace.
	uses                    // Objects that use another object. The fields kind and text identify the other object.
	owned                   // Objects of an owner. The field text is the UID of the owner.
	labeled                 // Pods with a label. The field text is "namespace/name=value".
	selects                 // Objects whose pod selector requires a label. The field text is "namespace/name=value".
)

// terms returns the terms by which a search finds a group with this shape. selector is the pod selector of the group,
// or nil. For a selector that requires no label, the text of the term is only "namespace/".
func (s *shape) terms(selector *objectrefs.Selector) (terms []term) {
	if s.namespace != "" || s.kind != pod {
		terms = append(terms, term{exists, s.kind, s.namespace})
	}
	for n := range s.uses {
		terms = append(terms, term{uses, s.uses[n].Target.Kind, s.uses[n].Target.Key})
	}
	for n := range s.owners {
		terms = append(terms, term{relation: owned, text: s.owners[n].UID})
	}
	for name, value := range s.labels {
		terms = append(terms, labelTerm(labeled, s.namespace, name+"="+value))
	}
	if selector != nil {
		label := ""
		if required := selector.Required(); len(required) > 0 {
			label = required[0]
		}
		terms = append(terms, labelTerm(selects, s.namespace, label))
	}
	return terms
}

func labelTerm(r relation, namespace, label string) term {
	return term{relation: r, text: namespace + "/" + label}
}

// builder builds a text from numbers and texts. The length of each text is written before the text.
type builder []byte

func (b *builder) addNumber(n int) {
	*b = binary.AppendUvarint(*b, uint64(n)) //nolint:gosec // A length is not negative.
}

func (b *builder) add(texts ...string) {
	for _, text := range texts {
		b.addNumber(len(text))
		*b = append(*b, text...)
	}
}

// reader decodes a text that a builder has made. Its value is the part of the text that is not decoded yet.
type reader string

func (r *reader) number() (n int) {
	for shift := 0; ; shift += 7 {
		b := (*r)[0]
		*r = (*r)[1:]
		n |= int(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
}

func (r *reader) text() string {
	length := r.number()
	text := string((*r)[:length])
	*r = (*r)[length:]
	return text
}

func (r *reader) kind() Kind { return Kind{r.text(), r.text()} }

func (r *reader) labels() map[string]string {
	count := r.number()
	if count == 0 {
		return nil
	}
	labels := make(map[string]string, count)
	for range count {
		name := r.text()
		labels[name] = r.text()
	}
	return labels
}
