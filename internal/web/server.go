// Package web is the HTTP server of the dashboard. It serves HTML pages, lists, single objects, and one WebSocket for
// each browser tab.
//
// Nothing in this package changes a cluster, and no GET request changes any state. Package auth identifies the sender
// of a request, once per request. An unidentified sender receives no cluster data. Package watch decides what a
// viewer is permitted to see. Handlers read the cluster only through watch.Access. Handlers return errors. One
// function, writeError, converts an error to a status, a problem document and a log line.
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

	"glasshouse/internal/limit"
	"glasshouse/internal/web/auth"
	"glasshouse/internal/web/share"
	"glasshouse/web"
	"glasshouse/web/templates"
)

const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	// responseTimeout limits how long the server can take to build a response. Sending a response has its own
	// deadlines, and so does a WebSocket.
	responseTimeout = 2 * time.Minute
	idleTimeout     = 2 * time.Minute
	drainTimeout    = 2 * time.Second
	maxHeader       = 32 << 10
)

// Options configure a Server.
type Options struct {
	ClusterInfo // The cluster that is active at startup.

	Auth     *auth.Authority // Identifies users; nil means no login.
	Contexts *Contexts       // Nil if the server cannot switch between kubeconfig contexts.
	// Boundary contains the allowed hosts and origins of the server. Nil allows only loopback hosts.
	Boundary *Boundary
	BasePath BasePath
	KeyPair  *KeyPair // Nil means HTTP without TLS.
	// Peers are the trusted proxies. The server uses their X-Forwarded-For header to determine the address of a client,
	// and for nothing else.
	Peers   []netip.Prefix
	Version string
	// MemoryLimit is the memory limit of the program in bytes; 0 means no limit. The memory budget of all responses
	// depends on it.
	MemoryLimit int64
	// PageRows is the maximum number of rows of a list that the browser loads completely. Of a longer list, the browser
	// loads only the visible rows.
	PageRows int
	// Shares stores the share links. If it is nil, the links are kept only in memory.
	Shares      *share.Store
	ShareAdmins []string // Groups whose members may list and revoke the links of other users.
	Log         *slog.Logger
}

// Server serves the routes of the dashboard.
type Server struct {
	active   atomic.Pointer[activeCluster]
	contexts *Contexts
	auth     *auth.Authority
	boundary *Boundary
	base     BasePath
	keyPair  *KeyPair
	peers    peers
	version  string
	pageRows int
	shares   *share.Store
	log      *slog.Logger

	shareAdmins []string

	assets   *web.Assets
	sections templates.Sections

	stopping     context.Context //nolint:containedctx // Its end closes the sockets, which outlive their requests.
	stop         context.CancelFunc
	sockets      sync.WaitGroup
	addressRates *limit.Rates  // Rate limits for the requests and messages of one address.
	frameRates   *limit.Rates  // Rate limits for the frames of all sockets of one address.
	limiter      limit.Limiter // Limits on requests, sockets, subscriptions, logs and scans.
	budget       *limit.Budget // Memory that all responses share.

	memoryLimit    int64 // In bytes; 0 means no limit.
	shuttingDown   atomic.Bool
	openSockets    atomic.Int64
	messageBuffers sync.Pool // Pool of *[]byte, the buffers in which messages are built.
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
		contexts: options.Contexts, auth: options.Auth, boundary: options.Boundary, base: options.BasePath,
		keyPair: options.KeyPair, peers: options.Peers, addressRates: limit.NewRates(addressRate, addressBurst),
		frameRates: limit.NewRates(addressFrames, addressFrameBurst),
		budget:     limit.NewBudget(responseMemory(options.MemoryLimit)), memoryLimit: options.MemoryLimit,
		version: options.Version, pageRows: options.PageRows, log: options.Log,
		shares: shares, shareAdmins: options.ShareAdmins, assets: assets, sections: templates.NewSections(),
	}
	s.active.Store(newActiveCluster(options.ClusterInfo))
	return s, nil
}

// Handler returns the handler of all routes.
func (s *Server) Handler() (http.Handler, error) { return s.handlerOf(s.routes()) }

// handlerOf returns a handler for the routes, with the middleware that all of them share.
func (s *Server) handlerOf(routes []route) (http.Handler, error) {
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(1024))
	if err != nil {
		return nil, fmt.Errorf("set up compression: %w", err)
	}
	r := chi.NewRouter()
	r.Use(s.boundary.guard, s.limitRequest, s.base.strip, s.recover, s.withCluster, s.identify)
	for _, rt := range routes {
		handler := http.Handler(s.authorize(rt.class, rt.handler))
		if rt.method != http.MethodGet && rt.method != http.MethodHead {
			if handler, err = s.boundary.protect(handler); err != nil {
				return nil, err
			}
		}
		if rt.delivery != direct {
			handler = compress(handler)
			handler = sendAfterHandler(handler)
			if rt.class != public {
				handler = abortOnRevoke(handler)
			}
			handler = s.withBudget(rt, handler)
		}
		r.Method(rt.method, rt.pattern, handler)
	}
	missing := route{class: public, delivery: buffered, memory: smallMemory}
	r.NotFound(s.withBudget(missing, sendAfterHandler(s.handle(s.noRoute))).ServeHTTP)
	r.MethodNotAllowed(s.withBudget(missing, sendAfterHandler(s.handle(s.noMethod))).ServeHTTP)
	return r, nil
}

// begin allows WebSockets to be opened, and to stay open until ctx ends or s.stop is called.
func (s *Server) begin(ctx context.Context) {
	s.stopping, s.stop = context.WithCancel(ctx)
	s.active.Load().begin(s.stopping) //nolint:contextcheck // s.stopping is derived from ctx.
}

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
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		// In HTTP/2, the deadline of a stream does not end a blocked write to the connection. If the client's kernel
		// accepts no data, only WriteByteTimeout ends that write.
		HTTP2:       &http.HTTP2Config{MaxConcurrentStreams: maxStreams, WriteByteTimeout: stallTimeout},
		ConnContext: withConn, ConnState: onState,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		// By default, net/http answers OPTIONS * itself, without calling the handler. With this option, the handler
		// receives the request and refuses it.
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
		err = server.Close() // Some requests are stuck, or some connections have never sent a request.
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

// serve uses TLS if the server has a certificate. Over TLS, browsers use HTTP/2 for pages, and separate HTTP/1.1
// connections for WebSockets.
func (s *Server) serve(server *http.Server, listener net.Listener) error {
	listener = newLimitedListener(listener, s.addressRates, s.peers)
	if s.keyPair == nil {
		return server.Serve(listener)
	}
	server.TLSConfig = s.keyPair.config()
	return server.ServeTLS(listener, "", "")
}
