package web

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"glasshouse/internal/watch"
	"glasshouse/internal/web/share"
	"glasshouse/web/templates"
)

// guestFrame returns the data for the parts of a page that only guests see, outside the content of the page.
func (s *Server) guestFrame(g *share.Guest) *templates.Guest {
	parts, _ := json.Marshal(g.Share.Parts) // Strings always encode.
	lists := slices.ContainsFunc(g.Share.Parts, func(p watch.Part) bool {
		return p.Name == "" && !isBeside(p.Resource)
	})
	return &templates.Guest{
		Expires: stamp(g.Share.Expires), Start: g.Share.To, Leave: s.base.At(leavePath), Note: g.Share.Note,
		Parts: string(parts), One: !lists,
	}
}

// isBeside reports whether a resource is logs or events. These are shared together with an object, and shown on its
// page.
func isBeside(resource string) bool {
	return strings.HasSuffix(resource, "/log") || strings.HasSuffix(resource, "/events")
}

// inKiosk reports whether a request is for kiosk mode, for a wall display.
func inKiosk(r *http.Request) bool { return r.URL.Query().Get("kiosk") == "1" }
