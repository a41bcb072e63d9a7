// Package web is the HTTP server of the dashboard. It has all routes, and the middleware around the handlers in the
// packages api, page and live. None of these imports this package.
//
// Nothing here changes a cluster, and no GET request changes state. Handlers read the cluster only through
// watch.Access. Package auth identifies senders; unidentified ones receive no cluster data.
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/klauspost/compress/gzhttp"

	"github.com/glasshouse-project/glasshouse/internal/web/auth"
	"github.com/glasshouse-project/glasshouse/internal/web/listen"
	"github.com/glasshouse-project/glasshouse/internal/web/live"
	"github.com/glasshouse-project/glasshouse/internal/web/page"
	"github.com/glasshouse-project/glasshouse/internal/web/picker"
	"github.com/glasshouse-project/glasshouse/internal/web/quota"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
	"github.com/glasshouse-project/glasshouse/internal/web/share"
	"github.com/glasshouse-project/glasshouse/web"
)

const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	// responseTimeout limits the time to build a response. Sending has its own deadlines.
	responseTimeout = 2 * time.Minute
	drainTimeout    = 2 * time.Second
	maxHeader       = 32 << 10
)

// Options configure a Server.
type Options struct {
	request.ClusterInfo // The cluster that is active at startup.

	Auth     *auth.Authority   // Identifies users; nil means no login.
	Contexts *request.Contexts // Nil if the server cannot switch between kubeconfig contexts.
	// Boundary contains the allowed hosts and origins of the server. Nil allows only loopback hosts.
	Boundary *Boundary
	BasePath request.BasePath
	KeyPair  *listen.KeyPair // Nil means HTTP without TLS.
	// Peers are the proxies whose X-Forwarded-For header determines the address of a client.
	Peers   []netip.Prefix
	Version string
	// MemoryLimit is the memory limit of the program in bytes; 0: none. The memory budget of responses depends on it.
	MemoryLimit int64
	// PageRows is the maximum number of rows that a browser loads. Of a longer list, it loads only the visible rows.
	PageRows int
	// Shares stores the share links. If it is nil, the server stores the links in memory, until it ends.
	Shares      *share.Store
	ShareAdmins []string // Groups whose members may list and revoke the links of other users.
	Log         *slog.Logger
}

// Server serves the routes of the dashboard.
type Server struct {
	active    *request.ActiveCluster
	errors    request.ErrorWriter
	limits    *quota.Limits
	reader    *response.Reader
	responses response.Middleware
	auth      *auth.Authority
	boundary  *Boundary
	base      request.BasePath
	keyPair   *listen.KeyPair
	peers     listen.Peers
	shares    *share.Store
	log       *slog.Logger

	shareAdmins []string

	assets *web.Assets
	picker *picker.List
	site   *page.Site

	stopping     context.Context //nolint:containedctx // Its end closes the WebSockets, which outlive their requests.
	stop         context.CancelFunc
	sockets      *live.Sockets
	shuttingDown atomic.Bool
}

// New creates a Server. The server accepts no requests before Run is called.
func New(options Options) (*Server, error) {
	assets, err := web.New()
	if err != nil {
		return nil, err
	}
	shares := options.Shares
	if shares == nil {
		if shares, err = share.Open(share.Options{Log: options.Log}); err != nil {
			return nil, err
		}
	}
	s := &Server{
		auth: options.Auth, boundary: options.Boundary, base: options.BasePath,
		keyPair: options.KeyPair, peers: options.Peers, log: options.Log,
		shares: shares, shareAdmins: options.ShareAdmins, assets: assets, picker: picker.NewList(assets.Build()),
	}
	s.limits = quota.New(s.peers, options.MemoryLimit)
	s.reader = &response.Reader{Limits: s.limits}
	s.responses = response.Middleware{Limits: s.limits, Errors: &s.errors}
	s.sockets = live.New(live.Deps{
		Limits: s.limits, Reader: s.reader, Picker: s.picker, Log: s.log, Origins: s.boundary.originPatterns,
		Stopping: func() bool { return s.stopping.Err() != nil },
	})
	s.active = request.NewActiveCluster(options.ClusterInfo, options.Contexts)
	s.site = &page.Site{
		Version: options.Version, PageRows: options.PageRows, Base: s.base, Assets: assets, Auth: s.auth,
		Active: s.active, Reader: s.reader, Picker: s.picker,
	}
	s.errors = request.ErrorWriter{Log: options.Log, Page: s.site.WriteError}
	return s, nil
}

// Handler returns the handler of all routes.
func (s *Server) Handler() (http.Handler, error) { return s.handlerOf(s.routes()) }

func (s *Server) handlerOf(routes []route) (http.Handler, error) {
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(1024))
	if err != nil {
		return nil, fmt.Errorf("set up compression: %w", err)
	}
	r := chi.NewRouter()
	r.Use(s.boundary.guard, s.limits.LimitRequest, s.base.Strip, s.errors.Recover, s.active.Middleware, s.identify)
	for _, rt := range routes {
		handler := http.Handler(s.authorize(rt.class, rt.handler))
		if rt.method != http.MethodGet && rt.method != http.MethodHead {
			if handler, err = s.boundary.protect(handler); err != nil {
				return nil, err
			}
		}
		if rt.delivery != response.Direct {
			handler = compress(handler)
			handler = response.SendAfterHandler(handler)
			if rt.class != request.Public {
				handler = request.AbortOnRevoke(handler)
			}
			handler = s.responses.WithBudget(rt.class, rt.delivery, rt.memory, handler)
		}
		r.Method(rt.method, rt.pattern, handler)
	}
	missing := func(handler func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
		next := response.SendAfterHandler(s.errors.Handle(handler))
		return s.responses.WithBudget(request.Public, response.Buffered, response.SmallMemory, next).ServeHTTP
	}
	r.NotFound(missing(s.noRoute))
	r.MethodNotAllowed(missing(s.noMethod))
	return r, nil
}

func (s *Server) begin(ctx context.Context) {
	s.stopping, s.stop = context.WithCancel(ctx)
	s.active.Begin(s.stopping) //nolint:contextcheck // s.stopping is derived from ctx.
}

// SwitchCluster makes another cluster active. It ends the WebSockets and log streams of the previous cluster, so that
// the pages reload.
func (s *Server) SwitchCluster(info request.ClusterInfo) { s.active.Replace(s.stopping, info) }

// Run serves on listener until ctx ends, and then closes the listener. Open requests have drainTimeout to finish.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	s.begin(context.WithoutCancel(ctx))
	defer s.stop()
	handler, err := s.Handler()
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: responseTimeout,
		IdleTimeout: listen.IdleTimeout, MaxHeaderBytes: maxHeader,
		// Only WriteByteTimeout ends a blocked write to an HTTP/2 connection; the deadline of a stream does not.
		HTTP2:       &http.HTTP2Config{MaxConcurrentStreams: quota.MaxStreams, WriteByteTimeout: response.StallTimeout},
		ConnContext: listen.ConnContext, ConnState: listen.ConnState,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		// The handler must receive and refuse "OPTIONS *". By default, net/http responds to this request itself.
		DisableGeneralOptionsHandler: true,
	}
	var shareStore sync.WaitGroup
	defer shareStore.Wait()
	defer s.stop()
	shareStore.Go(func() { s.shares.Run(s.stopping) })
	ended := make(chan error, 1)
	go func() { ended <- s.serve(server, listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	s.shuttingDown.Store(true)
	s.stop()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	err = server.Shutdown(drain)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close() // After the timeout, close the connections that have a slow request, or never sent one.
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

// serve uses TLS if there is a certificate. Browsers then use HTTP/2 for pages, and HTTP/1.1 for WebSockets.
func (s *Server) serve(server *http.Server, listener net.Listener) error {
	listener = s.limits.Listen(listener)
	if s.keyPair == nil {
		return server.Serve(listener)
	}
	server.TLSConfig = s.keyPair.TLSConfig()
	return server.ServeTLS(listener, "", "")
}
