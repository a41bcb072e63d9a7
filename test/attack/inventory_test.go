package attack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
)

type route struct {
	name, path string
	method     string
	accept     string
	subscribe  string // First message after the WebSocket upgrade; empty for an HTTP route.
}

type document struct {
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Schemas struct {
			Subscribe struct {
				Properties struct {
					View struct{ Enum []string }
				}
			}
		}
	}
}

// inventory returns all GET routes of the program's OpenAPI document, in every format, and the error pages.
func (s *site) inventory() (routes []route) {
	s.Helper()
	if s.routes != nil {
		return s.routes
	}
	paths := s.paths()
	for path, methods := range paths {
		if _, ok := methods["get"]; ok {
			routes = append(routes, s.variants(path)...)
		}
	}
	routes = append(routes, s.errorPages()...)
	if len(paths) < 25 || len(routes) < 40 {
		s.Fatalf("got only %d paths and %d routes, want at least 25 and 40", len(paths), len(routes))
	}
	slices.SortFunc(routes, func(a, b route) int { return strings.Compare(a.name, b.name) })
	s.routes = routes
	return routes
}

func (s *site) paths() map[string]map[string]json.RawMessage {
	s.Helper()
	return s.openAPI().Paths
}

func (s *site) openAPI() *document {
	s.Helper()
	if s.document.Paths == nil {
		s.check(json.Unmarshal([]byte(s.do(get("/api/openapi.json")).body), &s.document))
	}
	return &s.document
}

// writes returns POST, PUT and DELETE requests for each path, even where they are unsupported.
func (s *site) writes() (routes []route) {
	s.Helper()
	paths := slices.Sorted(maps.Keys(s.paths()))
	for i, path := range paths {
		methods := []string{http.MethodPost, http.MethodPut, http.MethodDelete}
		if !isFull() {
			methods = methods[i%3 : i%3+1]
		}
		for _, method := range methods {
			routes = append(routes, route{name: method + " " + path, path: s.fillPath(path), method: method})
		}
	}
	return routes
}

func (s *site) errorPages() (routes []route) {
	s.Helper()
	absent := configMaps + "/" + s.namespace + "/absent"
	for name, path := range map[string]string{
		"unknown page":            "/no/such/page",
		"unknown route":           "/api/v1/no-such-route",
		"unknown file":            "/static/no-such-file.js",
		"unknown object":          "/o/" + absent,
		"unknown object, API":     "/api/v1/object/" + absent,
		"unknown resource":        "/r/none.example.com/v1/nothings",
		"invalid query":           "/api/v1/snapshot/" + configMaps + "?limit=-1",
		"compare without objects": "/compare?a=" + url.QueryEscape(absent) + "&b=" + url.QueryEscape(absent),
	} {
		routes = append(routes, route{name: "error: " + name, path: path, accept: "text/html"})
	}
	return routes
}

func (s *site) variants(path string) (routes []route) {
	s.Helper()
	if path == "/api/v1/live" {
		return s.subscriptions()
	}
	queries := map[string][]string{
		"/r/{group}/{version}/{resource}": {"?ns=" + s.namespace},
		"/compare":                        {s.comparison()},
		"/api/v1/search":                  {"?q=huge"},
		"/api/v1/snapshot/{group}/{version}/{resource}": {
			"?format=json", "?format=ndjson", "?format=csv", "?format=yaml",
			"?view=objects&format=json", "?view=objects&format=ndjson", "?view=objects&format=yaml",
		},
		"/api/v1/object/{group}/{version}/{resource}/{namespace}/{name}": {"?format=json", "?format=yaml"},
		"/api/v1/logs/{namespace}/{name}":                                {"?tail=5000", "?follow=true&tail=5000"},
	}[path]
	if queries == nil {
		queries = []string{""}
	}
	filled := s.fillPath(path)
	for _, query := range queries {
		if strings.Contains(path, "snapshot") {
			query += "&ns=" + s.namespace
		}
		routes = append(routes, route{name: strings.TrimSpace(path + " " + shorten(query)), path: filled + query})
	}
	return routes
}

func (s *site) comparison() string {
	side := func(name string) string { return url.QueryEscape(configMaps + "/" + s.namespace + "/" + name) }
	return "?a=" + side("huge-0") + "&b=" + side("huge-1")
}

// shorten removes generated namespaces from a query, because route names must be the same in each run.
func shorten(query string) string {
	return regexp.MustCompile(`[?&](ns|a|b)=[^&]*`).ReplaceAllString(query, "")
}

func (s *site) fillPath(path string) string {
	s.Helper()
	namespace, name := s.namespace, "huge-0"
	if strings.Contains(path, "/logs/") {
		namespace, name = "shop", s.pod
	}
	filled := strings.NewReplacer(
		"{group}", "core", "{version}", "v1", "{resource}", "configmaps", "{namespace}", namespace,
		"{name}", name, "{file}", "app.js", "{id}", "no-such-share").Replace(path)
	// Fail for an unknown path parameter. Otherwise, the attacks would omit routes with this parameter.
	if strings.Contains(filled, "{") {
		s.Fatalf("path %s has parameters without values in this test: add them", path)
	}
	return filled
}

// subscriptions returns one WebSocket route per view (form of messages), and one with the maximum number of
// subscriptions.
func (s *site) subscriptions() (routes []route) {
	s.Helper()
	list := fmt.Sprintf(`,"resource":%q,"ns":[%q]`, configMaps, s.namespace)
	object := list + `,"name":"huge-0"`
	views := map[string]string{
		"rows": list, "table": list, "window": list + `,"count":500`, "object": object, "changes": list,
		"resources": "", "overview": fmt.Sprintf(`,"ns":[%q]`, s.namespace), "explanation": object, "rates": list,
		"log": fmt.Sprintf(`,"resource":"core/v1/pods","ns":["shop"],"name":%q,"tail":5000,"follow":true`, s.pod),
	}
	s.requireViews(views)
	var many []string
	for view, members := range views {
		text := fmt.Sprintf(`{"op":"subscribe","id":1,"view":%q%s}`, view, members)
		routes = append(routes, route{name: "socket " + view, path: "/api/v1/live", subscribe: text})
		if !slices.Contains([]string{"rows", "table", "window", "object", "changes"}, view) {
			continue
		}
		for range 20 {
			id := fmt.Sprintf(`"id":%d,`, len(many)+1)
			many = append(many, strings.Replace(text, `"id":1,`, id, 1))
		}
	}
	return append(routes, route{
		name: manySubscriptions, path: "/api/v1/live", subscribe: "[" + strings.Join(many, ",") + "]",
	})
}

// requireViews fails if a view of the OpenAPI document is missing. Otherwise, the attacks would omit this view.
func (s *site) requireViews(views map[string]string) {
	s.Helper()
	documented := s.openAPI().Components.Schemas.Subscribe.Properties.View.Enum
	if len(documented) < 5 {
		s.Fatalf("got only %d views in the OpenAPI document, want at least 5", len(documented))
	}
	for _, view := range documented {
		if _, ok := views[view]; !ok {
			s.Fatalf("the view %s has no subscription in this test: add it", view)
		}
	}
}

const manySubscriptions = "socket 100 subscriptions"

func (r route) request(address string, headers ...string) request {
	if r.accept != "" {
		headers = append([]string{"Accept: " + r.accept}, headers...)
	}
	if r.subscribe == "" {
		return request{method: cmp.Or(r.method, http.MethodGet), path: r.path, headers: headers}
	}
	headers = livetest.UpgradeHeader(append([]string{"Origin: http://" + address}, headers...)...)
	return request{method: http.MethodGet, path: r.path, headers: headers, body: livetest.TextFrame(r.subscribe)}
}
