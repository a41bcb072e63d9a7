// Package page serves the HTML pages. A page contains an object or the first rows of a list, so that it works without
// a script. The script then keeps these data current. Pages for senders that are not identified contain no cluster
// data.
package page

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/web/auth"
	"github.com/glasshouse-project/glasshouse/internal/web/picker"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
	"github.com/glasshouse-project/glasshouse/web"
	"github.com/glasshouse-project/glasshouse/web/templates"
)

// Site contains the configuration and the data sources that the handlers of all HTML pages share.
type Site struct {
	Version  string
	PageRows int // The browser loads a list completely if it has at most this number of rows.
	Base     request.BasePath
	Assets   *web.Assets
	Auth     *auth.Authority // Nil means no login.
	Active   *request.ActiveCluster
	Reader   *response.Reader
	Picker   *picker.List
}

// titleOf returns the title of an object's page. titleOf in web/static/src/model/view.ts must return the same title.
func titleOf(kinds, namespace, name string) string {
	return strings.TrimPrefix(namespace+"/"+name, "/") + " - " + kinds
}

// pluralOf returns the plural of a resource, with the API group if another group has the same kind. The resource picker
// of the page shows the same text.
func pluralOf(access *watch.Access, r *resource.Resource) string {
	plural := r.Plural()
	if r.Group != "" && access.Resources().SharesKind(r) {
		plural += " (" + r.Group + ")"
	}
	return plural
}

// layout returns the frame of a page. selected is the ref of the resource that the page shows, or "". The resource
// picker counts the objects in the namespaces; no namespaces mean all.
func (s *Site) layout(r *http.Request, title, selected string, namespaces ...string) templates.Layout {
	layout := templates.Layout{
		Title: title, Version: s.Version, Cluster: request.ClusterOf(r).Name, ID: request.ClusterOf(r).ID,
		Preferences: preferencesOf(r),
		Assets: templates.Assets{
			Script: s.Assets.URL("app.js"), Style: s.Assets.URL("app.css"), KindIcons: s.Assets.URL("icons.svg"),
			KioskStyle: s.Assets.URL("kiosk.css"),
			Chunks:     s.Assets.Chunks(),
		},
	}
	if s.hasHome(r) {
		layout.Home = "/"
	}
	if guest := request.GuestOf(r); guest != nil {
		layout.Guest, layout.Cluster = s.guestLayout(guest), ""
	} else {
		layout.Banner, layout.Open = s.Auth.Banner(), s.isOpen()
		if user := request.IdentityOf(r).Viewer.User; user != nil {
			layout.User = user.Name
		}
		if s.Active.CanSwitch() {
			layout.Contexts = request.ContextsPath
		}
		if s.Auth.HasLogin() {
			layout.Logout = s.Base.At(request.LogoutPath)
		}
	}
	layout.Assets.Icon = s.Assets.URL(templates.ClusterIcon(layout.Cluster))
	known := s.Reader.Access(r).Resources().In(namespaces)
	resources, groupErrors, err := known.List(r.Context(), 0)
	if err != nil {
		return layout
	}
	var kinds []templates.Kind
	for i := range resources {
		k := &resources[i]
		if !k.Preferred && k.Ref() != selected || !k.Can("list") {
			continue
		}
		d := s.Picker.Document(k)
		kinds = append(kinds, templates.Kind{
			Ref: d.Ref, Href: "/r/" + d.Ref, Group: d.Group, Kind: d.Kind, Resource: d.Resource,
			Namespaced: d.Namespaced, ShortNames: d.ShortNames,
			Categories: d.Categories, Count: d.Count, State: string(d.State), Reason: d.Reason,
			Namespaces: len(d.Namespaces), Selected: d.Ref == selected, Rare: d.Rare,
			IsAmbiguous: k.Group != "" && known.SharesKind(&k.Resource),
		})
	}
	problems := make(map[string]string, len(groupErrors))
	for _, groupError := range groupErrors {
		problems[cmp.Or(groupError.Group, "core")] = groupError.Reason
	}
	layout.Groups = s.Picker.Sections.Groups(kinds, problems)
	return layout
}

// isOpen reports whether the server does not identify users, and therefore shows everything to every client.
func (s *Site) isOpen() bool {
	mode := s.Auth.Mode()
	return mode == auth.None || mode == auth.SharedIdentity
}

// preferencesOf returns the theme and the density from the cookie "look", for example "dark-compact". It ignores a part
// of the cookie that is neither a theme nor a density.
func preferencesOf(r *http.Request) templates.Preferences {
	var preferences templates.Preferences
	cookie, err := r.Cookie("look")
	if err != nil {
		return preferences
	}
	for word := range strings.SplitSeq(cookie.Value, "-") {
		switch word {
		case "light", "dark":
			preferences.Theme = word
		case "compact", "roomy":
			preferences.Density = word
		case "icons":
			preferences.Picker = word
		}
	}
	return preferences
}

// namespaces returns the names of the namespaces that the viewer may see. It waits up to pageWait for their first list.
func (s *Site) namespaces(r *http.Request) ([]string, templates.State) {
	snapshot, err := s.Reader.Access(r).Snapshot(r.Context(), query.Query{Resource: "core/v1/namespaces"}, pageWait)
	if err != nil {
		return nil, templates.State{}
	}
	names := make([]string, len(snapshot.Objects))
	for i, o := range snapshot.Objects {
		names[i] = o.Name()
	}
	return names, stateOf(snapshot.Status)
}

func (s *Site) bareLayout(r *http.Request, title string) templates.Layout {
	return templates.Layout{
		Title: title, Preferences: preferencesOf(r), Open: s.isOpen(),
		Assets: templates.Assets{
			Style: s.Assets.URL("app.css"), Icon: s.Assets.URL("favicon.svg"), KioskStyle: s.Assets.URL("kiosk.css"),
		},
	}
}

func stateOf(s status.Status) templates.State {
	return templates.State{
		State: string(s.State), Reason: s.Reason, Count: s.Count, Total: s.Total,
		Since: s.Since.UTC().Format(time.RFC3339), Namespaces: s.Namespaces,
	}
}
