package web_test

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/web/auth"
)

// slowReader reads at most bytesPerSecond bytes per second from a connection; 0 means no limit.
type slowReader struct {
	io.Reader

	bytesPerSecond int
}

func (s *slowReader) Read(p []byte) (int, error) {
	if s.bytesPerSecond > 0 {
		<-time.After(time.Second)
		p = p[:min(len(p), s.bytesPerSecond)]
	}
	return s.Reader.Read(p)
}

// readAtRate reads a response at the given rate. The path can end with a space and a content encoding, such as "/status
// gzip".
func (b *bubble) readAtRate(
	path string, bytesPerSecond int, onHeader func(),
) (size int, duration time.Duration, err error) {
	b.t.Helper()
	conn, err := b.dial(b.t.Context(), "", "")
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }() // This also ends the response, so its body is not closed.
	path, encoding, _ := strings.Cut(path, " ")
	if _, err := fmt.Fprintf(
		conn,
		"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/html\r\n"+
			"Accept-Encoding: %s\r\nAuthorization: Bearer %s\r\n\r\n",
		path, encoding, validToken,
	); err != nil {
		b.t.Fatal(err)
	}
	// Read the header without a limit (0). Reading it slowly would take longer than StallTimeout, 20 s per 4 KiB.
	slow := &slowReader{conn, 0}
	response, err := http.ReadResponse(bufio.NewReaderSize(slow, 16), nil)
	if err != nil || response.StatusCode != http.StatusOK {
		b.t.Fatalf("%s: got response %+v, error %v", path, response, err)
	}
	slow.bytesPerSecond = bytesPerSecond
	onHeader()
	began := time.Now()
	read, err := io.Copy(io.Discard, response.Body)
	return int(read), time.Since(began), err
}

// addManyObjects adds objects that make every response long. watchAll makes the dashboard watch their resources.
func (b *bubble) addManyObjects() (watchAll func()) {
	b.t.Helper()
	all := []string{podsRef}
	for n := range 32 {
		ref := fmt.Sprintf("example.com/v1/kind-of-many-%02d", n)
		b.api.AddKind(apitest.Kind{
			Ref: ref, Kind: fmt.Sprintf("Many%02d", n), Columns: `[{"name":"Name","type":"string"}]`,
		})
		all = append(all, ref)
	}
	long, noise := strings.Repeat("long-", 20), make([]byte, 12<<10)
	_, _ = rand.Read(noise) // Random data stays long even if the response is compressed.
	var owners []string
	for n := range 100 {
		b.api.Set(podsRef, apitest.Item{
			Namespace: "a", Name: fmt.Sprint("many-", long, n), Cells: fmt.Sprintf(`["many-%s%d","Running"]`, long, n),
			Rest: `"status":{"phase":"Failed"}`,
		})
		owners = append(owners, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","name":"many-%s%d","uid":"x"}`, long, n))
	}
	b.api.Set(podsRef, apitest.Item{
		Namespace: "a", Name: "large", Metadata: `"ownerReferences":[` + strings.Join(owners, ",") + "]",
		Cells: `["large","Running"]`, Rest: fmt.Sprintf(`"spec":{"note":"%x"}`, noise),
	})
	<-time.After(time.Minute) // Wait until the server has repeated API discovery.
	return func() {
		for _, ref := range all {
			if _, _, err := b.readAtRate("/api/v1/snapshot/"+ref+"?limit=1", 0, func() {}); err != nil {
				b.t.Fatalf("%s: %v", ref, err)
			}
		}
	}
}

// revocationPaths returns paths of all routes that respond with cluster data, in the form that readAtRate accepts.
func revocationPaths() []string {
	return []string{
		"/", "/ns/a", "/r/" + podsRef, "/o/" + podsRef + "/a/large", "/compare?a=" + podsRef + "/a/large", "/status",
		"/api/v1/resources", "/api/v1/status", "/api/v1/problems",
		"/api/v1/snapshot/" + podsRef + "?ns=a&view=objects&format=json",
		"/api/v1/snapshot/" + podsRef + "?format=ndjson", "/api/v1/snapshot/" + podsRef + "?format=csv",
		"/api/v1/snapshot/" + podsRef + "?format=yaml",
		"/api/v1/object/" + podsRef + "/a/large", "/api/v1/object/" + podsRef + "/a/large?format=yaml",
		"/api/v1/object/" + podsRef + "/a/large gzip",
		"/api/v1/related/" + podsRef + "/a/large", "/api/v1/search?q=many&limit=100",
	}
}

// Each route that is not public is either tested by TestResponsesEndWhenPermissionIsRevoked, or listed here with the
// test that covers it.
func TestRevocationPathsHaveEveryRoute(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{
		"GET /api/v1/live":                    true, // Covered by TestRevokedPermissionsStopUpdatesIn15Seconds.
		"GET /api/v1/logs/{namespace}/{name}": true, // Covered by TestLogEndsWhenPermissionIsRevoked.
		// The response has at most 20 short entries, which are sent at once. Covered by TestAuthorsRequirePermissionToGet.
		"GET /api/v1/authors/{group}/{version}/{resource}/{namespace}/{name}": true,
		// These routes return the kubeconfig's contexts or share links, but no data of the API server.
		"GET /contexts": true, "POST /contexts": true, "GET /api/v1/contexts": true, "POST /api/v1/context": true,
		"GET /api/v1/shares": true, "POST /api/v1/shares": true, "DELETE /api/v1/shares/{id}": true,
	}
	routes, ok := handler(t).(chi.Routes)
	if !ok {
		t.Fatal("the handler is not a chi.Routes")
	}
	for _, path := range revocationPaths() {
		path, _, _ := strings.Cut(path, " ")
		path, _, _ = strings.Cut(path, "?")
		covered["GET "+routes.Find(chi.NewRouteContext(), http.MethodGet, path)] = true
	}
	want := map[string]bool{}
	for _, route := range routeTable(t) {
		if !route.isPublic() {
			want[route.method+" "+route.pattern] = true
		}
	}
	wantSameNames(t, "routes whose responses end when a permission is revoked", covered, want)
}

// On all routes, a response ends within 15 s after a permission that it depends on is revoked.
//
// Invariant: I18.
func TestResponsesEndWhenPermissionIsRevoked(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{auth.Token, auth.None} {
		t.Run(mode, func(t *testing.T) {
			inBubbleWithAuth(t, mode, func(b *bubble) {
				b.api.SetTokenReviews(map[string]authentication.TokenReviewStatus{validToken: acceptedReview()})
				allow := func(allowed bool) {
					b.api.Allow(func(authorization.SubjectAccessReviewSpec) bool { return allowed })
					switch {
					// In the mode token, only the user loses the permission, and the program itself keeps its
					// permissions.
					case mode == auth.Token:
					case allowed:
						b.api.Refuse(podsRef, "", 0, "")
					default:
						b.api.Revoke(podsRef, "")
					}
				}
				allow(true)
				watchAll := b.addManyObjects()
				for _, path := range revocationPaths() {
					if needsPods := strings.Contains(path, "snapshot") ||
						strings.Contains(path, "object"); mode == auth.None && !needsPods {
						continue
					}
					watchAll()
					size, _, err := b.readAtRate(path, 0, func() {})
					if err != nil || size < 8<<10 { // A shorter response would end before the revocation.
						b.t.Errorf("%s: got %d bytes, error %v, want at least 8 KiB", path, size, err)
					}
					_, duration, err := b.readAtRate(path, size/30, func() {})
					if err != nil || duration < 20*time.Second {
						b.t.Errorf("%s with permission: got error %v after %s, want no error", path, err, duration)
					}
					watchAll()
					_, duration, err = b.readAtRate(path, size/30, func() { allow(false) })
					if err == nil || duration > 15*time.Second {
						b.t.Errorf("%s: response continued for %s after the permission was revoked, and ended with error %v",
							path, duration, err)
					}
					allow(true)
					// After a refused list, the server waits before it lists the resource again. Let that (fake) time pass.
					<-time.After(time.Minute)
				}
			})
		})
	}
}
