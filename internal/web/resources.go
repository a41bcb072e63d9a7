package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"glasshouse/internal/watch"
)

// renewWait is how long the list of resources waits for a new result of discovery.
const renewWait = time.Second

// resourceDocument is one resource in the response of /api/v1/resources.
type resourceDocument struct {
	Group      string      `json:"group"`
	Version    string      `json:"version"`
	Resource   string      `json:"resource"`
	Kind       string      `json:"kind"`
	Namespaced bool        `json:"namespaced"`
	ShortNames []string    `json:"shortNames"`
	Categories []string    `json:"categories"`
	Verbs      []string    `json:"verbs"`
	Preferred  bool        `json:"preferred"`
	Ref        string      `json:"ref"`
	Section    string      `json:"section"`
	State      watch.State `json:"state,omitempty"`
	Reason     string      `json:"reason,omitempty"`
	Namespaces []string    `json:"namespaces,omitempty"`
	Count      *int        `json:"count,omitempty"`
}

// gapDocument is a part of the API that discovery could not read.
type gapDocument struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Reason  string `json:"reason"`
}

// resourcesDocument is the response of /api/v1/resources, and the message of the view resources.
type resourcesDocument struct {
	Build     string             `json:"build"` // The build of the page that the server serves.
	Resources []resourceDocument `json:"resources"`
	Problems  []gapDocument      `json:"problems"`
}

// resources responds with the resources that discovery knows, in the order of the resource picker.
func (s *Server) resources(w http.ResponseWriter, r *http.Request) error {
	known, err := s.known(r.Context(), s.access(r), renewWait)
	if err != nil {
		return err
	}
	if err := responseOf(r).build(r.Context()); err != nil {
		return err
	}
	body, err := json.Marshal(known)
	if err != nil {
		return fmt.Errorf("encode the resources: %w", err)
	}
	sum := sha256.Sum256(body)
	etag := `W/"` + hex.EncodeToString(sum[:12]) + `"`
	w.Header().Set("ETag", etag)
	w.Header().Set("Cache-Control", "private, no-cache")
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return writeJSONText(w, http.StatusOK, body)
}

// known returns the resources that discovery knows, in the order of the resource picker.
func (s *Server) known(ctx context.Context, access *watch.Access, wait time.Duration) (*resourcesDocument, error) {
	known, gaps, err := access.Resources(ctx, wait)
	if err != nil {
		return nil, err
	}
	answer := &resourcesDocument{
		s.assets.Build(), make([]resourceDocument, 0, len(known)), make([]gapDocument, 0, len(gaps)),
	}
	for i := range known {
		answer.Resources = append(answer.Resources, s.resourceDocument(&known[i]))
	}
	slices.SortFunc(answer.Resources, func(a, b resourceDocument) int {
		return cmp.Or(s.sections.Compare(a.Group, a.Resource, b.Group, b.Resource), cmp.Compare(a.Version, b.Version))
	})
	for _, gap := range gaps {
		answer.Problems = append(answer.Problems, gapDocument{cmp.Or(gap.Group, "core"), gap.Version, gap.Reason})
	}
	return answer, nil
}

func (s *Server) resourceDocument(known *watch.Known) resourceDocument {
	group := cmp.Or(known.Group, "core")
	d := resourceDocument{
		Group: group, Version: known.Version, Resource: known.Resource.Resource, Kind: known.Kind,
		Namespaced: known.Namespaced,
		ShortNames: list(known.ShortNames), Categories: list(known.Categories), Verbs: list(known.Verbs),
		Preferred: known.Preferred, Ref: known.Ref(), Section: s.sections.Section(group, known.Resource.Resource),
		Count: known.Count,
	}
	if known.Status != nil {
		d.State, d.Reason, d.Namespaces = known.Status.State, known.Status.Reason, known.Status.Namespaces
	}
	return d
}

// list returns s, or an empty slice if s is nil. In JSON it is then [] and not null.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
