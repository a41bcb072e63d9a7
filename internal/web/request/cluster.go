package request

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync/atomic"

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

// Cluster is a cluster that all browser tabs show, or showed before the user switched to another one. A request that
// started before the switch uses the old cluster until it ends.
type Cluster struct {
	ClusterInfo

	// ID is a hash of the name and the server URL, so it survives a restart of the program. A page sends the ID of
	// its cluster, and the server compares it with the ID of the active cluster.
	ID  string
	ctx context.Context //nolint:containedctx // WebSockets and logs outlive their requests.
	end context.CancelFunc
}

func newCluster(info ClusterInfo) *Cluster {
	sum := sha256.Sum256([]byte(info.Name + "\x00" + info.Server))
	return &Cluster{ClusterInfo: info, ID: hex.EncodeToString(sum[:8])}
}

// Context returns a context that ends when another cluster becomes active. The WebSockets and log streams of this
// cluster then end, too.
func (c *Cluster) Context() context.Context { return c.ctx }

func (c *Cluster) begin(stopping context.Context) { c.ctx, c.end = context.WithCancel(stopping) }

// ActiveCluster is the cluster that new requests use, and the contexts of the kubeconfig to switch to.
type ActiveCluster struct {
	current  atomic.Pointer[Cluster]
	contexts *Contexts
}

// NewActiveCluster returns an ActiveCluster for a server that starts with the given cluster.
func NewActiveCluster(info ClusterInfo, contexts *Contexts) *ActiveCluster {
	a := &ActiveCluster{contexts: contexts}
	a.current.Store(newCluster(info))
	return a
}

// Load returns the active cluster. Handlers use ClusterOf instead, because a request must use only one cluster.
func (a *ActiveCluster) Load() *Cluster { return a.current.Load() }

// Begin allows WebSockets and log streams of the active cluster until the context stopping ends.
func (a *ActiveCluster) Begin(stopping context.Context) { a.Load().begin(stopping) }

// Replace makes another cluster the active one. It ends the WebSockets and log streams of the previous cluster, and
// allows those of the new cluster until the context stopping ends.
func (a *ActiveCluster) Replace(stopping context.Context, info ClusterInfo) {
	next := newCluster(info)
	next.begin(stopping)
	a.current.Swap(next).end()
}

type clusterKey struct{}

// Middleware stores the active cluster in the context of a request. The request uses this cluster until it ends, even
// if another cluster becomes active.
func (a *ActiveCluster) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), clusterKey{}, a.Load())))
	})
}

// ClusterOf returns the cluster that the method Middleware has stored in the context of a request.
func ClusterOf(r *http.Request) *Cluster {
	c, _ := r.Context().Value(clusterKey{}).(*Cluster)
	return c
}
