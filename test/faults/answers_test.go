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

	"glasshouse/test/faults/link"
	"glasshouse/test/faults/viewer"
)

// Some servers and proxies never send the bookmark that ends a streaming list. Changes that arrive without it do not
// count as progress. Within 30 s, the program uses a plain list instead. Until then, its state is not live.
func TestListEndNeverComes(t *testing.T) {
	t.Parallel()
	w := open(t, setting{noListEnds: true})
	began := time.Now()
	rows := w.look(2, w.rows())
	stop := w.churn(10)
	const promised = 30 * time.Second
	plain := func(r link.Request) bool { return link.Lists("configmaps")(r) && !r.Streams }
	eventually(t, promised, "it is listed another way", func() error {
		if w.gate.Count(plain) == 0 {
			return errors.New("it was not")
		}
		return nil
	})
	for _, r := range w.gate.Seen() {
		if plain(r) {
			t.Logf("listed another way after %v", r.At.Sub(began))
			notLive(t, began, r.At, rows...)
			break
		}
	}
	becomes(t, 5*time.Second, "live", rows...)
	stop()
	w.converges(10*time.Second, rows...)
	// The next list is not a streaming list.
	streams := func(r link.Request) bool { return link.Lists("configmaps")(r) && r.Streams }
	before := w.gate.Count(streams)
	pass(2 * time.Second)
	check(t, w.up.Blink())
	check(t, w.Apply(t.Context(), w.namespace, "last", "1"))
	w.converges(10*time.Second, rows...)
	if again := w.gate.Count(streams) - before; again > 0 {
		t.Errorf("a streaming list was tried %d times more", again)
	}
	sound(t, rows...)
}

// An overloaded API server responds with 429 and Retry-After. The program waits for that time, and shows the reason.
func TestTooManyRequests(t *testing.T) {
	t.Parallel()
	w := open(t, setting{})
	ours := func(r link.Request) bool { return r.Resource == "configmaps" }
	w.gate.Refuse(ours)
	rows := w.look(4, w.rows())
	began := time.Now()
	const long = 14 * time.Second // client-go tries ten times before it returns the error.
	pass(long)
	notLive(t, began, time.Now(), rows...)
	if now := rows[0].State(); now.State != "failed" || !strings.Contains(now.Reason, "Too many requests") {
		t.Errorf("the state is %s: %s", now.State, now.Reason)
	}
	n := w.gate.Count(func(r link.Request) bool { return r.Refused })
	t.Logf("refused %d times in %v", n, long)
	if n < 5 || n > 2*int(long/time.Second) {
		t.Errorf("refused %d times in %v, with Retry-After: 1", n, long)
	}
	w.gate.Refuse(nil)
	t.Logf("live after %v", becomes(t, 30*time.Second, "live", rows...))
	stop := w.churn(20)
	w.gate.Refuse(ours)
	check(t, w.up.Blink())
	cut := time.Now()
	pass(5 * time.Second)
	notLive(t, cut.Add(grace), time.Now(), rows...)
	w.gate.Refuse(nil)
	t.Logf("live after %v", becomes(t, 30*time.Second, "live", rows...))
	stop()
	w.converges(10*time.Second, rows...)
	sound(t, rows...)
}

// For every kind, the program sends only get, list and watch requests, and self-reviews of its permissions.
func TestOnlyReadsAreSent(t *testing.T) {
	w := open(t, setting{})
	var known struct {
		Resources []struct {
			Ref   string
			Verbs []string
		}
	}
	eventually(t, 10*time.Second, "the program is ready", func() error { return ready(t, w.url) })
	check(t, json.Unmarshal(get(t, w.url+"/api/v1/resources"), &known))
	looked := 0
	for _, r := range known.Resources {
		if !slices.Contains(r.Verbs, "list") {
			continue
		}
		looked++
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
			t.Errorf("%s %s was sent", r.Method, r.Path)
		}
		watched[r.Resource] = true
	}
	t.Logf("%d requests for %d kinds", len(seen), looked)
	if looked < 50 || len(watched) < 50 {
		t.Errorf("only %d of %d kinds were asked for: this test tests too little", len(watched), looked)
	}
}

func (w *scene) anySecret() string {
	w.t.Helper()
	for _, row := range must(w.Rows(w.t.Context(), viewer.Rows("core/v1/secrets", "shop")))(w.t) {
		return row.Name
	}
	w.t.Fatal("the cluster has no Secret")
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
	defer func() { _ = response.Body.Close() }() // The body was read.
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s %.300s", url, response.Status, body)
	}
	return body, err
}
