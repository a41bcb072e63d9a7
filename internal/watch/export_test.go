package watch

import (
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

// Informer returns the informer of a resource. Through the informer's method Faults, tests produce states that
// otherwise occur only in rare races.
func (c *Cluster) Informer(ref string) *shared.Informer {
	resources, _, _ := c.catalog.All()
	return c.find(listwatch.Scope{Resource: resources[resource.Index(resources, ref)].GVR()})
}

// Reader returns the reader of the subscription. Unlike the subscription, this reader does not check permissions.
func (s *Subscription) Reader() *stream.Reader { return s.reader }

// CachedValues returns the values in the cache of encoded values. accounted is the size that the cache counts for them,
// in bytes.
func (c *Cluster) CachedValues() (values []any, accounted int) { return c.encodedCache.Values() }
