package web

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"

	"glasshouse/internal/watch/query"
	"glasshouse/internal/web/auth"
	"glasshouse/web/templates"
)

// titleOf returns the title of an object's page, such as "default/web - Pods". The function titleOf in
// web/static/src/model/view.ts must return the same title.
func titleOf(kinds, namespace, name string) string {
	return strings.TrimPrefix(namespace+"/"+name, "/") + " - " + kinds
}

// layout returns the data for the parts of a page around its content, such as the user and the resource picker.
func (s *Server) layout(r *http.Request, title, selected string) templates.Layout {
	layout := templates.Layout{
		Title: title, Version: s.version, Cluster: s.clusterOf(r).Name, ID: s.clusterOf(r).id, Preferences: preferencesOf(r),
		Assets: templates.Assets{
			Script: s.assets.URL("app.js"), Style: s.assets.URL("app.css"), Icon: s.assets.URL("favicon.svg"),
			Chunks: s.assets.Chunks(),
		},
	}
	if guest := guestOf(r); guest != nil {
		layout.Guest, layout.Cluster = s.guestLayout(guest), ""
	} else {
		layout.Banner, layout.Open = s.auth.Banner(), s.isOpen()
		if user := identityOf(r).Viewer.User; user != nil {
			layout.User = user.Name
		}
		if s.contexts != nil {
			layout.Contexts = contextsPath
		}
		if s.auth.HasLogin() {
			layout.Logout = s.base.At(logoutPath)
		}
	}
	resources, groupErrors, err := s.access(r).Resources(r.Context(), 0)
	if err != nil {
		return layout // The content of the page reports the error.
	}
	var kinds []templates.Kind
	for i := range resources {
		k := &resources[i]
		if !k.Preferred && k.Ref() != selected || !k.Can("list") {
			continue
		}
		d := s.resourceDocument(k)
		kinds = append(kinds, templates.Kind{
			Ref: d.Ref, Href: "/r/" + d.Ref, Group: d.Group, Kind: d.Kind, Resource: d.Resource,
			Namespaced: d.Namespaced, ShortNames: d.ShortNames,
			Categories: d.Categories, Count: d.Count, State: string(d.State), Reason: d.Reason,
			Namespaces: len(d.Namespaces), Selected: d.Ref == selected,
		})
	}
	problems := make(map[string]string, len(groupErrors))
	for _, groupError := range groupErrors {
		problems[cmp.Or(groupError.Group, "core")] = groupError.Reason
	}
	layout.Groups = s.sections.Groups(kinds, problems)
	return layout
}

// objectPath returns the path of the page of an object. namespace is empty for a cluster-scoped object.
func objectPath(ref, namespace, name string) string {
	return "/o/" + ref + "/" + url.PathEscape(cmp.Or(namespace, "_")) + "/" + url.PathEscape(name)
}

// isOpen reports whether the server has no login. Every client that can reach such a server sees everything that the
// server shows.
func (s *Server) isOpen() bool {
	mode := s.auth.Mode()
	return mode == auth.None || mode == auth.SharedIdentity
}

// preferencesOf returns the theme and the density from the cookie "look", for example "dark-compact". It ignores
// unknown words.
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
		}
	}
	return preferences
}

// namespaces returns the names of the namespaces that the viewer can list, and the state of that list. It returns no
// names if the viewer cannot list namespaces, or if the first list is not complete yet.
func (s *Server) namespaces(r *http.Request) ([]string, templates.State) {
	snapshot, err := s.access(r).Snapshot(r.Context(), query.Query{Resource: "core/v1/namespaces"}, pageWait)
	if err != nil {
		return nil, templates.State{}
	}
	names := make([]string, len(snapshot.Objects))
	for i, o := range snapshot.Objects {
		names[i] = o.Name()
	}
	return names, stateOf(snapshot.Status)
}

func render(w http.ResponseWriter, r *http.Request, status int, page templ.Component) error {
	if err := responseOf(r).build(r.Context()); err != nil {
		return err
	}
	// Render the page into a buffer first, so that a rendering error does not send half of a page.
	body := pageBuffer{response: responseOf(r)}
	ctx := r.Context()
	if isKiosk(r) {
		ctx = templates.WithKiosk(ctx)
	}
	if err := page.Render(ctx, &body); err != nil {
		return errors.Join(errors.New("render the page"), err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, err := w.Write(body.text)
	return err
}
