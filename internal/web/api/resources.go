package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/web/picker"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
)

// Resources responds with all resources found by API discovery, in the order of the page's resource picker. The
// parameter ns limits the numbers of objects to these namespaces.
func (d *Data) Resources(w http.ResponseWriter, r *http.Request) error {
	namespaces, err := query.SelectNamespaces(request.NamespacesOf(r.URL.Query()))
	if err != nil {
		return err
	}
	doc, err := d.Picker.Read(r.Context(), d.Reader.Access(r).Resources().In(namespaces), picker.DiscoveryWait)
	if err != nil {
		return err
	}
	if err := response.Of(r).Build(r.Context()); err != nil {
		return err
	}
	body, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("encode the resources: %w", err)
	}
	sum := sha256.Sum256(body)
	etag := `W/"` + hex.EncodeToString(sum[:12]) + `"`
	w.Header().Set("ETag", etag)
	w.Header().Set("Cache-Control", "private, no-cache")
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return response.JSONText(w, http.StatusOK, body)
}
