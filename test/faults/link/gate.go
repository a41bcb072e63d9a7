package link

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

// A Gate is a reverse proxy in front of an API server. It records requests, and can refuse them.
type Gate struct {
	addr         string
	server       *http.Server
	ended        chan struct{}
	dropListEnds bool

	mu      sync.Mutex
	seen    []Request
	refuse  func(Request) bool
	expired int
}

// GateOptions are the options of NewGate.
type GateOptions struct {
	Server     string
	TLS        *tls.Config     // For connections to the API server.
	Serve      tls.Certificate // The Gate's certificate, valid for the API server's name.
	NoListEnds bool            // Drop the bookmark that ends a streaming list.
}

// NewGate starts a Gate that runs until Close.
func NewGate(ctx context.Context, options GateOptions) (*Gate, error) {
	target, err := url.Parse(options.Server)
	if err != nil {
		return nil, fmt.Errorf("parse the API server's address: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start a gate: %w", err)
	}
	g := &Gate{addr: listener.Addr().String(), ended: make(chan struct{}), dropListEnds: options.NoListEnds}
	proxy := &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:      &http.Transport{TLSClientConfig: options.TLS, ForceAttemptHTTP2: true},
		ModifyResponse: g.wrapWatch,
		FlushInterval:  -1,
		ErrorLog:       log.New(io.Discard, "", 0), // Tests break connections on purpose.
	}
	g.server = &http.Server{
		Handler: g.handler(proxy), ErrorLog: proxy.ErrorLog, ReadHeaderTimeout: time.Minute,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{options.Serve}, MinVersion: tls.VersionTLS12},
	}
	go func() {
		defer close(g.ended)
		_ = g.server.ServeTLS(listener, "", "")
	}()
	return g, nil
}

// Addr returns the Gate's own host and port.
func (g *Gate) Addr() string { return g.addr }

// Close closes all connections, and waits for the server to stop.
func (g *Gate) Close() error {
	err := g.server.Close()
	<-g.ended
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func (g *Gate) handler(proxy http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request := parseRequest(r)
		g.mu.Lock()
		request.Refused = g.refuse != nil && g.refuse(request)
		g.seen = append(g.seen, request)
		g.mu.Unlock()
		if !request.Refused {
			proxy.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Retry-After", "1")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(
			w,
			`{"kind":"Status","apiVersion":"v1","status":"Failure",`+
				`"message":"Too many requests, please try again later.","reason":"TooManyRequests","code":429,`+
				`"details":{"retryAfterSeconds":1}}`,
		)
	})
}

// Refuse makes the Gate respond to matching requests with 429. Refuse(nil) ends the refusals.
func (g *Gate) Refuse(match func(Request) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refuse = match
}

// Seen returns all received requests, oldest first.
func (g *Gate) Seen() []Request {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]Request(nil), g.seen...)
}

// Count returns the number of received requests that match.
func (g *Gate) Count(match func(Request) bool) int {
	n := 0
	for _, r := range g.Seen() {
		if match(r) {
			n++
		}
	}
	return n
}

// Expired returns how often the API server has refused or ended a watch with 410.
func (g *Gate) Expired() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.expired
}
