package fieldmanager

import (
	"bytes"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// maxShapes is the maximum number of key sets for one list. A key set contains the members by which managedFields
// identify the elements of a list, such as containerPort and protocol. A normal list has one key set. Hostile
// managedFields can have many key sets for a list.
const maxShapes = 8

type entry struct {
	Author

	fields []byte
	set    *fieldpath.Set
	shapes map[*fieldpath.Set][][]string // The key sets of each list (see maxShapes). The key is the list's part of set.
}

// ownedDepth returns the number of steps in the path to the value that the managedFields entry owns. This is the value
// at the end of the path, or a parent of it. The value at the end also counts if the entry owns only values inside it.
// A parent counts only if the entry owns no values inside it. ok is false if no value counts.
func (e *entry) ownedDepth(path []step) (depth int, ok bool) {
	set := e.parse()
	for i := range path {
		member, children := e.find(set, &path[i])
		switch {
		case children == nil:
			return i + 1, member
		// The entry owns values that are inside the value at the end of the path.
		case i == len(path)-1:
			return len(path), true
		}
		set = children
	}
	return 0, !set.Empty()
}

func (e *entry) parse() *fieldpath.Set {
	if e.set == nil {
		e.set = &fieldpath.Set{}
		if len(e.fields) > 0 && e.set.FromJSON(bytes.NewReader(e.fields)) != nil {
			e.set = &fieldpath.Set{}
		}
		e.shapes = make(map[*fieldpath.Set][][]string)
	}
	return e.set
}

// find follows one step of a path. member reports whether the entry owns the value at this step. children contains the
// fields inside this value that the entry owns.
func (e *entry) find(set *fieldpath.Set, s *step) (member bool, children *fieldpath.Set) {
	if s.item == nil {
		return getElement(set, fieldpath.FieldNameElement(s.name))
	}
	if member, children = getElement(set, fieldpath.IndexElement(s.index)); member || children != nil {
		return member, children // managedFields identify the elements of this list by index
	}
	if s.item.parse(); s.item.members == nil {
		v, err := value.FromJSON(s.item.text)
		if err != nil {
			return false, nil
		}
		return getElement(set, fieldpath.ValueElement(v))
	}
	for _, names := range e.shapesOf(set) {
		if key, ok := keyOf(s.item, names); ok {
			if member, children = getElement(set, key); member || children != nil {
				return member, children
			}
		}
	}
	return false, nil
}

func getElement(set *fieldpath.Set, element fieldpath.PathElement) (member bool, children *fieldpath.Set) {
	children, _ = set.Children.Get(element)
	return set.Members.Has(element), children
}

func (e *entry) shapesOf(set *fieldpath.Set) [][]string {
	shapes, ok := e.shapes[set]
	if ok {
		return shapes
	}
	add := func(element fieldpath.PathElement) {
		if element.Key == nil || len(shapes) == maxShapes {
			return
		}
		names := make([]string, len(*element.Key))
		for i, field := range *element.Key {
			names[i] = field.Name
		}
		if !slices.ContainsFunc(shapes, func(ok []string) bool { return slices.Equal(ok, names) }) {
			shapes = append(shapes, names)
		}
	}
	set.Members.Iterate(add)
	set.Children.Iterate(add)
	e.shapes[set] = shapes
	return shapes
}

func keyOf(item *node, names []string) (fieldpath.PathElement, bool) {
	key := make([]value.Field, len(names))
	for i, name := range names {
		member := item.members[name]
		if member == nil {
			return fieldpath.PathElement{}, false
		}
		v, err := value.FromJSON(member.text)
		if err != nil {
			return fieldpath.PathElement{}, false
		}
		key[i] = value.Field{Name: name, Value: v}
	}
	return fieldpath.KeyElement(key...), true
}
