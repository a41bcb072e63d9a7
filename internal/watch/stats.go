package watch

import (
	"time"

	"glasshouse/internal/watch/status"
)

// stats are the sizes of an informer's data, and what its feeds (lists and watches) have done since they started.
type stats struct {
	feedStats

	status           status.Status
	objects          int
	cacheBytes       int64 // Memory for the objects and for data about masked values.
	historyBytes     int64 // Memory for the history of changes.
	historyChanges   int
	historySince     time.Time // The start of the history.
	interruptedSince time.Time // The start of the earliest interruption that has not ended; zero if there is none.
}

func (i *informer) stats() stats {
	cache, history := i.Weight()
	now := stats{objects: i.Len(), cacheBytes: int64(cache) + i.masks.Weight(), historyBytes: int64(history)}
	now.historyChanges, now.historySince = i.retained()
	i.mu.Lock()
	defer i.mu.Unlock()
	now.status, _ = i.statusLocked(nil)
	now.feedStats = i.endedStats
	for _, f := range i.feeds {
		own := f.state.feedStats
		own.lastEvent = f.lastChangeTime()
		now.feedStats.add(&own)
		if !own.interruptionStart.IsZero() {
			now.interruptedFor += time.Since(own.interruptionStart)
			if now.interruptedSince.IsZero() || own.interruptionStart.Before(now.interruptedSince) {
				now.interruptedSince = own.interruptionStart
			}
		}
	}
	return now
}
