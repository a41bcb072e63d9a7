// Package apitest is a scripted API server for tests. It simulates behavior that is hard to produce with a real
// server, such as a watch that ends in the middle of a line.
//
// Its connections are in memory, so tests in a testing/synctest bubble can use it. It is safe for concurrent use.
package apitest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	authorization "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
)

// Version is the Kubernetes version that the server reports.
const Version = "v1.34.1"

// Kind is one resource that the server serves.
type Kind struct {
	Ref        string // group, version and name, such as "core/v1/pods"
	Kind       string
	Cluster    bool
	ShortNames []string
	Verbs      []string // default: get, list and watch
	// Columns is the field columnDefinitions of a Table, as JSON. If it is empty, the server sends plain objects instead
	// of Tables.
	Columns string
	// Page is the maximum number of objects in one page of a list; 0 means no limit.
	Page int
}

// Item is one object of a Kind.
type Item struct {
	Namespace, Name string
	UID             string // default: Namespace/Name
	Cells           string // JSON array; default: ["<name>"]
	Metadata        string // more members of the field metadata, such as `"labels":{..}`
	Rest            string // more members of the object, such as `"spec":{..}`
}

// Server is a scripted API server.
type Server struct {
	Config *rest.Config

	listener       *pipeListener
	mu             sync.Mutex
	changed        chan struct{} // closed and replaced at every change of the server, to wake open watches
	kinds          []*kind
	version        int
	down           bool
	plainDiscovery bool
	requests       []string
	failures       map[string]status
	handlers       map[string]http.HandlerFunc
	allowed        func(authorization.SubjectAccessReviewSpec) bool

	incompleteRules bool
}

const noResponse = -1

type status struct {
	code   int
	reason string
}

type kind struct {
	Kind

	objects      []object
	log          []event
	oldest       int // a watch that starts from an older resourceVersion gets 410 Gone
	watchEndings int
	refused      map[string]int // HTTP status of refused requests for each namespace; the key "" is for all namespaces
	reason       string
	noBookmarks  bool
	streamError  string // reason for which streaming lists fail; "" if they do not fail
	watchStatus  int
}

type object struct {
	Item

	version int
}

// event is one line in a watch. Raw text from Send has no version, so only watches that are open at the time of Send
// get it.
type event struct {
	version         int
	namespace, name string
	kind            string
	item            object
	raw             string
}

// New starts a server with the given kinds. The server runs until the test ends.
func New(tb testing.TB, kinds ...Kind) *Server {
	tb.Helper()
	s := &Server{
		changed: make(chan struct{}), version: 100, listener: newPipeListener(), failures: make(map[string]status),
		handlers: make(map[string]http.HandlerFunc),
	}
	for _, k := range kinds {
		s.AddKind(k)
	}
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: time.Minute,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(s.listener) }()
	tb.Cleanup(func() {
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			tb.Errorf("fake API server: %v", err)
		}
	})
	s.Config = &rest.Config{Host: "http://api.test", Dial: s.dial}
	return s
}

// Handler returns the server's HTTP handler, for tests that use a network address.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

func (s *Server) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	s.mu.Lock()
	down := s.down
	s.mu.Unlock()
	if down {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	return s.listener.dial(ctx)
}

func (s *Server) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) kindLocked(ref string) *kind {
	for _, k := range s.kinds {
		if k.Ref == ref {
			return k
		}
	}
	panic("apitest: no kind " + ref)
}

// Requests returns the received request lines that contain the given text. An example of a line is
// "GET /api/v1/pods?limit=1".
func (s *Server) Requests(part string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.requests), func(line string) bool { return !strings.Contains(line, part) })
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.RequestURI)
	path := r.URL.Path
	if path == RulesReviewsPath {
		path = SelfReviewsPath
	}
	down, failure, handler := s.down, s.failures[path], s.handlers[r.URL.Path]
	s.mu.Unlock()
	switch {
	case down:
		panic(http.ErrAbortHandler)
	case failure.code == noResponse:
		_, _ = io.Copy(io.Discard, r.Body) // net/http detects a disconnected client only after the body was read.
		<-r.Context().Done()
	case failure.code != 0:
		fail(w, failure.code, failure.reason)
	case handler != nil:
		handler(w, r)
	case r.URL.Path == "/api" || r.URL.Path == "/apis":
		s.groups(w, r)
	case r.URL.Path == "/version":
		write(w, "application/json", jsonObject{"gitVersion": Version})
	case r.Method == http.MethodPost && r.URL.Path == SelfReviewsPath:
		s.selfReview(w, r)
	case r.Method == http.MethodPost && r.URL.Path == RulesReviewsPath:
		s.rulesReview(w, r)
	case r.Method == http.MethodPost && r.URL.Path == UserReviewsPath:
		s.userReview(w, r)
	default:
		s.resource(w, r)
	}
}

func (s *Server) resource(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if parts[0] == "api" {
		parts[0] = "core"
	} else {
		parts = parts[1:]
	}
	if len(parts) == 2 {
		s.resources(w, parts[0], parts[1])
		return
	}
	namespace := ""
	if len(parts) > 4 && parts[2] == "namespaces" {
		namespace = parts[3]
		parts = slices.Delete(parts, 2, 4)
	}
	if len(parts) < 3 || len(parts) > 4 {
		fail(w, http.StatusNotFound, "the server could not find the requested resource")
		return
	}
	ref := strings.Join(parts[:3], "/")
	s.mu.Lock()
	index := slices.IndexFunc(s.kinds, func(k *kind) bool { return k.Ref == ref })
	var k *kind
	status, reason, watchStatus, streamError := 0, "", 0, ""
	if index >= 0 {
		k = s.kinds[index]
		status, reason, watchStatus, streamError = k.refused[""], k.reason, k.watchStatus, k.streamError
		if namespaceStatus, ok := k.refused[namespace]; ok && namespace != "" {
			status = namespaceStatus
		}
	}
	s.mu.Unlock()
	watching := r.URL.Query().Get("watch") != ""
	switch {
	case k == nil:
		fail(w, http.StatusNotFound, "the server could not find the requested resource")
	case len(parts) == 4:
		s.get(w, k, namespace, parts[3])
	case !watching && streamError != "":
		fail(w, http.StatusInternalServerError, streamError)
	case status != 0:
		fail(w, status, reason)
	case watching && watchStatus != 0:
		fail(w, watchStatus, "the watch is refused")
	case watching:
		s.watch(w, r, k, namespace)
	default:
		s.list(w, r, k, namespace)
	}
}

func (s *Server) get(w http.ResponseWriter, k *kind, namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	index, ok := slices.BinarySearchFunc(k.objects, object{Item: Item{Namespace: namespace, Name: name}}, compare)
	if !ok {
		fail(w, http.StatusNotFound, fmt.Sprintf("%s %q not found", k.Ref, name))
		return
	}
	respond(w, "application/json", k.objects[index].json(&k.Kind))
}

func fail(w http.ResponseWriter, status int, message string) {
	reasons := map[int]string{
		403: "Forbidden", 404: "NotFound", 405: "MethodNotAllowed", 410: "Expired", 429: "TooManyRequests",
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, Failure(status, reasons[status], message))
}

// Failure returns the JSON text of a metav1.Status that reports a failure.
func Failure(code int, reason, message string) string {
	text, err := json.Marshal(map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": struct{}{}, "status": "Failure", "code": code,
		"reason": reason, "message": message,
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func respond(w http.ResponseWriter, contentType, body string) {
	w.Header().Set("Content-Type", contentType)
	_, _ = io.WriteString(w, body)
}
