package stream

import (
	"context"
	"sync"
	"time"

	"glasshouse/internal/watch/cursor"
	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/informer"
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/query"
)

// A ScanLimiter waits until the caller is allowed to start work that keeps a processor busy. The caller must call
// leave exactly once, when this work has ended.
type ScanLimiter func(ctx context.Context) (leave func(), err error)

// Options are the settings of a reader.
type Options struct {
	Informer    *SharedInformer
	Filter      *query.Filter
	View        View
	GuestMask   *listwatch.GuestMask        // Masks values in objects' texts for viewers of a share link; nil for others.
	Key         string                      // "namespace/name" if only one object is read; otherwise empty.
	Cipher      cursor.Cipher               // Signs and encrypts the cursors (positions in the changes) of the client.
	Check       func(context.Context) error // Returns an error if a namespace in the query does not exist.
	AcquireScan ScanLimiter
	EndError    error // The error that Next returns when the resource is no longer watched.
	Window      *query.Window
	Owner       informer.Owner // The owner of the quota for the window's ranking (sorted rows).
	Every       time.Duration
	FanOut      func() int
	Buffers     *sync.Pool
	// Slots limits how many messages are in memory at the same time. All readers of one WebSocket share it, and each
	// message uses one slot. Nil means no limit.
	Slots   chan struct{}
	Reserve Reserve
	Cache   *event.Cache
}
