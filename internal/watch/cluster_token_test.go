package watch_test

import (
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"

	authentication "k8s.io/api/authentication/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

const token = "a.secret.token"

// A token is accepted only if the API server confirms the user and one of the requested audiences.
// Invariant: I29.
func TestTokenIsAcceptedOnlyForItsAudience(t *testing.T) {
	anna := authentication.UserInfo{
		Username: "anna",
		UID:      "7",
		Groups:   []string{"dev", "system:authenticated"},
		Extra:    map[string]authentication.ExtraValue{"scopes": {"a", "b"}},
	}
	want := &authz.User{
		Name:   "anna",
		UID:    "7",
		Groups: []string{"dev", "system:authenticated"},
		Extra:  map[string][]string{"scopes": {"a", "b"}},
	}
	for _, test := range []struct {
		name      string
		status    authentication.TokenReviewStatus
		audiences []string
		want      *authz.User
	}{
		{"accepted", authentication.TokenReviewStatus{Authenticated: true, User: anna}, nil, want},
		{
			"accepted, audience not requested",
			authentication.TokenReviewStatus{Authenticated: true, User: anna, Audiences: []string{"https://api"}},
			nil, want,
		},
		{
			"audience of this program",
			authentication.TokenReviewStatus{Authenticated: true, User: anna, Audiences: []string{"x", "glasshouse"}},
			[]string{"other", "glasshouse"},
			want,
		},
		{
			"audience of another program",
			authentication.TokenReviewStatus{Authenticated: true, User: anna, Audiences: []string{"x"}},
			[]string{"glasshouse"},
			nil,
		},
		{
			"server without audiences",
			authentication.TokenReviewStatus{Authenticated: true, User: anna},
			[]string{"glasshouse"},
			nil,
		},
		{"not accepted", authentication.TokenReviewStatus{Error: "it is " + token}, nil, nil},
		{
			"not accepted, with a user name",
			authentication.TokenReviewStatus{User: anna, Audiences: []string{"glasshouse"}},
			[]string{"glasshouse"},
			nil,
		},
		{"user without a name", authentication.TokenReviewStatus{Authenticated: true}, nil, nil},
		{
			"anonymous user",
			authentication.TokenReviewStatus{
				Authenticated: true, User: authentication.UserInfo{Username: "system:anonymous"},
			},
			nil, nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := apitest.New(t, kinds()...)
				server.SetTokenReviews(map[string]authentication.TokenReviewStatus{token: test.status})
				got, err := runCluster(t, server).ReviewToken(t.Context(), token, test.audiences)
				if !reflect.DeepEqual(got, test.want) {
					t.Errorf("ReviewToken: got %+v, error %v; want %+v", got, err, test.want)
				}
				p := new(status.Problem)
				if test.want == nil && (!errors.As(err, &p) || p.Cause != status.Unauthenticated) {
					t.Errorf("ReviewToken: got error %v, want the cause Unauthenticated", err)
				}
				if err != nil && strings.Contains(err.Error(), token) {
					t.Errorf("error %q contains the token", err)
				}
			})
		})
	}
}

// The Problem contains no internal names, and the error never contains the token.
// Invariant: I29.
func TestFailedTokenReviewRevealsNoToken(t *testing.T) {
	for name, broken := range map[string]func(*apitest.Server){
		"away":   func(s *apitest.Server) { s.Down(true) },
		"failed": func(s *apitest.Server) { s.MakeUnavailable(apitest.TokenReviewsPath, "etcd-7.internal") },
		"forbidden": func(s *apitest.Server) {
			s.FailPath(apitest.TokenReviewsPath, http.StatusForbidden, "etcd-7.internal")
		},
		"no response": func(s *apitest.Server) { s.Hang(apitest.TokenReviewsPath) },
		"error that contains the token": func(s *apitest.Server) {
			s.Handle(apitest.TokenReviewsPath, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, apitest.Failure(http.StatusBadRequest, "BadRequest", "what is "+token+"?"))
			})
		},
		"invalid response": func(s *apitest.Server) {
			s.Handle(apitest.TokenReviewsPath, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(
					w,
					`{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","status":{"authenticated":"yes"}}`,
				)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := apitest.New(t, kinds()...)
				cluster := runCluster(t, server)
				synctest.Wait()
				broken(server)
				began := time.Now()
				user, err := cluster.ReviewToken(t.Context(), token, nil)
				p := new(status.Problem)
				if user != nil || !errors.As(err, &p) || p.Cause != status.Unavailable {
					t.Fatalf("ReviewToken: got %+v, error %v; want no user because the review failed", user, err)
				}
				if strings.Contains(p.Detail, "etcd-7") || strings.Contains(err.Error(), token) {
					t.Errorf("problem %v or error %v contains private details", p, err)
				}
				if name == "forbidden" && !strings.Contains(p.Detail, "tokenreviews") {
					t.Errorf("the problem does not name the missing permission: %v", p)
				}
				if took := time.Since(began); took > 6*time.Second {
					t.Errorf("ReviewToken took %s, want at most 6 s", took)
				}
			})
		})
	}
}

// Two users are the same if only the order of their groups differs.
func TestOrderOfGroupsDoesNotMatter(t *testing.T) {
	anna := authz.User{Name: "anna", UID: "7", Groups: []string{"a", "b"}, Extra: map[string][]string{"x": {"1", "2"}}}
	if !anna.Same(&authz.User{
		Name: "anna", UID: "7", Groups: []string{"b", "a", "a"}, Extra: map[string][]string{"x": {"2", "1"}},
	}) {
		t.Error("Same: got false for groups in another order")
	}
	for name, other := range map[string]authz.User{
		"name":                 {Name: "bob", UID: "7", Groups: anna.Groups, Extra: anna.Extra},
		"uid":                  {Name: "anna", UID: "8", Groups: anna.Groups, Extra: anna.Extra},
		"additional group":     {Name: "anna", UID: "7", Groups: []string{"a", "b", "c"}, Extra: anna.Extra},
		"groups joined to one": {Name: "anna", UID: "7", Groups: []string{"a b"}, Extra: anna.Extra},
		"no extra":             {Name: "anna", UID: "7", Groups: anna.Groups},
		"other extra":          {Name: "anna", UID: "7", Groups: anna.Groups, Extra: map[string][]string{"x": {"1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if anna.Same(&other) {
				t.Error("Same: got true, want false")
			}
		})
	}
}
