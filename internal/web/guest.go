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

// guestLayout returns the data for the parts of a page that only guests see, such as the expiry and the note of their
// link.
func (s *Server) guestLayout(g *share.Guest) *templates.Guest {
	parts, _ := json.Marshal(g.Share.Parts) // Cannot fail: strings can always be encoded as JSON.
	sharesList := slices.ContainsFunc(g.Share.Parts, func(p watch.Part) bool {
		return p.Name == "" && !isShownWithObject(p.Resource)
	})
	return &templates.Guest{
		Expires: formatTime(g.Share.Expires), Start: g.Share.To, Leave: s.base.At(leavePath), Note: g.Share.Note,
		Parts: string(parts), SingleObject: !sharesList,
	}
}

// isShownWithObject reports whether a resource is logs or events. Logs and events are shared together with an object,
// and are shown on the page of that object.
func isShownWithObject(resource string) bool {
	return strings.HasSuffix(resource, "/log") || strings.HasSuffix(resource, "/events")
}

// isKiosk reports whether a request is for a page in kiosk mode, for a wall display.
func isKiosk(r *http.Request) bool { return r.URL.Query().Get("kiosk") == "1" }
