package neighbor

// ServiceNames returns the possible names of the Service of an EndpointSlice, if the label with this name is missing:
// the name of the EndpointSlice, and each prefix of it that is followed by a hyphen.
func ServiceNames(slice string) []string {
	names := []string{slice}
	for end := len(slice) - 1; end > 0; end-- {
		if slice[end] == '-' {
			names = append(names, slice[:end])
		}
	}
	return names
}
