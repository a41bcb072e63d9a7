package query

import "slices"

// MatchesNamespaces reports whether the filter selects objects only by their namespace.
func (f *Filter) MatchesNamespaces() bool {
	return f.Name == "" && f.Selector == nil && len(f.words) == 0 && !f.NeedsRow()
}

// IncludesNamespace reports whether the filter can select objects of a namespace.
func (f *Filter) IncludesNamespace(namespace string) bool {
	if len(f.Namespaces) == 0 {
		return true
	}
	_, ok := slices.BinarySearch(f.Namespaces, namespace)
	return ok
}
