package faults

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/test/faults/link"
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

func ready(t *testing.T, url string) error {
	t.Helper()
	_, err := fetch(t, url+"/api/v1/resources")
	return err
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
