// Package web serves the cluster to browsers: pages with the first rows in
// them, snapshots, objects, and one WebSocket a tab.
//
// Nothing here changes a cluster, and no GET changes anything at all. Who sends a
// request package auth finds out, once; who is not known is told nothing. What a
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
	// answerTimeout bounds a response until it is sent, which has deadlines of its own; so has a WebSocket.
	answerTimeout = 2 * time.Minute
	idleTimeout   = 2 * time.Minute
	drainTimeout  = 2 * time.Second
	maxHeader     = 32 << 10
)

// Options are what a Server is made of.
type Options struct {
	Shown // At first.

	Auth     *auth.Authority // Nil asks nobody who they are.
	Contexts *Contexts       // Nil where there is nothing to switch between.
	// Boundary is by which names the server may be called; nil is loopback alone.
	Boundary *Boundary
	BasePath BasePath
	KeyPair  *KeyPair // Nil serves over HTTP.
	// Peers are the proxies whose X-Forwarded-For is believed, for the address alone.
	Peers   []netip.Prefix
	Version string
	// MemoryLimit is what the program may take, in bytes; 0 is no limit. Responses share a part of it.
	MemoryLimit int64
	// PageRows is how many rows a page holds at most; of more it shows a window.
	PageRows int
	// Shares are what is shared; nil keeps it in memory alone.
	Shares      *share.Store
	ShareAdmins []string // Groups whose members see, and take back, what others share.
	Log         *slog.Logger
}

// Server answers the routes of the dashboard.
type Server struct {
	present  atomic.Pointer[showing]
	contexts *Contexts
	auth     *auth.Authority
	boundary *Boundary
	base     BasePath
	keys     *KeyPair
	peers    peers
	version  string
	pageRows int
	shares   *share.Store
	log      *slog.Logger

	shareAdmins []string

	assets   *web.Assets
	sections templates.Sections

	stopping   context.Context //nolint:containedctx // Ends the sockets, which outlive their requests' contexts.
	stop       context.CancelFunc
	sockets    sync.WaitGroup
	rates      *limit.Rates  // Of the requests and messages of an address.
	frameRates *limit.Rates  // Of the frames of an address's sockets.
	limiter    limit.Limiter // Of requests, sockets, subscriptions, logs and scans.
	budget     *limit.Budget // Of the memory of responses.

	memoryLimit int64        // In bytes; 0 is none.
	ending      atomic.Bool  // It is to stop.
	open        atomic.Int64 // Sockets that are served.
	paper       sync.Pool    // Of *[]byte: the messages that are being written.
}

// New makes a Server. It serves when Run is called.
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
		keys: options.KeyPair, peers: options.Peers, rates: limit.NewRates(addressRate, addressBurst),
		frameRates: limit.NewRates(addressFrames, addressFrameBurst),
		budget:     limit.NewBudget(responseMemory(options.MemoryLimit)), memoryLimit: options.MemoryLimit,
		version: options.Version, pageRows: options.PageRows, log: options.Log,
		shares: shares, shareAdmins: options.ShareAdmins, assets: assets, sections: templates.NewSections(),
	}
	s.present.Store(newShowing(options.Shown))
	return s, nil
}

// Handler is all routes.
func (s *Server) Handler() (http.Handler, error) { return s.handlerOf(s.routes()) }

// handlerOf is what all routes have in common, and the routes.
func (s *Server) handlerOf(routes []route) (http.Handler, error) {
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(1024))
	if err != nil {
		return nil, fmt.Errorf("set up compression: %w", err)
	}
	r := chi.NewRouter()
	r.Use(s.boundary.guard, s.limitRequest, s.base.strip, s.recover, s.look, s.identify)
	for _, one := range routes {
		handler := http.Handler(s.admit(one.class, one.handler))
		if one.method != http.MethodGet && one.method != http.MethodHead {
			if handler, err = s.boundary.protect(handler); err != nil {
				return nil, err
			}
		}
		if one.delivery != direct {
			handler = compress(handler)
			handler = sendAfterHandler(handler)
			if one.class != everybody {
				handler = within(handler)
			}
			handler = s.withBudget(one, handler)
		}
		r.Method(one.method, one.pattern, handler)
	}
	missing := route{class: everybody, delivery: buffered, memory: smallMemory}
	r.NotFound(s.withBudget(missing, sendAfterHandler(s.handle(s.noRoute))).ServeHTTP)
	r.MethodNotAllowed(s.withBudget(missing, sendAfterHandler(s.handle(s.noMethod))).ServeHTTP)
	return r, nil
}

// begin lets sockets be served until ctx ends, or stop is called.
func (s *Server) begin(ctx context.Context) {
	s.stopping, s.stop = context.WithCancel(ctx)
	s.present.Load().begin(s.stopping) //nolint:contextcheck // It is of ctx.
}

// Run serves on listener until ctx ends, then lets requests finish for a while.
// It closes the listener.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	s.begin(context.WithoutCancel(ctx))
	defer s.stop()
	handler, err := s.Handler()
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: answerTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		// A stream's deadline does not end a write of its connection that the client's kernel does not take.
		HTTP2:       &http.HTTP2Config{MaxConcurrentStreams: maxStreams, WriteByteTimeout: stallTimeout},
		ConnContext: withConn, ConnState: onState,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		// The boundary refuses OPTIONS *: net/http would answer it without the boundary.
		DisableGeneralOptionsHandler: true,
	}
	var sharing sync.WaitGroup
	defer sharing.Wait()
	defer s.stop()
	sharing.Go(func() { s.shares.Run(s.stopping) })
	ended := make(chan error, 1)
	go func() { ended <- s.serve(server, listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	s.ending.Store(true)
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

// serve serves over TLS where there is a certificate: HTTP/2 to pages, and
// HTTP/1.1 to sockets, which browsers open for themselves.
func (s *Server) serve(server *http.Server, listener net.Listener) error {
	listener = newLimitedListener(listener, s.rates, s.peers)
	if s.keys == nil {
		return server.Serve(listener)
	}
	server.TLSConfig = s.keys.config()
	return server.ServeTLS(listener, "", "")
}
