package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/web"
	"github.com/glasshouse-project/glasshouse/internal/web/auth"
	"github.com/glasshouse-project/glasshouse/internal/web/share"
)

const gadgetsRef = "example.com/v1/gadgets"

// managedBy returns an object whose specification a manager wrote at a time.
func managedBy(namespace, name, manager string, at time.Time) apitest.Item {
	return apitest.Item{
		Namespace: namespace, Name: name,
		Metadata: fmt.Sprintf(`"creationTimestamp":"2026-11-21T10:00:00Z","managedFields":[{"manager":%q,`+
			`"operation":"Update","time":%q,"fieldsV1":{"f:spec":{}}}]`, manager, at.UTC().Format(time.RFC3339)),
	}
}

func changeAt(seconds int) time.Time { return time.Date(2026, 11, 21, 10, 0, seconds, 0, time.UTC) }

// getLastChanges requests the last changes of gadgets, as the user with the given name, if any.
func (b *bubble) getLastChanges(query, user string) httpResponse {
	b.t.Helper()
	handler, err := b.server.Handler()
	if err != nil {
		b.t.Fatal(err)
	}
	path := "/api/v1/last-changes/" + gadgetsRef + query
	r, w := httptest.NewRequestWithContext(b.t.Context(), http.MethodGet, path, nil), httptest.NewRecorder()
	r.Host = "localhost"
	if user != "" {
		r.Header.Set("Authorization", "Bearer "+user+".token")
	}
	handler.ServeHTTP(w, r)
	return httpResponse{w.Code, w.Header(), w.Body.String()}
}

func (b *bubble) wantLastChanges(name, query, user, want string) {
	b.t.Helper()
	if a := b.getLastChanges(query, user); a.status != http.StatusOK || a.body != want {
		b.t.Errorf("%s: got %d %s\nwant %s", name, a.status, a.body, want)
	}
}

// The last changes are those of the cached objects, without a delay, and also while the API server does not respond.
func TestLastChangesAreFromTheCache(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.api.Set(gadgetsRef,
			managedBy("a", "created", "helm", changeAt(0)), managedBy("a", "edited", "kubectl-edit", changeAt(5)),
			managedBy("a", "unknown", "kube-controller-manager", changeAt(5)), managedBy("b", "other", "argocd", changeAt(9)))
		const inA = `{"items":[{"ns":"a","name":"created","at":"2026-11-21T10:00:00Z","by":"helm","created":true},` +
			`{"ns":"a","name":"edited","at":"2026-11-21T10:00:05Z","by":"%s"}`
		const other = `,{"ns":"b","name":"other","at":"2026-11-21T10:00:09Z","by":"argocd"}`
		const end = `],"truncated":false}`
		b.wantLastChanges("all", "", "", fmt.Sprintf(inA, "kubectl-edit")+other+end)
		b.wantLastChanges("one namespace", "?ns=a", "", fmt.Sprintf(inA, "kubectl-edit")+end)

		b.api.Set(gadgetsRef, managedBy("a", "edited", "kubectl-patch", changeAt(5)))
		<-time.After(time.Second)
		b.wantLastChanges("after a change", "?ns=a", "", fmt.Sprintf(inA, "kubectl-patch")+end)
		before := len(b.api.Requests("gadgets"))
		b.api.Down(true)
		<-time.After(30 * time.Second)
		b.wantLastChanges("without the API server", "?ns=a", "", fmt.Sprintf(inA, "kubectl-patch")+end)
		b.api.Down(false)
		if got := b.api.Requests("gadgets"); before != 2 {
			b.t.Errorf("got the requests %q, want one list and one watch", got)
		}
		b.wantProblem("unknown parameter", b.getLastChanges("?q=x", ""), http.StatusBadRequest,
			"Unknown parameter", "ns")
	}, apitest.Kind{Ref: gadgetsRef, Kind: "Gadget"})
}

func TestLastChangesOfAListThatIsNotAvailable(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.api.Refuse(gadgetsRef, "", http.StatusForbidden, "no")
		b.wantProblem("refused list", b.getLastChanges("", ""), http.StatusForbidden,
			"List not available", "forbidden")
	}, apitest.Kind{Ref: gadgetsRef, Kind: "Gadget"})
}

func TestLastChangesAreLimited(t *testing.T) {
	inBubble(t, func(b *bubble) {
		read := func() (got struct {
			Items     []struct{ Name string }
			Truncated bool
		},
		) {
			a := b.getLastChanges("", "")
			if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != http.StatusOK {
				b.t.Fatalf("got %d %.500s", a.status, a.body)
			}
			return got
		}
		for n := range 5000 {
			b.api.Set(gadgetsRef, managedBy("a", fmt.Sprintf("g-%04d", n), "helm", changeAt(0)))
		}
		if list := read(); len(list.Items) != 5000 || list.Truncated {
			b.t.Errorf("5,000 objects: got %d, truncated %t, want all", len(list.Items), list.Truncated)
		}
		b.api.Set(gadgetsRef, managedBy("a", "g-9999", "helm", changeAt(0)))
		<-time.After(time.Second)
		if list := read(); len(list.Items) != 5000 || !list.Truncated || list.Items[4999].Name != "g-4999" {
			b.t.Errorf("5,001 objects: got %d, truncated %t, want the first 5,000", len(list.Items), list.Truncated)
		}
	}, apitest.Kind{Ref: gadgetsRef, Kind: "Gadget"})
}

// Users get only the changes of objects that they may list.
//
// Invariant: I18.
func TestLastChangesRequirePermissionToList(t *testing.T) {
	inBubbleWithAuth(t, auth.Token, func(b *bubble) {
		users := make(map[string]authentication.TokenReviewStatus)
		for _, name := range []string{"all", "anna", "bert"} {
			user := authentication.UserInfo{Username: name}
			users[name+".token"] = authentication.TokenReviewStatus{Authenticated: true, User: user}
		}
		b.api.SetTokenReviews(users)
		b.api.Allow(func(spec authorization.SubjectAccessReviewSpec) bool {
			r := spec.ResourceAttributes
			return r.Resource != "gadgets" || spec.User == "all" || spec.User == "anna" && r.Namespace == "a"
		})
		for _, namespace := range []string{"a", "b"} {
			b.api.Set("core/v1/namespaces", apitest.Item{Name: namespace})
			b.api.Set(gadgetsRef, managedBy(namespace, "x", "helm", changeAt(0)))
		}
		const inA = `{"ns":"a","name":"x","at":"2026-11-21T10:00:00Z","by":"helm","created":true}`
		const inB = `{"ns":"b","name":"x","at":"2026-11-21T10:00:00Z","by":"helm","created":true}`
		b.wantLastChanges("all", "", "all", `{"items":[`+inA+`,`+inB+`],"truncated":false}`)
		b.wantLastChanges("anna", "", "anna", `{"items":[`+inA+`],"truncated":false}`)
		b.wantLastChanges("anna, two namespaces", "?ns=a&ns=b", "anna", `{"items":[`+inA+`],"truncated":false}`)
		for name, query := range map[string]string{"anna": "?ns=b", "bert": ""} {
			b.wantProblem(name+query, b.getLastChanges(query, name), http.StatusForbidden,
				"Forbidden", "")
		}
	}, apitest.Kind{Ref: gadgetsRef, Kind: "Gadget"},
		apitest.Kind{Ref: "core/v1/namespaces", Kind: "Namespace", Cluster: true})
}

// Guests get no last changes, even of shared objects, because they may see only changes that occur during their visit.
//
// Invariant: I30.
func TestGuestsGetNoLastChanges(t *testing.T) {
	store, err := share.Open(share.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := newSiteWith(t, web.Options{Shares: store})
	guest := s.openShare(s.createShare(shareRequestA))
	path := "/api/v1/last-changes/" + podsRef
	s.wantProblem("guest", s.get(path, guest.cookie), http.StatusForbidden, "Not shared", "")
	if a := s.get(path); a.status != http.StatusOK {
		t.Errorf("host: got %d %s", a.status, a.body)
	}
}
