package link

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"time"
)

// A Request is an HTTP request of the dashboard to the API server.
type Request struct {
	At       time.Time
	Method   string
	Path     string
	Resource string // Plural, such as "configmaps"; empty for discovery.
	// Verb is list (also if streaming), count (a list with limit 1), watch or get; empty for discovery.
	Verb    string
	Streams bool // A streaming list is a watch that begins with all objects.
	Refused bool // The Gate responded with 429.
}

// Lists matches requests that list the resource.
func Lists(resource string) func(Request) bool {
	return func(r Request) bool { return r.Resource == resource && r.Verb == "list" }
}

// Watches returns a function that reports whether a request watches or lists the resource.
func Watches(resource string) func(Request) bool {
	return func(r Request) bool { return r.Resource == resource && (r.Verb == "list" || r.Verb == "watch") }
}

func parseRequest(r *http.Request) Request {
	request := Request{At: time.Now(), Method: r.Method, Path: r.URL.Path}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		parts = parts[3:]
	default:
		return request
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	request.Resource = parts[0]
	query := r.URL.Query()
	request.Streams = query.Get("sendInitialEvents") == "true"
	switch {
	case query.Get("watch") != "" && !request.Streams:
		request.Verb = "watch"
	case len(parts) == 1 && query.Get("limit") == "1":
		request.Verb = "count"
	case len(parts) == 1:
		request.Verb = "list"
	default:
		request.Verb = "get"
	}
	return request
}

// wrapWatch counts responses with the HTTP status 410, and error events with the code 410 in the body of a watch.
func (g *Gate) wrapWatch(response *http.Response) error {
	if query := response.Request.URL.Query(); query.Get("watch") == "" || response.StatusCode != http.StatusOK {
		if response.StatusCode == http.StatusGone {
			g.countExpired()
		}
		return nil
	}
	response.Body = &watchBody{gate: g, body: response.Body, reader: bufio.NewReaderSize(response.Body, 64<<10)}
	return nil
}

func (g *Gate) countExpired() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.expired++
}

// watchBody counts errors with code 410 in a watch.
type watchBody struct {
	gate     *Gate
	body     io.Closer
	reader   *bufio.Reader
	buffered []byte
	err      error
}

func (w *watchBody) Read(p []byte) (int, error) {
	for len(w.buffered) == 0 && w.err == nil {
		w.buffered, w.err = w.reader.ReadBytes('\n')
		if bytes.HasPrefix(w.buffered, []byte(`{"type":"ERROR"`)) && bytes.Contains(w.buffered, []byte(`"code":410`)) {
			w.gate.countExpired()
		}
		// Drop the bookmark that ends a streaming list.
		if w.gate.dropListEnds && bytes.Contains(w.buffered, []byte("k8s.io/initial-events-end")) {
			w.buffered = nil
		}
	}
	if len(w.buffered) == 0 {
		return 0, w.err
	}
	n := copy(p, w.buffered)
	w.buffered = w.buffered[n:]
	return n, nil
}

func (w *watchBody) Close() error { return w.body.Close() }
