package traffic

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"

	networking "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// backendConfig is an annotation of a Service in the API of GKE. Its value is JSON with names of BackendConfigs, such
// as {"default": "a", "ports": {"80": "b"}}.
const backendConfig = "cloud.google.com/backend-config"

// missingConfiguration returns the missing BackendConfig that an annotation of one of the Ingress's Services names, or
// nil. Without this object, GKE creates no load balancer for the Ingress, and reports this in the events of the
// Ingress.
func missingConfiguration(s *subject.Subject, paths []path, message string) *verdict.Cause {
	kind := graph.Kind{Group: "cloud.google.com", Kind: "BackendConfig"}
	var services []graph.ID // Paths can share a Service. Each Service is read only once.
	for n := range paths {
		id := graph.NewID(graph.Kind{Kind: "Service"}, paths[n].namespace, paths[n].name)
		if len(services) == neighbor.Limit || slices.Contains(services, id) {
			continue
		}
		services = append(services, id)
		service := s.Find(id)
		text := neighbor.Decode[metav1.PartialObjectMetadata](service.Object).Annotations[backendConfig]
		var value struct {
			Default string            `json:"default"`
			Ports   map[string]string `json:"ports"`
		}
		if text == "" || json.Unmarshal([]byte(text), &value) != nil {
			continue
		}
		s.AddSource(service.Resource, paths[n].namespace)
		names := slices.Compact(slices.Sorted(maps.Values(value.Ports)))
		for _, name := range names[:min(len(names), neighbor.Limit)] {
			if c := missingObject(s, graph.NewID(kind, paths[n].namespace, name), message); c != nil {
				return c
			}
		}
		if c := missingObject(s, graph.NewID(kind, paths[n].namespace, value.Default), message); c != nil {
			return c
		}
	}
	return nil
}

// missingObject returns an object as a cause if the object is missing, although the cluster serves its kind. Otherwise,
// it returns nil. The sentence of the cause begins with the given message.
func missingObject(s *subject.Subject, id graph.ID, message string) *verdict.Cause {
	n := s.Find(id)
	if id.Name() == "" || n.Presence != neighbor.Missing || n.Resource == "" {
		return nil
	}
	subject.Follow(s, &n)
	cause := s.MissingCause(&n)
	cause.Sentence = subject.Sentences(message, cause.Sentence)
	return cause
}

// authenticationURL is an annotation of the NGINX Ingress Controller. Before the controller forwards a request, it
// sends a request to the URL in the annotation. If this request gets no response, the first one gets status 500.
const authenticationURL = "nginx.ingress.kubernetes.io/auth-url"

// brokenAuthentication explains an Ingress by the Service that should authenticate its requests.
func brokenAuthentication(s *subject.Subject, o *networking.Ingress) *verdict.Verdict {
	at, err := url.Parse(o.Annotations[authenticationURL])
	if err != nil || at.Host == "" || controllerOf(s, o) != "k8s.io/ingress-nginx" {
		return nil // Another controller ignores the annotation.
	}
	namespace, name := objectrefs.ServiceOf(at.Hostname())
	if name == "" {
		return nil
	}
	service := s.Find(graph.NewID(graph.Kind{Kind: "Service"}, namespace, name))
	subject.Follow(s, &service)
	if !s.IsFailed(&service) {
		return nil
	}
	s.AddSource("networking.k8s.io/v1/ingressclasses", "")
	return s.Inherit(&service, verdict.Failed, "Requests cannot be authenticated: "+service.String()+": ")
}
