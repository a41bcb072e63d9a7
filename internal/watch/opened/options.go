package opened

import (
	"context"

	"github.com/glasshouse-project/glasshouse/internal/watch/messages"
	"github.com/glasshouse-project/glasshouse/internal/watch/permit"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

// Options are limits for the reads of a viewer, and functions that the reads call. The zero Options limit nothing.
type Options struct {
	// MaxMessages limits how many messages all subscriptions together have in memory; 0 means no limit. A message
	// counts until the next call of Subscription.Next. At the limit, Next waits until a message of another subscription
	// no longer counts. So read each subscription in its own goroutine.
	MaxMessages int
	// Reserve is called before a subscription builds a long message. It reserves memory for the message.
	Reserve messages.Reserve
	// ScanLimiter is called before each scan of all rows of a resource.
	ScanLimiter stream.ScanLimiter
	// Grow is called when a response needs more or less memory than was estimated. bytes is the difference, negative
	// for less.
	Grow func(bytes int64)
	// Revalidation records the permissions on which a response depends.
	Revalidation *permit.Revalidation
}

// AdjustMemory reports that a response needs more or less memory than estimated. The parameter is the difference in
// bytes.
func (o *Options) AdjustMemory(bytes int64) {
	if o.Grow != nil && bytes != 0 {
		o.Grow(bytes)
	}
}

// AcquireProcessor waits until the caller may start work that keeps a processor busy. After this work, the caller
// must call release.
func (o *Options) AcquireProcessor(ctx context.Context) (release func(), err error) {
	if o.ScanLimiter == nil {
		return func() {}, nil
	}
	return o.ScanLimiter(ctx)
}
