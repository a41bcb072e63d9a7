package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"glasshouse/internal/watch"
)

// ClusterInfo is a cluster with the details that pages show.
type ClusterInfo struct {
	Cluster *watch.Cluster
	Name    string // The cluster name that pages show: the name of its kubeconfig context.
	Server  string // The URL of the API server.
	// Namespace is the namespace that the start page shows. An empty string means all namespaces.
	Namespace string
}

// activeCluster is the cluster that all browser tabs show. A request uses the same cluster from start to end, even if
// another cluster becomes active meanwhile.
type activeCluster struct {
	ClusterInfo

	// id is a hash of the name and the server URL, so it survives a restart of the program. A page sends the id of its
	// cluster, and the server compares it with the id of the active cluster.
	id string
	// ctx ends when another cluster becomes active. The WebSockets and log streams of this cluster then end, too.
	ctx         context.Context //nolint:containedctx // Sockets and logs outlive the contexts of their requests.
	end         context.CancelFunc
	pickerFeeds pickerFeeds
}

func newActiveCluster(s ClusterInfo) *activeCluster {
	sum := sha256.Sum256([]byte(s.Name + "\x00" + s.Server))
	return &activeCluster{ClusterInfo: s, id: hex.EncodeToString(sum[:8])}
}

// begin creates s.ctx, which allows WebSockets and log streams until stopping ends or s.end is called.
func (s *activeCluster) begin(stopping context.Context) { s.ctx, s.end = context.WithCancel(stopping) }

// SwitchCluster makes another cluster the active one while the server runs. It ends the WebSockets and log streams of
// the previous cluster, so that open pages reload. New requests read from the new cluster.
func (s *Server) SwitchCluster(info ClusterInfo) {
	next := newActiveCluster(info)
	next.begin(s.stopping)
	s.active.Swap(next).end()
}

// clusterKey is the context key of the cluster that withCluster stores for a request.
type clusterKey struct{}

// withCluster is middleware that stores the active cluster in the context of a request. The request uses this cluster
// until it ends, even if another cluster becomes active.
func (s *Server) withCluster(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), clusterKey{}, s.active.Load())))
	})
}

// clusterOf returns the cluster that withCluster stored in the context of a request, or else the active cluster.
func (s *Server) clusterOf(r *http.Request) *activeCluster {
	if cluster, ok := r.Context().Value(clusterKey{}).(*activeCluster); ok {
		return cluster
	}
	// Requests to the metrics listener do not pass through withCluster.
	return s.active.Load()
}
