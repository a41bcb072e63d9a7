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

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/status"

	authentication "k8s.io/api/authentication/v1"

	"glasshouse/internal/watch/apitest"
)

const token = "a.secret.token"

// A token is accepted only if the API server confirms the user and one of the requested audiences.
// Invariant: I29.
func TestReviewToken(t *testing.T) {
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
			"accepted, of an audience that was not asked for",
			authentication.TokenReviewStatus{Authenticated: true, User: anna, Audiences: []string{"https://api"}},
			nil, want,
		},
		{
			"for this program",
			authentication.TokenReviewStatus{Authenticated: true, User: anna, Audiences: []string{"x", "glasshouse"}},
			[]string{"other", "glasshouse"},
			want,
		},
		{
			"for another program",
			authentication.TokenReviewStatus{Authenticated: true, User: anna, Audiences: []string{"x"}},
			[]string{"glasshouse"},
			nil,
		},
		{
			"a server that knows no audiences",
			authentication.TokenReviewStatus{Authenticated: true, User: anna},
			[]string{"glasshouse"},
			nil,
		},
		{"not accepted", authentication.TokenReviewStatus{Error: "it is " + token}, nil, nil},
		{
			"not accepted, with a name",
			authentication.TokenReviewStatus{User: anna, Audiences: []string{"glasshouse"}},
			[]string{"glasshouse"},
			nil,
		},
		{"a user without a name", authentication.TokenReviewStatus{Authenticated: true}, nil, nil},
		{
			"the anonymous user",
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
					t.Errorf("it is %+v, %v; want %+v", got, err, test.want)
				}
				p := new(status.Problem)
				if test.want == nil && (!errors.As(err, &p) || p.Cause != status.Unauthenticated) {
					t.Errorf("the error is %v, want that it is not known who asks", err)
				}
				if err != nil && strings.Contains(err.Error(), token) {
					t.Errorf("the error %q has the token in it", err)
				}
			})
		})
	}
}

// The Problem contains no internal names, and the error never contains the token.
// Invariant: I29.
func TestFailedTokenReview(t *testing.T) {
	for name, broken := range map[string]func(*apitest.Server){
		"away":   func(s *apitest.Server) { s.Down(true) },
		"failed": func(s *apitest.Server) { s.MakeUnavailable(apitest.TokenReviewsPath, "etcd-7.internal") },
		"forbidden": func(s *apitest.Server) {
			s.FailPath(apitest.TokenReviewsPath, http.StatusForbidden, "etcd-7.internal")
		},
		"hangs": func(s *apitest.Server) { s.Hang(apitest.TokenReviewsPath) },
		"echoes": func(s *apitest.Server) {
			s.Handle(apitest.TokenReviewsPath, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, apitest.Failure(http.StatusBadRequest, "BadRequest", "what is "+token+"?"))
			})
		},
		"nonsense": func(s *apitest.Server) {
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
					t.Fatalf("got %+v, %v; want no user, as the review failed", user, err)
				}
				if strings.Contains(p.Detail, "etcd-7") || strings.Contains(err.Error(), token) {
					t.Errorf("the problem is %v, the error %v", p, err)
				}
				if name == "forbidden" && !strings.Contains(p.Detail, "tokenreviews") {
					t.Errorf("the problem does not name the missing permission: %v", p)
				}
				if took := time.Since(began); took > 6*time.Second {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// The order of groups does not matter.
func TestSameUser(t *testing.T) {
	anna := authz.User{Name: "anna", UID: "7", Groups: []string{"a", "b"}, Extra: map[string][]string{"x": {"1", "2"}}}
	if !anna.Same(&authz.User{
		Name: "anna", UID: "7", Groups: []string{"b", "a", "a"}, Extra: map[string][]string{"x": {"2", "1"}},
	}) {
		t.Error("the order of groups makes another user")
	}
	for name, other := range map[string]authz.User{
		"name":          {Name: "bob", UID: "7", Groups: anna.Groups, Extra: anna.Extra},
		"uid":           {Name: "anna", UID: "8", Groups: anna.Groups, Extra: anna.Extra},
		"a group more":  {Name: "anna", UID: "7", Groups: []string{"a", "b", "c"}, Extra: anna.Extra},
		"groups as one": {Name: "anna", UID: "7", Groups: []string{"a b"}, Extra: anna.Extra},
		"no extra":      {Name: "anna", UID: "7", Groups: anna.Groups},
		"other extra":   {Name: "anna", UID: "7", Groups: anna.Groups, Extra: map[string][]string{"x": {"1"}}},
	} {
		if anna.Same(&other) {
			t.Errorf("%s: taken for the same user", name)
		}
	}
}
