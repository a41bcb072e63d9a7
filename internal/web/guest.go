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

// guestFrame is what a page has around its content for a guest.
func (s *Server) guestFrame(g *share.Guest) *templates.Guest {
	parts, _ := json.Marshal(g.Share.Parts) // Strings always encode.
	lists := slices.ContainsFunc(g.Share.Parts, func(p watch.Part) bool { return p.Name == "" && !isBeside(p.Resource) })
	return &templates.Guest{
		Expires: stamp(g.Share.Expires), Start: g.Share.To, Leave: s.base.At(leavePath), Note: g.Share.Note, Parts: string(parts), One: !lists,
	}
}

// isBeside reports whether a resource may be shared beside an object, to be seen
// with it.
func isBeside(resource string) bool {
	return strings.HasSuffix(resource, "/log") || strings.HasSuffix(resource, "/events")
}

// inKiosk reports whether a page is asked for as a kiosk: what is shown, for a
// screen on a wall.
func inKiosk(r *http.Request) bool { return r.URL.Query().Get("kiosk") == "1" }
