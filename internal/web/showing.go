package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"glasshouse/internal/watch"
)

// Shown is a cluster, and what a page is to know of it.
type Shown struct {
	Cluster *watch.Cluster
	Name    string // For the page: the kubeconfig's context.
	Server  string // The address of the API server.
	// Namespace is the one that the first page shows; empty for all.
	Namespace string
}

// showing is the cluster that is shown, one at a time, and what ends with it. A
// request sees one from its begin to its end.
type showing struct {
	Shown

	// id tells pages of this cluster from those of others; it outlasts the program.
	id        string
	ended     context.Context //nolint:containedctx // Ends the sockets and logs, which outlive their requests' contexts.
	end       context.CancelFunc
	audiences audiences
}

func newShowing(s Shown) *showing {
	sum := sha256.Sum256([]byte(s.Name + "\x00" + s.Server))
	return &showing{Shown: s, id: hex.EncodeToString(sum[:8])}
}

// begin lets sockets be served until stopping ends, or end is called.
func (s *showing) begin(stopping context.Context) { s.ended, s.end = context.WithCancel(stopping) }

// Show has another cluster be shown, while the server runs. Whoever looks at the
// one before is told, and begins anew; of that nothing is read any more.
func (s *Server) Show(shown Shown) {
	next := newShowing(shown)
	next.begin(s.stopping)
	s.present.Swap(next).end()
}

// showingKey is where a request's context has what it is shown.
type showingKey struct{}

// look settles which cluster a request is shown.
func (s *Server) look(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), showingKey{}, s.present.Load())))
	})
}

// showing is what a request is shown.
func (s *Server) showing(r *http.Request) *showing {
	if shown, ok := r.Context().Value(showingKey{}).(*showing); ok {
		return shown
	}
	return s.present.Load() // The listener for probes.
}
