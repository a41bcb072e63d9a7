package link

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"time"
)

// A Request is a request that the program sent to the API server.
type Request struct {
	At       time.Time
	Method   string
	Path     string
	Resource string // The resource, such as "configmaps"; empty for discovery.
	Verb     string // list (also a streaming list), count (a list with limit 1), watch or get; empty for discovery.
	Streams  bool   // Whether it is a streaming list: a watch that begins with a list.
	Refused  bool   // Whether the Gate responded with 429.
}

// Lists returns a function that reports whether a request lists the resource.
func Lists(resource string) func(Request) bool {
	return func(r Request) bool { return r.Resource == resource && r.Verb == "list" }
}

// Watches returns a function that reports whether a request watches or lists the resource.
func Watches(resource string) func(Request) bool {
	return func(r Request) bool { return r.Resource == resource && (r.Verb == "list" || r.Verb == "watch") }
}

// read returns the Request for an HTTP request. It derives the resource and the verb from the URL.
func read(r *http.Request) Request {
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

// watched counts responses with 410. It wraps the body of a watch response in lines, which reads it line by line.
func (g *Gate) watched(response *http.Response) error {
	if query := response.Request.URL.Query(); query.Get("watch") == "" || response.StatusCode != http.StatusOK {
		if response.StatusCode == http.StatusGone {
			g.gone()
		}
		return nil
	}
	response.Body = &lines{gate: g, body: response.Body, reader: bufio.NewReaderSize(response.Body, 64<<10)}
	return nil
}

func (g *Gate) gone() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.expired++
}

// lines is the body of a watch response. It returns the body line by line, counts errors with code 410, and drops the
// bookmark at the end of a list if required.
type lines struct {
	gate   *Gate
	body   io.Closer
	reader *bufio.Reader
	rest   []byte
	err    error
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 && l.err == nil {
		l.rest, l.err = l.reader.ReadBytes('\n')
		if bytes.HasPrefix(l.rest, []byte(`{"type":"ERROR"`)) && bytes.Contains(l.rest, []byte(`"code":410`)) {
			l.gate.gone()
		}
		if l.gate.swallow && bytes.Contains(l.rest, []byte("k8s.io/initial-events-end")) {
			l.rest = nil
		}
	}
	if len(l.rest) == 0 {
		return 0, l.err
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// Close implements io.Closer.
func (l *lines) Close() error { return l.body.Close() }
