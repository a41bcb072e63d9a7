package api

import (
	"net/http"

	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
)

// Object responds with one object as JSON or YAML.
func (d *Data) Object(w http.ResponseWriter, r *http.Request) error {
	values, err := request.ValuesOf(r, "format")
	if err != nil {
		return err
	}
	preferred := formatOf(r)
	if preferred != "yaml" {
		preferred = "json"
	}
	format, err := request.Choose(values, "format", preferred, "json", "yaml")
	if err != nil {
		return err
	}
	text, err := d.Reader.Access(r).Object(r.Context(), request.RefOf(r), request.NamespaceOf(r), request.Param(r, "name"))
	if err != nil {
		return err
	}
	if format == "yaml" {
		if text, err = d.Reader.ToYAML(r, text); err != nil {
			return err
		}
		response.Of(r).Grow(int64(len(text)))
	}
	if err := response.Of(r).Build(r.Context()); err != nil {
		return err
	}
	w.Header().Set("Content-Type", contentType(format))
	_, err = w.Write(text)
	return err
}
