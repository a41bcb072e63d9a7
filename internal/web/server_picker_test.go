package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

// A subscription to the resource picker uses little more memory than a subscription to rows.
//
// Invariant: I14.
func TestPickerSubscriptionUsesLittleMemory(t *testing.T) {
	inBubble(t, func(b *bubble) {
		for n := range 300 {
			b.api.AddKind(apitest.Kind{
				Ref: fmt.Sprintf("group-%d.example.com/v1/somethings%d", n/10, n), Kind: fmt.Sprint("Something", n),
			})
		}
		heap := func() int64 {
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc) //nolint:gosec // The value is far below 2^63.
		}
		<-time.After(time.Minute) // Wait until the server has repeated API discovery.
		const tabs = 30
		var perTab []int64
		const rows, picker = `{"op":"subscribe","id":1,"resource":"core/v1/pods"}`,
			`{"op":"subscribe","id":1,"view":"resources"}`
		// The first tab builds the document that all tabs share.
		first := b.open()
		first.Send(picker)
		first.Until(1, "resources")
		// Measure rows twice, and use the higher result: if a measurement also frees garbage of earlier work, its result is
		// too low.
		for _, frame := range []string{rows, picker, rows} {
			before := heap()
			for range tabs {
				tab := b.open()
				tab.Send(frame)
				tab.Until(1, "snapshot", "resources")
			}
			<-time.After(5 * time.Second)
			perTab = append(perTab, (heap()-before)/tabs)
		}
		if perTab[1] > max(perTab[0], perTab[2])+20<<10 {
			b.t.Errorf("tab with the picker uses %d bytes, tab with rows %d or %d", perTab[1], perTab[0], perTab[2])
		}
	})
}

// The resource message contains the build ID of the page, by which open pages detect a new version.
//
// Invariant: I38. After a lost connection, a subscription resumes from its cursor. The page detects a connection on
// which nothing arrives any more. When the server runs a new build of the program, the page reports this. The page
// reloads itself at most once for each build, and only if the URL contains everything that the user has chosen. If the
// page cannot open a WebSocket, it works like a page without JavaScript. During a slow list, the page shows the
// progress if the total number of objects is known. The page shows the round-trip time to the server if it has measured
// this time.
func TestResourcesMessageHasThePageBuild(t *testing.T) {
	s := newSite(t)
	c := s.open(nil)
	c.Send(`{"op":"subscribe","id":1,"view":"resources"}`)
	build := c.Until(1, "resources").Build
	if page := s.get("/r/" + podsRef).body; len(build) != 16 ||
		!strings.Contains(page, `src="/static/app.js?v=`+build+`"`) {
		t.Errorf("build is %q, want that of the page", build)
	}
	if a := s.get("/api/v1/resources"); !strings.HasPrefix(a.body, `{"build":"`+build+`","resources":[`) {
		t.Errorf("/api/v1/resources starts with %.60s", a.body)
	}
}

// A new subscription receives all later changes, even if its first message was built for another subscription.
//
// Invariant: I14.
func TestCatalogChangesDuringSubscribeAreSent(t *testing.T) {
	inBubble(t, func(b *bubble) {
		first := b.open()
		first.Send(`{"op":"subscribe","id":1,"view":"resources"}`)
		first.Until(1, "resources")
		b.open().Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
		synctest.Wait()
		second := b.open()
		second.Send(`{"op":"subscribe","id":1,"view":"resources"}`)
		for began := time.Now(); time.Since(began) < time.Second; {
			for _, r := range second.Until(1, "resources", "heartbeat").Resources {
				if r.Ref == "core/v1/pods" && r.State == "live" {
					return
				}
			}
		}
		b.t.Error("the state of pods was not sent within a second")
	})
}

// If a resource is watched only in some namespaces, the resource message lists these namespaces.
func TestResourcesMessageListsCoveredNamespaces(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.api.Refuse("core/v1/pods", "", http.StatusForbidden, "no")
		b.api.Refuse("core/v1/pods", "a", 0, "")
		c := b.open()
		c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods","ns":["a"]}`)
		c.Until(1, "snapshot")
		c.Send(`[{"op":"unsubscribe","id":1},{"op":"subscribe","id":2,"view":"resources"}]`)
		for range 5 {
			for _, r := range c.Until(2, "resources", "heartbeat").Resources {
				if r.State == "live" && slices.Equal(r.Namespaces, []string{"a"}) {
					return
				}
			}
		}
		b.t.Error("the document does not contain the watched namespace of pods")
	})
}

// Object counts are sent when they change, at most once per second. A new subscription receives them at once.
//
// Invariant: I33.
func TestCountsAreSentAtMostOncePerSecond(t *testing.T) {
	inBubble(t, func(b *bubble) {
		c := b.open()
		c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
		c.Until(1, "snapshot")
		c.Send(`[{"op":"unsubscribe","id":1},{"op":"subscribe","id":2,"view":"resources"}]`)
		began := time.Now()
		if counts := c.Until(2, "counts").ResourceCounts; counts["core/v1/pods"] != 3 || len(counts) != 1 ||
			time.Since(began) > time.Second {
			b.t.Fatalf("first counts are %v after %s, want 3 pods", counts, time.Since(began))
		}
		go func() {
			for n := range 1000 {
				b.api.Set(podsRef, apitest.Item{
					Namespace: "a", Name: fmt.Sprint("more-", n), Cells: `["more","Running"]`,
				})
				<-time.After(10 * time.Millisecond)
			}
		}()
		sent := 0
		for last := 3; last < 1003; sent++ {
			count := c.Until(2, "counts").ResourceCounts["core/v1/pods"]
			if count <= last {
				b.t.Fatalf("count of pods is %d, want more than %d", count, last)
			}
			last = count
		}
		if most := int(time.Since(began)/time.Second) + 1; sent > most || sent < 5 {
			b.t.Errorf("counts were sent %d times in %s, want 5 to %d", sent, time.Since(began), most)
		}
	})
}

// A subscription to the view resources can select the namespaces whose objects count.
func TestCountsOfSelectedNamespaces(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.api.Set(podsRef, apitest.Item{Namespace: "b", Name: "p", Cells: `["p","Running"]`})
		c := b.open()
		c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
		c.Until(1, "snapshot")
		for id, namespaces := range []string{`[]`, `["a"]`, `["b"]`, `["b","a","b"]`, `["c"]`} {
			c.Send(fmt.Sprintf(`{"op":"subscribe","id":%d,"view":"resources","ns":%s}`, id+2, namespaces))
			want := []int{4, 3, 1, 4, 0}[id]
			if got := c.Until(id+2, "counts").ResourceCounts["core/v1/pods"]; got != want {
				b.t.Errorf("namespaces %s: got %d pods, want %d", namespaces, got, want)
			}
		}
		for ns, want := range map[string]string{"?ns=a": `"count":3`, "?ns=a,b": `"count":4`, "": `"count":4`, "?ns=b_": ``} {
			w := httptest.NewRecorder()
			b.client("1.2.3.4").send(w, "/api/v1/resources"+ns)
			if w.Code == http.StatusOK != (want != "") || !strings.Contains(w.Body.String(), want) {
				b.t.Errorf("GET resources%s: got %d %s, want %s", ns, w.Code, w.Body, want)
			}
		}
		c.Send(`{"op":"subscribe","id":9,"view":"resources","ns":["a,b"]}`)
		if problem := c.Until(9, "error"); problem.Problem.Title != "Invalid namespace" {
			b.t.Errorf("an invalid namespace: got %+v", problem)
		}
		b.api.Set(podsRef, apitest.Item{Namespace: "b", Name: "q", Cells: `["q","Running"]`})
		if got := c.Until(4, "counts").ResourceCounts["core/v1/pods"]; got != 2 {
			b.t.Errorf("after a change: got %d pods, want 2", got)
		}
	})
}

// Viewers receive no object count of a resource that they are not allowed to see.
//
// Invariant: I33.
func TestForbiddenResourcesHaveNoCount(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.api.Refuse(podsRef, "", http.StatusForbidden, "no")
		c := b.open()
		c.Send(`[{"op":"subscribe","id":1,"resource":"core/v1/pods"},{"op":"subscribe","id":2,"view":"resources"}]`)
		if counts := c.Until(2, "counts").ResourceCounts; counts == nil || len(counts) != 0 {
			b.t.Errorf("counts are %v, want none", counts)
		}
	})
}
