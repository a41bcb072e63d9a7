package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"glasshouse/internal/watch/apitest"
)

// unread is an answer that nobody reads until it is told to.
type unread struct {
	*httptest.ResponseRecorder

	read chan struct{}
}

func (u *unread) Write(p []byte) (int, error) {
	<-u.read
	return u.ResponseRecorder.Write(p)
}

// Of answers that take long a few at a time are made for one address; others of it
// wait, and are refused where that is for long. Nobody else waits for them.
func TestAnswersInTurn(t *testing.T) {
	inBubble(t, func(b *bubble) {
		handler, err := b.server.Handler()
		if err != nil {
			b.t.Fatal(err)
		}
		for n := range 50 {
			b.api.Set(podsRef, apitest.Item{Namespace: "a", Name: fmt.Sprint("long-", n), Rest: fmt.Sprintf(`"spec":{"long":%q}`, strings.Repeat("x", 2000))})
		}
		const objects, graph = "/api/v1/snapshot/core/v1/pods?view=objects", "/api/v1/related/core/v1/pods/a/web-1"
		ask := func(w http.ResponseWriter, address, path string) {
			r := httptest.NewRequestWithContext(b.t.Context(), http.MethodGet, path, nil)
			r.Host, r.RemoteAddr = "localhost", address+":1"
			handler.ServeHTTP(w, r)
		}
		want := func(what, address, path string, status int, after time.Duration) {
			b.t.Helper()
			began, w := time.Now(), httptest.NewRecorder()
			ask(w, address, path)
			if took := time.Since(began); w.Code != status || took < after || took > after+time.Second {
				b.t.Errorf("%s: got %d after %v, want %d after %v: %.200s", what, w.Code, took, status, after, w.Body)
			}
			if (w.Header().Get("Retry-After") != "") != (status == http.StatusTooManyRequests) {
				b.t.Errorf("%s: Retry-After is %q", what, w.Header().Get("Retry-After"))
			}
		}
		const one, other = "192.0.2.1", "192.0.2.2"
		want("rows, which are watched from now on", one, "/api/v1/snapshot/core/v1/pods", http.StatusOK, 0)
		held := []*unread{}
		for range 2 {
			u := &unread{httptest.NewRecorder(), make(chan struct{})}
			held = append(held, u)
			go ask(u, one, objects)
		}
		synctest.Wait()
		want("a third export", one, objects, http.StatusTooManyRequests, 10*time.Second)
		want("rows beside it", one, "/api/v1/snapshot/core/v1/pods", http.StatusOK, 0)
		want("somebody else's export", other, objects, http.StatusOK, 0)
		close(held[0].read)
		synctest.Wait()
		want("an export after one has been read", one, objects, http.StatusOK, 0)
		close(held[1].read)
		synctest.Wait()

		b.api.Hang("/api/v1/namespaces/a/services") // Which is waited for for 3 s.
		b.api.Hang("/api/v1/services")
		answers := make(chan time.Duration, 3)
		for range 3 {
			go func() {
				began := time.Now()
				ask(httptest.NewRecorder(), one, graph)
				answers <- time.Since(began)
			}()
		}
		first, second, third := <-answers, <-answers, <-answers
		if first != second || third < 2*first || first < time.Second {
			b.t.Errorf("graphs took %v, %v and %v, want the third to come after the first two", first, second, third)
		}
	}, apitest.Kind{Ref: "core/v1/services", Kind: "Service"})
}
