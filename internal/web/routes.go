package web

import (
	"net/http"

	"github.com/glasshouse-project/glasshouse/internal/web/api"
	"github.com/glasshouse-project/glasshouse/internal/web/page"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
)

type route struct {
	method, pattern string
	class           request.Class
	handler         func(http.ResponseWriter, *http.Request) error
	delivery        response.Delivery
	memory          int64 // Estimated memory for building one response, in bytes.
}

const (
	public, anyViewer, notGuests        = request.Public, request.AnyViewer, request.NotGuests
	buffered, bufferedAfterList, direct = response.Buffered, response.BufferedAfterList, response.Direct
	smallMemory, objectMemory           = response.SmallMemory, response.ObjectMemory
	compareMemory, graphMemory          = response.CompareMemory, response.GraphMemory
)

// routes returns all routes of the server. The class of a route defines which senders are allowed to use it.
func (s *Server) routes() []route {
	data := &api.Data{Reader: s.reader, Picker: s.picker}
	logs := &api.Logs{Limits: s.limits, Reader: s.reader}
	contexts := &api.Contexts{Active: s.active}
	shares := &api.Shares{
		Reader: s.reader, Store: s.shares, Admins: s.shareAdmins, Peers: s.peers, Base: s.base, Origin: s.boundary.originFor,
	}
	contextPage := &page.Contexts{Site: s.site}
	guest := &page.Share{Site: s.site, Store: s.shares, Peers: s.peers}
	login := &page.Login{Site: s.site}
	return []route{
		{http.MethodGet, "/", anyViewer, s.site.Home, bufferedAfterList, smallMemory},
		{http.MethodGet, "/ns/{namespace}", anyViewer, s.site.Namespace, bufferedAfterList, smallMemory},
		{http.MethodGet, "/r/{group}/{version}/{resource}", anyViewer, s.site.List, bufferedAfterList, smallMemory},
		{
			http.MethodGet, "/o/{group}/{version}/{resource}/{namespace}/{name}", anyViewer, s.site.Object, buffered,
			objectMemory,
		},
		{http.MethodGet, "/compare", anyViewer, s.site.Compare, buffered, compareMemory},
		{http.MethodGet, "/status", anyViewer, s.site.Status, buffered, smallMemory},
		{http.MethodGet, request.ContextsPath, notGuests, contextPage.List, buffered, smallMemory},
		{http.MethodPost, request.ContextsPath, notGuests, contextPage.SwitchTo, buffered, smallMemory},
		{http.MethodGet, "/api/openapi.json", public, api.OpenAPI, buffered, smallMemory},
		{http.MethodGet, "/api/v1/resources", anyViewer, data.Resources, buffered, smallMemory},
		{
			http.MethodGet, "/api/v1/snapshot/{group}/{version}/{resource}", anyViewer, data.Snapshot, bufferedAfterList,
			smallMemory,
		},
		{
			http.MethodGet, "/api/v1/object/{group}/{version}/{resource}/{namespace}/{name}", anyViewer, data.Object,
			buffered, objectMemory,
		},
		{
			http.MethodGet, "/api/v1/authors/{group}/{version}/{resource}/{namespace}/{name}", notGuests, data.Authors,
			buffered, smallMemory,
		},
		{http.MethodGet, "/api/v1/logs/{namespace}/{name}", anyViewer, logs.Serve, direct, 0},
		{http.MethodGet, "/api/v1/search", anyViewer, data.Search, buffered, smallMemory},
		{http.MethodGet, "/api/v1/problems", anyViewer, data.Problems, bufferedAfterList, objectMemory},
		{
			http.MethodGet, "/api/v1/related/{group}/{version}/{resource}/{namespace}/{name}", anyViewer, data.Related,
			buffered, graphMemory,
		},
		{http.MethodGet, "/api/v1/status", anyViewer, data.Status, buffered, smallMemory},
		{http.MethodGet, "/api/v1/contexts", notGuests, contexts.List, buffered, smallMemory},
		{http.MethodPost, "/api/v1/context", notGuests, contexts.SwitchTo, buffered, smallMemory},
		{http.MethodGet, "/api/v1/live", anyViewer, s.sockets.Serve, direct, 0},
		{http.MethodGet, "/api/v1/shares", notGuests, shares.List, buffered, smallMemory},
		{http.MethodPost, "/api/v1/shares", notGuests, shares.Create, buffered, smallMemory},
		{http.MethodDelete, "/api/v1/shares/{id}", notGuests, shares.Revoke, buffered, smallMemory},
		{http.MethodGet, request.SharePath, public, guest.Landing, buffered, smallMemory},
		{http.MethodPost, request.SharePath, public, guest.Open, buffered, smallMemory},
		{http.MethodPost, request.LeavePath, public, guest.Leave, buffered, smallMemory},
		{http.MethodGet, "/static/*", public, s.static, buffered, smallMemory},
		{http.MethodGet, "/third-party-notices", public, notices, buffered, smallMemory},
		{http.MethodGet, "/healthz", public, s.healthz, direct, 0},
		{http.MethodGet, "/readyz", public, s.readyz, direct, 0},
		{http.MethodGet, request.LoginPath, public, login.Form, buffered, smallMemory},
		{http.MethodPost, request.LoginPath, public, login.Submit, buffered, smallMemory},
		{http.MethodGet, request.CallbackPath, public, login.Callback, buffered, smallMemory},
		{http.MethodPost, request.LogoutPath, public, login.Logout, buffered, smallMemory},
	}
}
