package catalog

import (
	"context"
	"fmt"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// silenceLimit is the duration after which a discovery without a response is reported as a problem. It is also the
// maximum duration of the request for the API server's version.
const silenceLimit = 5 * time.Second

// Health describes how the API server responded to discovery. Only the field Version needs an additional request.
type Health struct {
	Version string        // Version of the API server, such as "v1.34.1"; empty if unknown.
	Latency time.Duration // Duration of the newest successful discovery; 0 if there was none.
	Reason  string        // Why the API server does not respond. Empty if it responds.
}

// Health returns how the API server responded to discovery most recently.
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

// readVersion reads the version of the API server. If the request fails, for example without a permission, the version
// stays as it was.
func (c *Catalog) readVersion(ctx context.Context) {
	// Limit the duration of this request, because the next discovery starts only after this request has ended.
	ctx, cancel := context.WithTimeout(ctx, silenceLimit)
	defer cancel()
	info, err := c.client.ServerVersionWithContext(ctx)
	if err != nil {
		return // Ignore the error: the version is only displayed.
	}
	c.mu.Lock()
	c.version = info.GitVersion
	c.mu.Unlock()
}
