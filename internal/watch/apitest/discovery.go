package apitest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

type jsonObject map[string]any

func (s *Server) versions() (groups []string, byGroup map[string][]string) {
	byGroup = make(map[string][]string)
	for _, k := range s.kinds {
		group, rest, _ := strings.Cut(k.Ref, "/")
		version, _, _ := strings.Cut(rest, "/")
		if !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
		if !slices.Contains(byGroup[group], version) {
			byGroup[group] = append(byGroup[group], version)
		}
	}
	return groups, byGroup
}

func (s *Server) groups(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	core := r.URL.Path == "/api"
	names, versions := s.versions()
	names = slices.DeleteFunc(names, func(name string) bool { return (name == "core") != core })
	if !s.plainDiscovery && strings.Contains(r.Header.Get("Accept"), "as=APIGroupDiscoveryList") {
		var items []jsonObject
		for _, name := range names {
			var list []jsonObject
			for _, version := range versions[name] {
				list = append(
					list,
					jsonObject{"version": version, "freshness": "Current", "resources": s.discovered(name, version)},
				)
			}
			items = append(
				items, jsonObject{"metadata": jsonObject{"name": strings.TrimPrefix(name, "core")}, "versions": list},
			)
		}
		write(
			w, aggregatedType,
			jsonObject{
				"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": jsonObject{},
				"items": items,
			},
		)
		return
	}
	if core {
		write(w, "application/json", jsonObject{"kind": "APIVersions", "versions": versions["core"]})
		return
	}
	groups := []jsonObject{}
	for _, name := range names {
		var list []jsonObject
		for _, version := range versions[name] {
			list = append(list, jsonObject{"groupVersion": name + "/" + version, "version": version})
		}
		groups = append(groups, jsonObject{"name": name, "versions": list, "preferredVersion": list[0]})
	}
	write(w, "application/json", jsonObject{"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

func (s *Server) discovered(group, version string) (list []jsonObject) {
	for _, k := range s.kinds {
		name, ok := strings.CutPrefix(k.Ref, group+"/"+version+"/")
		if !ok {
			continue
		}
		scope := "Namespaced"
		if k.Cluster {
			scope = "Cluster"
		}
		list = append(list, jsonObject{
			"resource": name, "responseKind": jsonObject{"kind": k.Kind.Kind}, "scope": scope,
			"shortNames": k.ShortNames, "verbs": k.Verbs,
			"subresources": []jsonObject{
				{"subresource": "status", "responseKind": jsonObject{"kind": k.Kind.Kind}, "verbs": []string{"get"}},
			},
		})
	}
	return list
}

// resources responds to a discovery request for the resources of one group and version (without aggregation).
func (s *Server) resources(w http.ResponseWriter, group, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []jsonObject{}
	for _, k := range s.kinds {
		if name, ok := strings.CutPrefix(k.Ref, group+"/"+version+"/"); ok {
			list = append(list,
				jsonObject{
					"name": name, "kind": k.Kind.Kind, "namespaced": !k.Cluster, "shortNames": k.ShortNames,
					"verbs": k.Verbs,
				},
				jsonObject{
					"name": name + "/status", "kind": k.Kind.Kind, "namespaced": !k.Cluster,
					"verbs": []string{"get"},
				})
		}
	}
	if len(list) == 0 {
		fail(w, http.StatusNotFound, "the server could not find the requested resource")
		return
	}
	write(w, "application/json", jsonObject{
		"kind": "APIResourceList", "apiVersion": "v1",
		"groupVersion": strings.TrimPrefix(group+"/"+version, "core/"), "resources": list,
	})
}

func write(w http.ResponseWriter, contentType string, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	respond(w, contentType, string(text))
}
