package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"glasshouse/internal/watch"
	"glasshouse/internal/web/metrics"
)

// MetricsHandler is what is served on a listener of its own: metrics for
// Prometheus, and profiles of the process. A profile of the heap holds what the
// cluster holds, so the same guard stands before them as before the pages.
func (s *Server) MetricsHandler() (http.Handler, error) {
	registry, err := metrics.Registry(
		func() watch.Ledger { return s.cluster.For(watch.Viewer{}).Coverage() },
		func() int { return int(s.open.Load()) },
	)
	if err != nil {
		return nil, fmt.Errorf("set up the metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return s.recover(guard(mux)), nil
}

// RunMetrics serves MetricsHandler on listener until ctx ends. It closes the
// listener.
func (s *Server) RunMetrics(ctx context.Context, listener net.Listener) error {
	handler, err := s.MetricsHandler()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: answerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	stopped := context.AfterFunc(ctx, func() { _ = server.Close() }) // A profile that is being made is given up.
	defer stopped()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics on %s: %w", listener.Addr(), err)
	}
	return nil
}
