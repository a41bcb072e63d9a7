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
	Name    string // The name that pages show: the context of the kubeconfig.
	Server  string // The address of the API server.
	// Namespace is the namespace that the first page shows. An empty string means all namespaces.
	Namespace string
}

// activeCluster is the cluster that all tabs show, with the context and the feeds that end when another cluster
// becomes active. A request uses the same cluster from start to end.
type activeCluster struct {
	ClusterInfo

	// id distinguishes pages of this cluster from pages of other clusters. It stays the same when the program restarts.
	id string
	// ctx ends when the cluster is no longer the active one. Its end closes the WebSockets and log streams of the
	// cluster.
	ctx         context.Context //nolint:containedctx // Sockets and logs outlive the contexts of their requests.
	end         context.CancelFunc
	pickerFeeds pickerFeeds
}

func newActiveCluster(s ClusterInfo) *activeCluster {
	sum := sha256.Sum256([]byte(s.Name + "\x00" + s.Server))
	return &activeCluster{ClusterInfo: s, id: hex.EncodeToString(sum[:8])}
}

// begin allows WebSockets of the cluster until stopping ends or s.end is called.
func (s *activeCluster) begin(stopping context.Context) { s.ctx, s.end = context.WithCancel(stopping) }

// SwitchCluster makes another cluster the active one while the server runs. It ends the WebSockets and log streams of
// the previous cluster, so that the open pages reload. Requests then no longer read from the previous cluster.
func (s *Server) SwitchCluster(info ClusterInfo) {
	next := newActiveCluster(info)
	next.begin(s.stopping)
	s.active.Swap(next).end()
}

// clusterKey is the context key of the cluster that a request uses.
type clusterKey struct{}

// withCluster is middleware that stores the active cluster in the context of a request. The request then uses this
// cluster from start to end, even if another one becomes active.
func (s *Server) withCluster(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), clusterKey{}, s.active.Load())))
	})
}

// clusterOf returns the cluster that a request uses: the one that withCluster stored in its context.
func (s *Server) clusterOf(r *http.Request) *activeCluster {
	if cluster, ok := r.Context().Value(clusterKey{}).(*activeCluster); ok {
		return cluster
	}
	// Requests to the metrics listener have no stored cluster, because they do not pass through withCluster.
	return s.active.Load()
}
