package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/test/faults/link"
	"github.com/glasshouse-project/glasshouse/test/faults/viewer"
)

// Some servers never send the bookmark that ends a streaming list. After at most 30 s without the bookmark, the program
// uses a plain list instead.
//
// Invariant: I39.
func TestMissingListBookmarkCausesPlainList(t *testing.T) {
	t.Parallel()
	w := open(t, options{noListEnds: true})
	start := time.Now()
	rows := w.startViewers(2, w.rows())
	stop := w.churn(10)
	const limit = 30 * time.Second
	isPlainList := func(r link.Request) bool { return link.Lists("configmaps")(r) && !r.Streams }
	eventually(t, limit, "the program lists without streaming", func() error {
		if w.gate.Count(isPlainList) == 0 {
			return errors.New("got no list without streaming")
		}
		return nil
	})
	for _, r := range w.gate.Seen() {
		if isPlainList(r) {
			t.Logf("list without streaming after %v", r.At.Sub(start))
			checkNotLive(t, start, r.At, rows...)
			break
		}
	}
	waitForState(t, 5*time.Second, "live", rows...)
	stop()
	w.converges(10*time.Second, rows...)
	// After a plain list, the program must not try a streaming list again.
	isStreamingList := func(r link.Request) bool { return link.Lists("configmaps")(r) && r.Streams }
	before := w.gate.Count(isStreamingList)
	sleep(2 * time.Second)
	check(t, w.up.DropConnections())
	check(t, w.Apply(t.Context(), w.namespace, "last", "1"))
	w.converges(10*time.Second, rows...)
	if more := w.gate.Count(isStreamingList) - before; more > 0 {
		t.Errorf("got %d more streaming lists, want 0", more)
	}
	checkNoFaults(t, rows...)
}

// The program retries only after the Retry-After of a 429 response, and shows clients the reason for the delay.
//
// Invariant: I39.
func TestRetryWaitsAfterTooManyRequests(t *testing.T) {
	t.Parallel()
	w := open(t, options{})
	isConfigMaps := func(r link.Request) bool { return r.Resource == "configmaps" }
	w.gate.Refuse(isConfigMaps)
	rows := w.startViewers(4, w.rows())
	start := time.Now()
	const duration = 14 * time.Second // client-go tries once per second, and reports a failure after ten tries.
	sleep(duration)
	checkNotLive(t, start, time.Now(), rows...)
	if now := rows[0].State(); now.State != "failed" || !strings.Contains(now.Reason, "Too many requests") {
		t.Errorf("state is %s: %s; want failed with Too many requests", now.State, now.Reason)
	}
	n := w.gate.Count(func(r link.Request) bool { return r.Refused })
	t.Logf("got %d refused requests in %v", n, duration)
	if n < 5 || n > 2*int(duration/time.Second) {
		t.Errorf("got %d refused requests in %v with Retry-After: 1, want at least 5 and at most two per second", n, duration)
	}
	w.gate.Refuse(nil)
	t.Logf("live after %v", waitForState(t, 30*time.Second, "live", rows...))
	stop := w.churn(20)
	w.gate.Refuse(isConfigMaps)
	check(t, w.up.DropConnections())
	cutTime := time.Now()
	sleep(5 * time.Second)
	checkNotLive(t, cutTime.Add(staleGrace), time.Now(), rows...)
	w.gate.Refuse(nil)
	t.Logf("live after %v", waitForState(t, 30*time.Second, "live", rows...))
	stop()
	w.converges(10*time.Second, rows...)
	checkNoFaults(t, rows...)
}

// The program sends only reads and reviews of its own permissions, even while clients request every kind.
//
// Invariant: I46. The program sends the API server only get, list and watch requests, access reviews and token reviews.
// In a cluster, it has no other permissions. By default, it has no permission to read Secrets. It continues to work
// after its service account token has changed. It works through `kubectl port-forward`, and behind a reverse proxy.
// kustomize and Helm create the same objects. The image contains one program.
func TestOnlyReadsAreSent(t *testing.T) {
	w := open(t, options{})
	var resources struct {
		Resources []struct {
			Ref   string
			Verbs []string
		}
	}
	eventually(t, 10*time.Second, "the program is ready", func() error { return ready(t, w.url) })
	check(t, json.Unmarshal(get(t, w.url+"/api/v1/resources"), &resources))
	listed := 0
	for _, r := range resources.Resources {
		if !slices.Contains(r.Verbs, "list") {
			continue
		}
		listed++
		get(t, w.url+"/api/v1/snapshot/"+r.Ref+"?limit=1&wait=1s")
	}
	get(t, w.url+"/r/core/v1/pods")
	get(t, w.url+"/o/core/v1/namespaces/_/default")
	get(t, w.url+"/api/v1/object/core/v1/secrets/shop/"+w.anySecret())
	seen := w.gate.Seen()
	watched := make(map[string]bool)
	for _, r := range seen {
		review := r.Method == http.MethodPost && strings.HasPrefix(r.Path, "/apis/authorization.k8s.io/v1/selfsubject")
		if r.Method != http.MethodGet && !review {
			t.Errorf("unexpected request %s %s", r.Method, r.Path)
		}
		watched[r.Resource] = true
	}
	t.Logf("%d requests for %d resources", len(seen), listed)
	if listed < 50 || len(watched) < 50 {
		t.Errorf("got requests for only %d of %d resources, want at least 50", len(watched), listed)
	}
}

func (w *testbed) anySecret() string {
	w.t.Helper()
	for _, row := range must(w.Rows(w.t.Context(), viewer.Rows("core/v1/secrets", "shop")))(w.t) {
		return row.Name
	}
	w.t.Fatal("the cluster has no Secrets")
	return ""
}

func ready(t *testing.T, url string) error {
	t.Helper()
	_, err := fetch(t, url+"/api/v1/resources")
	return err
}

func get(t *testing.T, url string) []byte {
	t.Helper()
	return must(fetch(t, url))(t)
}

func fetch(t *testing.T, url string) ([]byte, error) {
	t.Helper()
	request := must(http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody))(t)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: got %s %.300s", url, response.Status, body)
	}
	return body, err
}
