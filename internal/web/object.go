package web

import (
	"net/http"
)

// namespaceOf returns the namespace in the path of a request. It returns "" for the path segment "_", which marks a
// cluster-scoped object.
func namespaceOf(r *http.Request) string {
	if ns := param(r, "namespace"); ns != "_" {
		return ns
	}
	return ""
}

func (s *Server) object(w http.ResponseWriter, r *http.Request) error {
	for name := range r.URL.Query() {
		if name != "format" {
			return badRequest("Unknown parameter", "%.40q is not a parameter here; the only one is format.", name)
		}
	}
	preferred := formatOf(r)
	if preferred != "yaml" {
		preferred = "json"
	}
	format, err := choose(r.URL.Query(), "format", preferred, "json", "yaml")
	if err != nil {
		return err
	}
	text, err := s.access(r).Object(r.Context(), refOf(r), namespaceOf(r), param(r, "name"))
	if err != nil {
		return err
	}
	if format == "yaml" {
		if text, err = s.toYAML(r, text); err != nil {
			return err
		}
		responseOf(r).grow(int64(len(text)))
	}
	if err := responseOf(r).build(r.Context()); err != nil {
		return err
	}
	w.Header().Set("Content-Type", contentType(format))
	_, err = w.Write(text)
	return err
}
