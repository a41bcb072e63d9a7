package page

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/share"
	"github.com/glasshouse-project/glasshouse/web/templates"
)

// guestLayout returns the template data that only viewers of a share link see.
func (s *Site) guestLayout(g *share.Guest) *templates.Guest {
	parts, _ := json.Marshal(g.Share.Parts)
	sharesList := slices.ContainsFunc(g.Share.Parts, func(p watch.Part) bool {
		return p.Name == "" && !isShownWithObject(p.Resource)
	})
	return &templates.Guest{
		Expires: formatTime(g.Share.Expires), Start: g.Share.To, Leave: s.Base.At(request.LeavePath), Note: g.Share.Note,
		Parts: string(parts), SingleObject: !sharesList,
	}
}

// isShownWithObject reports whether a resource is the log or the events of an object, such as "core/v1/pods/log". The
// page of the object shows them, so a link that shares them does not share a list.
func isShownWithObject(resource string) bool {
	return strings.HasSuffix(resource, "/log") || strings.HasSuffix(resource, "/events")
}
