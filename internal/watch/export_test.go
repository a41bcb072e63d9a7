package watch

import (
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/stream"
)

// Informer returns the informer of the resource ref. Tests use its method Faults to produce states that otherwise
// only rare races produce.
func (c *Cluster) Informer(ref string) *stream.SharedInformer {
	resources, _, _ := c.catalog.All()
	return c.find(listwatch.Scope{Resource: resources[resource.Index(resources, ref)].GVR()})
}

// Reader returns the reader of the subscription, without the checks of permissions.
func (s *Subscription) Reader() *stream.Reader { return s.reader }

func (c *Cluster) CachedNamespaces() int { return c.namespaceExistence.Len() }

// CachedValues returns the values in the cache of encoded values, and the size of the whole cache in bytes as the cache
// itself counts it.
func (c *Cluster) CachedValues() (values []any, accounted int) { return c.encodedCache.Values() }
