// Package web serves the cluster to browsers: pages with the first rows in
// them, snapshots, objects, and one WebSocket a tab.
//
// Nothing here changes a cluster, and no GET changes anything at all. What a
// viewer may see is decided in package watch, whose Access is all that a
// handler is given. Handlers return their error; one function (fail) makes of
// it a status, a problem document and a log line.
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/klauspost/compress/gzhttp"

	"glasshouse/internal/watch"
	"glasshouse/web"
	"glasshouse/web/templates"
)

const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	// answerTimeout bounds an answer; a WebSocket has its own deadlines.
	answerTimeout = 5 * time.Minute
	idleTimeout   = 2 * time.Minute
	drainTimeout  = 2 * time.Second
	maxHeader     = 64 << 10
)

// Options are what a Server is made of.
type Options struct {
	Cluster *watch.Cluster
	Name    string // Of the cluster, for the page: the kubeconfig's context.
	// Namespace is the one that the first page shows; empty for all.
	Namespace string
	Version   string
	// PageRows is how many rows a page holds at most; of more it shows a window.
	PageRows int
	Log      *slog.Logger
}

// Server answers the routes of the dashboard.
type Server struct {
	cluster  *watch.Cluster
	name     string
	start    string // Where / leads.
	version  string
	pageRows int
	log      *slog.Logger
	assets   *web.Assets
	sections templates.Sections

	stopping context.Context //nolint:containedctx // Ends the sockets, which outlive their requests' contexts.
	stop     context.CancelFunc
	sockets  sync.WaitGroup
	open     atomic.Int64 // Sockets that are served.
	reading  atomic.Int64 // Logs that are read.
	paper    sync.Pool    // Of *[]byte: the messages that are being written.
	picker   documents    // Of the view resources, for the one Viewer there is.
	counts   counts       // The same.
}

// New makes a Server. It serves when Run is called.
func New(options Options) (*Server, error) {
	assets, err := web.New()
	if err != nil {
		return nil, err
	}
	start := "/r/core/v1/pods"
	if options.Namespace != "" {
		start += "?ns=" + url.QueryEscape(options.Namespace)
	}
	return &Server{
		start: start, cluster: options.Cluster, name: options.Name, version: options.Version, pageRows: options.PageRows, log: options.Log,
		assets: assets, sections: templates.NewSections(),
	}, nil
}

// Handler is all routes.
func (s *Server) Handler() (http.Handler, error) {
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(1024))
	if err != nil {
		return nil, fmt.Errorf("set up compression: %w", err)
	}
	r := chi.NewRouter()
	r.Use(s.recover, guard)
	r.Get("/api/v1/live", s.handle(s.live))
	r.Get("/api/v1/logs/{namespace}/{name}", s.handle(s.logs))
	r.Group(func(r chi.Router) {
		r.Use(func(next http.Handler) http.Handler { return compress(next) })
		r.Get("/", s.handle(s.home))
		r.Get("/r/{group}/{version}/{resource}", s.handle(s.listPage))
		r.Get("/o/{group}/{version}/{resource}/{namespace}/{name}", s.handle(s.objectPage))
		r.Get("/compare", s.handle(s.comparePage))
		r.Get("/status", s.handle(s.statusPage))
		r.Get("/api/openapi.json", s.handle(s.openapi))
		r.Get("/api/v1/resources", s.handle(s.resources))
		r.Get("/api/v1/snapshot/{group}/{version}/{resource}", s.handle(s.snapshot))
		r.Get("/api/v1/object/{group}/{version}/{resource}/{namespace}/{name}", s.handle(s.object))
		r.Get("/api/v1/search", s.handle(s.search))
		r.Get("/api/v1/related/{group}/{version}/{resource}/{namespace}/{name}", s.handle(s.related))
		r.Get("/api/v1/status", s.handle(s.status))
		r.Get("/static/*", s.handle(s.static))
	})
	r.Get("/healthz", s.handle(s.healthz))
	r.Get("/readyz", s.handle(s.readyz))
	r.NotFound(s.handle(s.noRoute))
	r.MethodNotAllowed(s.handle(s.noMethod))
	return r, nil
}

// Run serves on listener until ctx ends, then lets requests finish for a while.
// It closes the listener.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	s.stopping, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	defer s.stop()
	handler, err := s.Handler()
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: answerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	var counting sync.WaitGroup
	counting.Go(func() { s.counts.run(s.stopping, s.access(nil).Counts) })
	defer counting.Wait()
	defer s.stop()
	select {
	case err := <-ended:
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	s.stop()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	err = server.Shutdown(drain)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close() // Requests that hang, and connections that never sent one.
	}
	s.sockets.Wait()
	if closed := <-ended; !errors.Is(closed, http.ErrServerClosed) {
		err = errors.Join(err, closed)
	}
	if err != nil {
		return fmt.Errorf("stop serving: %w", err)
	}
	return nil
}

// access is the cluster as whoever sent the request may see it. The listener is
// on loopback, which serves whoever can reach it.
func (s *Server) access(*http.Request) *watch.Access { return s.cluster.For(watch.Viewer{}) }
