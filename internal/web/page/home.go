package page

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
	"github.com/glasshouse-project/glasshouse/web/templates"
)

// homeFindings is the maximum number of findings in the HTML. The script shows all.
const homeFindings = 50

// Home renders the problems of the cluster. Guests whose link shares one list or object get the page of their link.
func (s *Site) Home(w http.ResponseWriter, r *http.Request) error {
	values, err := request.ValuesOf(r, "ns", "q", "kiosk")
	if err != nil {
		return err
	}
	namespaces, start := request.NamespacesOf(values), request.ClusterOf(r).Namespace
	to := ""
	switch guest := request.GuestOf(r); {
	case guest != nil && !s.hasHome(r):
		to = guest.Share.To
	case len(namespaces) == 1:
		to = namespacePath(namespaces[0])
	case guest == nil && start != "" && !values.Has("ns"):
		to = namespacePath(start)
	}
	if to == "" {
		return s.home(w, r, namespaces, values)
	}
	if values.Get("q") != "" && strings.HasPrefix(to, "/ns/") {
		to += "?" + url.Values{"q": values["q"]}.Encode()
	}
	if request.IsKiosk(r) {
		to = templates.KioskRoute(to)
	}
	http.Redirect(w, r, s.Base.At(to), http.StatusSeeOther)
	return nil
}

// Namespace renders the problems of one namespace.
func (s *Site) Namespace(w http.ResponseWriter, r *http.Request) error {
	values, err := request.ValuesOf(r, "q", "kiosk")
	if err != nil {
		return err
	}
	return s.home(w, r, []string{request.Param(r, "namespace")}, values)
}

func namespacePath(ns string) string { return "/ns/" + url.PathEscape(ns) }

// hasHome reports whether the viewer has a home page. A guest has one in two cases: the share link contains several
// lists, or the link opens the home page or the problems of a namespace.
func (s *Site) hasHome(r *http.Request) bool {
	guest := request.GuestOf(r)
	if guest == nil {
		return true
	}
	if _, ok := guest.Share.HomeNamespace(); ok {
		return true
	}
	lists := map[string]bool{}
	for _, part := range guest.Share.Parts {
		if part.Name == "" && !isShownWithObject(part.Resource) {
			lists[part.Resource] = true
		}
	}
	return len(lists) > 1
}

func (s *Site) home(w http.ResponseWriter, r *http.Request, namespaces []string, values url.Values) error {
	access := s.Reader.Access(r)
	// Return an error if the API server has never responded: it is then still unknown which resources it has.
	if _, err := access.Resource(r.Context(), "core/v1/pods"); isUnavailable(err) {
		return err
	}
	// Query one pod, to check that the requested namespaces exist.
	if len(namespaces) > 0 {
		q := query.Query{Resource: "core/v1/pods", Namespaces: namespaces, Limit: 1}
		if _, err := access.Snapshot(r.Context(), q, 0); isNamespaceProblem(err) {
			return err
		}
	}
	document, err := s.Reader.Overview(r, namespaces, pageWait)
	if err != nil {
		return err
	}
	page := templates.Home{
		Name: "Home", Href: "/", Namespaces: namespaces, Q: values.Get("q"),
		Limited: request.GuestOf(r) == nil && request.ClusterOf(r).Namespace != "",
	}
	if len(namespaces) == 1 {
		page.Name, page.Href = namespaces[0], namespacePath(namespaces[0])
	}
	if len(namespaces) > 0 && s.hasHome(r) {
		page.AllHref = "/"
		if page.Limited {
			page.AllHref = "/?ns="
		}
	}
	formatHome(&page, document, linkerFor(r), time.Now())
	title := page.Name
	// No title yet: it is set below. The template adds the cluster's name to it.
	page.Layout = s.layout(r, "", "", namespaces...)
	if page.Failed > 0 {
		title = fmt.Sprintf("(%d) %s", page.Failed, title)
	}
	page.Title, page.AtHome = title, len(namespaces) == 0
	page.Assets.Chunks, page.Assets.PageStyle = s.Assets.Chunks("home"), s.Assets.URL("home.css")
	return response.HTML(w, r, http.StatusOK, templates.HomePage(page))
}

func isUnavailable(err error) bool {
	p, ok := errors.AsType[*status.Problem](err)
	return ok && p.Cause == status.Unavailable
}

// isNamespaceProblem reports whether an error is due to the selected namespaces.
func isNamespaceProblem(err error) bool {
	p, ok := errors.AsType[*status.Problem](err)
	return ok && (p.Cause == status.Invalid || p.Cause == status.Unknown && p.Title == "Unknown namespace")
}

// linker returns the route of an object's page, or "" if the viewer cannot open it. The route opens the given tab of
// the page. An empty tab means the first tab.
type linker func(o *verdict.Object, tab string) string

// linkerFor returns a linker for the sender of a request. Guests get links only to objects of their share link.
func linkerFor(r *http.Request) linker {
	guest := request.GuestOf(r)
	return func(o *verdict.Object, tab string) string {
		if o.Resource == "" || o.Name == "" {
			return ""
		}
		if guest != nil && !includes(guest.Share.Parts, o, o.Resource) {
			return ""
		}
		if guest != nil && tab == "logs" && !includes(guest.Share.Parts, o, "core/v1/pods/log") {
			return ""
		}
		path := request.ObjectPath(o.Resource, o.Namespace, o.Name)
		if tab != "" {
			path += "?tab=" + tab
		}
		return path
	}
}

// includes reports whether a part of a share link shares the resource for objects with the namespace and name of o.
func includes(parts []watch.Part, o *verdict.Object, resource string) bool {
	return slices.ContainsFunc(parts, func(p watch.Part) bool {
		return p.Resource == resource && (p.Name == "" || p.Name == o.Name) &&
			(len(p.Namespaces) == 0 || slices.Contains(p.Namespaces, o.Namespace))
	})
}
