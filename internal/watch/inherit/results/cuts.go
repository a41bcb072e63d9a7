package results

import (
	"slices"
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Cut describes a list of which a rule has not read all objects.
type Cut struct {
	Text    string // A sentence for viewers who may read the sources.
	Sources verdict.Sources
}

// Cuts contains the cut lists of each object, from the newest evaluation of the object. The zero value is ready to use.
type Cuts struct {
	mu sync.RWMutex
	of map[graph.ID][]Cut
}

// Get returns the cut lists of an object.
func (c *Cuts) Get(id graph.ID) []Cut {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.of[id]
}

// Set replaces the cut lists of an object.
func (c *Cuts) Set(id graph.ID, cuts []Cut) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case len(cuts) == 0:
		delete(c.of, id)
		return
	case c.of == nil:
		c.of = make(map[graph.ID][]Cut)
	}
	c.of[id] = slices.Clip(cuts)
}

// Reset removes all cut lists.
func (c *Cuts) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of = nil
}
