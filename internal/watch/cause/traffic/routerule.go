package traffic

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// routeRule is a rule of a route of the Gateway API.
type routeRule struct {
	Name    string `json:"name"`
	Matches []struct {
		Path struct {
			Value string `json:"value"`
		} `json:"path"`
		Method any `json:"method"` // The service and the method of a GRPCRoute, or the HTTP method of an HTTPRoute.
	} `json:"matches"`
	BackendRefs []backendRef `json:"backendRefs"`
}

type backendRef struct {
	Group     *string `json:"group"`
	Kind      *string `json:"kind"`
	Name      string  `json:"name"`
	Namespace string  `json:"namespace"`
	Port      int32   `json:"port"`
	Weight    *int32  `json:"weight"`
}

// backends returns the backends to which the rule sends requests. If no backend has a weight, it returns all of them:
// then the Gateway rejects all requests.
func (r *routeRule) backends() []backendRef {
	used := slices.DeleteFunc(slices.Clone(r.BackendRefs), func(b backendRef) bool {
		return b.Weight != nil && *b.Weight == 0
	})
	if len(used) == 0 {
		return r.BackendRefs
	}
	return used
}

// paths returns the paths of the matches, each once.
func (r *routeRule) paths() (paths []string) {
	for n := range r.Matches {
		path := r.Matches[n].Path.Value
		if of, ok := r.Matches[n].Method.(map[string]any); ok {
			service, _ := of["service"].(string)
			method, _ := of["method"].(string)
			path = "/" + cmp.Or(service, "*") + "/" + cmp.Or(method, "*")
		}
		if path != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// addresses returns the texts that distinguish the rules of a route: a host and a path of each rule. If the rule has a
// name, its text contains the name. Otherwise, it contains its number if another rule has the same addresses. The only
// rule of a route without hosts, paths and name has an empty text.
func addresses(hosts []string, rules []routeRule) []string {
	texts := make([]string, len(rules))
	for n := range rules {
		paths := rules[n].paths()
		if len(hosts) > 0 {
			texts[n] = hosts[0]
		}
		if len(paths) > 0 {
			texts[n] += paths[0]
		}
		switch more := max(1, len(hosts))*max(1, len(paths)) - 1; more {
		case 0:
		case 1:
			texts[n] += " and 1 more address"
		default:
			texts[n] += fmt.Sprintf(" and %d more addresses", more)
		}
	}
	distinct := slices.Clone(texts)
	for n, text := range texts {
		name := rules[n].Name
		isShared := slices.Contains(texts[:n], text) || slices.Contains(texts[n+1:], text)
		if name == "" && isShared {
			name = strconv.Itoa(n + 1)
		}
		switch {
		case name != "" && text == "":
			distinct[n] = "Rule " + name
		case name != "":
			distinct[n] += " (rule " + name + ")"
		}
	}
	return distinct
}
