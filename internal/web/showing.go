package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"glasshouse/internal/watch"
)

// Shown is a cluster with the details that pages show.
type Shown struct {
	Cluster *watch.Cluster
	Name    string // The name for pages: the context of the kubeconfig.
	Server  string // The address of the API server.
	// Namespace is the namespace that the first page shows. Empty means all namespaces.
	Namespace string
}

// showing is the active cluster, and everything that ends with it. A request uses the same cluster from start to end.
type showing struct {
	Shown

	// id distinguishes pages of this cluster from pages of others. It stays the same when the program restarts.
	id string
	// ended is done when the cluster is no longer active. It ends the sockets and logs.
	ended     context.Context //nolint:containedctx // Sockets and logs outlive the contexts of their requests.
	end       context.CancelFunc
	audiences audiences
}

func newShowing(s Shown) *showing {
	sum := sha256.Sum256([]byte(s.Name + "\x00" + s.Server))
	return &showing{Shown: s, id: hex.EncodeToString(sum[:8])}
}

// begin allows WebSockets of the cluster until stopping ends, or s.end is called.
func (s *showing) begin(stopping context.Context) { s.ended, s.end = context.WithCancel(stopping) }

// Show makes another cluster the active one while the server runs. It ends the sockets and logs of the previous
// cluster, and their pages reload. Nothing more is read from the previous cluster.
func (s *Server) Show(shown Shown) {
	next := newShowing(shown)
	next.begin(s.stopping)
	s.present.Swap(next).end()
}

// showingKey is the context key of the cluster that a request uses.
type showingKey struct{}

// look is middleware that stores the active cluster in the context of a request, which uses it from start to end.
func (s *Server) look(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), showingKey{}, s.present.Load())))
	})
}

// showing returns the cluster that a request uses.
func (s *Server) showing(r *http.Request) *showing {
	if shown, ok := r.Context().Value(showingKey{}).(*showing); ok {
		return shown
	}
	return s.present.Load() // On the metrics listener, requests do not pass through look.
}
