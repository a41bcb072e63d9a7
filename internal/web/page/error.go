package page

import (
	"net/http"

	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
	"github.com/glasshouse-project/glasshouse/web/templates"
)

// WriteError renders the HTML page for a failed request. For unidentified senders, the page has no cluster data.
func (s *Site) WriteError(w http.ResponseWriter, r *http.Request, p request.Problem) error {
	if request.HasEndedShare(r) {
		ended := templates.Share{Layout: s.bareLayout(r, p.Title), Ended: true}
		return response.HTML(w, r, p.Status, templates.SharePage(ended))
	}
	if p.Status == http.StatusUnauthorized && s.Auth.HasLogin() {
		to := ""
		if r.Method == http.MethodGet {
			to = r.URL.RequestURI()
		}
		return (&Login{s}).render(w, r, p.Status, to, "")
	}
	failure := templates.Failure{Problem: templates.Problem{Status: p.Status, Title: p.Title, Detail: p.Detail}}
	// Status 429 also gets this short page without menus: no memory is reserved for a longer response.
	if !request.IsIdentified(r) || p.Status == http.StatusTooManyRequests {
		failure.Layout = s.bareLayout(r, p.Title)
		return response.HTML(w, r, p.Status, templates.BareProblemPage(failure))
	}
	failure.Layout, failure.Problem.Next = s.layout(r, p.Title, ""), nextSteps(r, p)
	if p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Refresh", "2")
	}
	if p.Status == http.StatusNotFound && request.Param(r, "resource") != "" {
		failure.Ref = request.RefOf(r)
	}
	return response.HTML(w, r, p.Status, templates.ProblemPage(failure))
}

func nextSteps(r *http.Request, p request.Problem) []templates.Link {
	if p.Status == http.StatusServiceUnavailable {
		return []templates.Link{{Text: "Retrying automatically."}}
	}
	if guest := request.GuestOf(r); guest != nil {
		return []templates.Link{{Text: "Go to the shared view", Href: guest.Share.To}}
	}
	if p.Title == "Unknown namespace" {
		return []templates.Link{{Text: "View namespaces", Href: "/r/core/v1/namespaces"}}
	}
	return []templates.Link{{Text: "Go to Home", Href: "/"}}
}
