package informer

import (
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// Stats are the sizes of an informer's data, and statistics about its feeds (lists and watches).
type Stats struct {
	feedStats

	Status           status.Status
	Objects          int
	CacheBytes       int64 // Memory of the objects and of data about masked values.
	HistoryBytes     int64 // Memory of the history of changes.
	HistoryChanges   int
	HistorySince     time.Time
	InterruptedSince time.Time // Start of the earliest interruption that has not ended; zero if there is none.
}

// Stats returns the present Stats of the informer.
func (i *Informer) Stats() Stats {
	cache, history := i.Weight()
	now := Stats{Objects: i.Len(), CacheBytes: int64(cache) + i.masks.Weight(), HistoryBytes: int64(history)}
	now.HistoryChanges, now.HistorySince = i.retained()
	i.mu.Lock()
	defer i.mu.Unlock()
	now.Status, _ = i.statusLocked(nil)
	now.feedStats = i.endedStats
	for _, f := range i.feeds {
		own := f.state.feedStats
		own.LastEvent = f.lastChangeTime()
		now.add(&own)
		if !own.interruptionStart.IsZero() {
			now.InterruptedFor += time.Since(own.interruptionStart)
			if now.InterruptedSince.IsZero() || own.interruptionStart.Before(now.InterruptedSince) {
				now.InterruptedSince = own.interruptionStart
			}
		}
	}
	return now
}
