package watch

import (
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

// Informer returns the informer of the resource ref. Tests use the informer's method Faults to produce states that
// otherwise need rare races.
func (c *Cluster) Informer(ref string) *shared.Informer {
	resources, _, _ := c.catalog.All()
	return c.find(listwatch.Scope{Resource: resources[resource.Index(resources, ref)].GVR()})
}

// Reader returns the reader of the subscription, without the checks of permissions.
func (s *Subscription) Reader() *stream.Reader { return s.reader }

func (c *Cluster) CachedNamespaces() int { return c.namespaces.Existence.Len() }

// CachedValues returns the cache of encoded values, and its size in bytes as counted by the cache itself.
func (c *Cluster) CachedValues() (values []any, accounted int) { return c.encodedCache.Values() }
