package catalog

import (
	"context"
	"fmt"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// silenceLimit is the time after which a discovery without a response counts as failed.
const silenceLimit = 5 * time.Second

// Health describes how the API server responded to discovery. It is a result of discovery, so only the version needs an
// additional request.
type Health struct {
	Version string        // Such as "v1.34.1". Empty if unknown.
	Latency time.Duration // Of the newest successful discovery. 0 if there was none.
	Reason  string        // Why the API server does not respond. Empty if it responds.
}

// Health returns how the API server responded to the newest discovery.
func (c *Catalog) Health() Health {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := Health{Version: c.version, Latency: c.latency}
	switch {
	case c.err != nil && c.resources == nil:
		h.Reason = c.unavailableLocked().Error()
	case c.err != nil:
		h.Reason = fmt.Sprintf("Discovery has failed since %s: %s",
			c.failingSince.UTC().Format(time.RFC3339), status.ReasonOf(c.err))
	case !c.startedAt.IsZero() && time.Since(c.startedAt) > silenceLimit:
		h.Reason = "Discovery has had no response since " + c.startedAt.UTC().Format(time.RFC3339)
	}
	return h
}

// readVersion reads the version of the API server. Without a permission for it, the version stays unknown.
func (c *Catalog) readVersion(ctx context.Context) {
	// Limit the time, because the next discovery waits for the end of this request.
	ctx, cancel := context.WithTimeout(ctx, silenceLimit)
	defer cancel()
	info, err := c.client.ServerVersionWithContext(ctx)
	if err != nil {
		return // Only the display of the version needs this request.
	}
	c.mu.Lock()
	c.version = info.GitVersion
	c.mu.Unlock()
}
