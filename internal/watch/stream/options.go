package stream

import (
	"context"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/cursor"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/messages"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// A ScanLimiter waits until the caller may start a scan, which keeps a processor busy. After the scan, the caller must
// call leave exactly once.
type ScanLimiter func(ctx context.Context) (leave func(), err error)

// Options are the settings of a Reader.
type Options struct {
	Informer    *shared.Informer
	Filter      *query.Filter
	View        View
	GuestMask   *compact.GuestMask          // Masks values in objects' texts for viewers of a share link; nil for others.
	Key         string                      // "namespace/name" if only one object is read; otherwise empty.
	Cipher      cursor.Cipher               // Signs and encrypts the cursors (positions in the changes) of the client.
	Check       func(context.Context) error // Returns an error if a namespace in the query does not exist.
	AcquireScan ScanLimiter
	EndError    error // The error that Next returns when the resource is no longer watched.
	Window      *query.Window
	Owner       informer.Owner // The viewer to whose quota the window's ranking (sorted rows) counts.
	Every       time.Duration
	Buffers     *sync.Pool
	// Slots limits the messages that all readers of one WebSocket have in memory. Nil means no limit.
	Slots   chan struct{}
	Reserve messages.Reserve
	Cache   *event.Cache
}
