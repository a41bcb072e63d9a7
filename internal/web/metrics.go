package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/web/listen"
	"github.com/glasshouse-project/glasshouse/internal/web/metrics"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

// MetricsHandler serves /metrics, /healthz, /readyz and, if profiles is true, /debug/pprof. Set profiles only on a
// loopback listener, because a heap profile contains all cached cluster data.
func (s *Server) MetricsHandler(profiles bool) (http.Handler, error) {
	registry, err := metrics.Registry(
		func() watch.WatchStatus { return s.active.Load().Cluster.WatchStatus() },
		s.limits.OpenSockets,
		s.shares.Count,
	)
	if err != nil {
		return nil, fmt.Errorf("set up the metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	mux.Handle("GET /healthz", s.errors.Handle(s.healthz))
	mux.Handle("GET /readyz", s.errors.Handle(s.readyz))
	if profiles {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	} else {
		mux.HandleFunc("GET /debug/pprof/", s.errors.Handle(noProfiles))
	}
	return s.boundary.forMetrics().guard(s.errors.Recover(s.active.Middleware(mux))), nil
}

func noProfiles(http.ResponseWriter, *http.Request) error {
	return &request.Problem{
		Title: "Page not found", Status: http.StatusNotFound,
		Detail: "Profiles contain data of the cluster, and are served only on loopback addresses: set " +
			"--metrics-listen to one, such as 127.0.0.1:9090.",
	}
}

// RunMetrics serves MetricsHandler until ctx ends. It serves /debug/pprof only if the listener has a loopback
// address.
func (s *Server) RunMetrics(ctx context.Context, listener net.Listener) error {
	address, err := netip.ParseAddrPort(listener.Addr().String())
	handler, handlerErr := s.MetricsHandler(err == nil && address.Addr().IsLoopback())
	if handlerErr != nil {
		return errors.Join(handlerErr, listener.Close())
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: responseTimeout,
		IdleTimeout: listen.IdleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		// The handler must receive and refuse "OPTIONS *". By default, net/http responds to this request itself.
		DisableGeneralOptionsHandler: true,
	}
	// Close also ends requests in progress, such as the recording of a profile. Shutdown would wait for them.
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics on %s: %w", listener.Addr(), err)
	}
	return nil
}
