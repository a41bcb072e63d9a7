package request

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync/atomic"

	"github.com/glasshouse-project/glasshouse/internal/watch"
)

// ClusterInfo is a cluster with the details that pages show.
type ClusterInfo struct {
	Cluster *watch.Cluster
	Name    string // Name of the kubeconfig context.
	Server  string
	// Namespace is the namespace whose problems the start page shows; empty means all namespaces.
	Namespace string
}

// Cluster is the active cluster of all browser tabs, or a previous one that requests still use.
type Cluster struct {
	ClusterInfo

	// ID is a hash of the context name and the server address. A page sends the ID of the cluster that it shows. If
	// another cluster is active, the server closes the WebSocket, so that the page reloads.
	ID  string
	ctx context.Context //nolint:containedctx // WebSockets and logs outlive their requests.
	end context.CancelFunc
}

func newCluster(info ClusterInfo) *Cluster {
	sum := sha256.Sum256([]byte(info.Name + "\x00" + info.Server))
	return &Cluster{ClusterInfo: info, ID: hex.EncodeToString(sum[:8])}
}

// Context returns a context that ends when another cluster becomes active. WebSockets and log streams then end, too.
func (c *Cluster) Context() context.Context { return c.ctx }

func (c *Cluster) begin(stopping context.Context) { c.ctx, c.end = context.WithCancel(stopping) }

// ActiveCluster is the cluster that new requests use. It can switch to other kubeconfig contexts.
type ActiveCluster struct {
	current  atomic.Pointer[Cluster]
	contexts *Contexts
}

// NewActiveCluster returns an ActiveCluster that starts with the given cluster.
func NewActiveCluster(info ClusterInfo, contexts *Contexts) *ActiveCluster {
	a := &ActiveCluster{contexts: contexts}
	a.current.Store(newCluster(info))
	return a
}

// Load returns the active cluster. Handlers use ClusterOf instead, because a request must use only one cluster.
func (a *ActiveCluster) Load() *Cluster { return a.current.Load() }

// Begin creates the context for the WebSockets and log streams of the active cluster. The parameter stopping is the
// parent of this context.
func (a *ActiveCluster) Begin(stopping context.Context) { a.Load().begin(stopping) }

// Replace activates another cluster, and ends the WebSockets and log streams of the previous one.
func (a *ActiveCluster) Replace(stopping context.Context, info ClusterInfo) {
	next := newCluster(info)
	next.begin(stopping)
	a.current.Swap(next).end()
}

type clusterKey struct{}

// Middleware stores the active cluster in the context of a request. A later switch does not affect the request.
func (a *ActiveCluster) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), clusterKey{}, a.Load())))
	})
}

// ClusterOf returns the cluster that Middleware stored in the context of a request.
func ClusterOf(r *http.Request) *Cluster {
	c, _ := r.Context().Value(clusterKey{}).(*Cluster)
	return c
}
