// Package api explains the problem of an object by something that the API server does not serve or accept: a version or
// a part of a CustomResourceDefinition (CRD), a metrics API, a change of a field, an eviction, or a request of a
// service account.
package api

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

//nolint:gochecknoglobals // Constant.
var crdKind = graph.Kind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// maxDefinitions limits how many CRDs are searched for one that serves no version.
const maxDefinitions = 20 * neighbor.Limit

// definition is a CustomResourceDefinition.
type definition struct {
	Spec struct {
		Names struct {
			Kind string `json:"kind"`
		} `json:"names"`
		Versions []version `json:"versions"`
	} `json:"spec"`
}

type version struct {
	Name         string `json:"name"`
	Served       bool   `json:"served"`
	Subresources struct {
		Scale *struct {
			LabelSelectorPath string `json:"labelSelectorPath"`
		} `json:"scale"`
	} `json:"subresources"`
}

// served returns the names of the versions that a CRD serves.
func (d *definition) served() (names []string) {
	for n := range d.Spec.Versions {
		if d.Spec.Versions[n].Served {
			names = append(names, d.Spec.Versions[n].Name)
		}
	}
	return names
}

// definitionOf returns the CRD of a kind. If the CRD does not exist, the result has the usual name of a CRD for this
// kind. The presence is Unknown if the CRD cannot be read, or if the kind is not defined by a CRD.
func definitionOf(s *subject.Subject, kind graph.Kind) neighbor.Neighbor {
	if !resource.IsCustom(kind.Group) {
		return neighbor.Neighbor{}
	}
	named := s.Named(s.ID, &neighbor.Mention{
		Kind: kind.Kind, Group: kind.Group, Namespace: cmp.Or(s.ID.Namespace(), "-"), Name: "-",
	})
	if len(named) > 0 {
		ref := named[0].Resource
		n := s.Find(graph.NewID(crdKind, "", ref[strings.LastIndexByte(ref, '/')+1:]+"."+kind.Group))
		if n.Presence == neighbor.Missing { // The kind is served without a CRD.
			return neighbor.Neighbor{}
		}
		return n
	}
	all, isComplete := subject.AllOf(s, crdKind, "", maxDefinitions)
	for _, n := range all { // A CRD can exist without a version that is served.
		if strings.HasSuffix(n.ID.Name(), "."+kind.Group) &&
			neighbor.Decode[definition](n.Object).Spec.Names.Kind == kind.Kind {
			return n
		}
	}
	isServed := s.Find(graph.NewID(kind, "", "-")).Presence != neighbor.Missing
	if isServed || !isComplete {
		return neighbor.Neighbor{}
	}
	return s.Find(graph.NewID(crdKind, "", pluralOf(kind.Kind)+"."+kind.Group))
}

// pluralOf returns the usual name of the resource of a kind, such as "gateways" or "policies".
func pluralOf(kind string) string {
	name := strings.ToLower(kind)
	stem, isY := strings.CutSuffix(name, "y")
	switch {
	case isY && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeiou"):
		return stem + "ies"
	case sibilant.MatchString(name):
		return name + "es"
	}
	return name + "s"
}

// sibilant matches the ends of words whose plural ends with "es".
var sibilant = regexp.MustCompile(`(s|x|z|ch|sh)$`)
