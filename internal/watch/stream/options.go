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
	GuestMask   *listwatch.GuestMask // Masks values in objects' texts for viewers of a share link; nil for others.
	Key         string               // "namespace/name" of the only object to read; "" if there can be several.
	NewCipher   func() cursor.Cipher
	Check       func(context.Context) error // Returns an error if a requested namespace does not exist.
	AcquireScan ScanLimiter
	EndError    error          // The error of Next after the resource is no longer watched.
	Window      *query.Window  // Nil except in the view Windowed.
	Owner       informer.Owner // Whose quota the window's ranking (sorted rows) counts towards.
	Every       time.Duration  // The minimum time between two messages with changes.
	FanOut      func() int     // Returns the number of readers; nil for a single reader.
	Buffers     *sync.Pool     // Contains *[]byte, in which messages are built.
	Slots       chan struct{}  // Semaphore for the messages of several readers; nil for no limit.
	Reserve     Reserve        // Reserves memory for a message; nil for no reservations.
	Cache       *event.Cache
}
