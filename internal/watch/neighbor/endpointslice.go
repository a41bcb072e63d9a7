package neighbor

// ServiceNames returns the Services that a person can mean by the name of an EndpointSlice without the label for the
// Service: the name itself, and each of its beginnings before a hyphen.
func ServiceNames(slice string) []string {
	names := []string{slice}
	for end := len(slice) - 1; end > 0; end-- {
		if slice[end] == '-' {
			names = append(names, slice[:end])
		}
	}
	return names
}
