package watch

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"glasshouse/internal/watch/status"
)

// A WatchStatus is the watch status: what is watched, how current it is, and how much memory it uses.
type WatchStatus struct { //nolint:revive // A Status is the state of one resource.
	Limit     int64              `json:"limit"`     // Limit of UsedBytes in bytes; 0 if there is none.
	UsedBytes int64              `json:"held"`      // Bytes in use.
	Entries   []WatchStatusEntry `json:"resources"` // Sorted by resource, then scope; never nil.
}

// WatchStatusEntry is the watch status of one scope of a resource.
type WatchStatusEntry struct { //nolint:revive // See WatchStatus.
	Resource      string `json:"resource"` // The ref of the resource.
	Fields        string `json:"fields,omitempty"`
	Metadata      bool   `json:"metadata,omitempty"` // Only metadata is watched, to detect new and removed resources.
	Shared        bool   `json:"shared,omitempty"`   // The guest mask is applied, for share links.
	status.Status        // Status.Namespaces is set if not all namespaces are covered.
	Objects       int    `json:"objects"`
	CacheBytes    int64  `json:"cacheBytes"` // Memory for the objects.
	OrderBytes    int64  `json:"orderBytes"` // Memory for their rows in rankings (sorted lists).
	RingBytes     int64  `json:"ringBytes"`  // Memory for the history.
	RingChanges   int    `json:"ringChanges"`
	// RingSince is the start of the history: older cursors cannot be resumed.
	RingSince time.Time `json:"ringSince,omitzero"`
	Readers   int       `json:"readers"` // The number of open subscriptions.
	LastEvent time.Time `json:"lastEvent,omitzero"`
	Lists     int       `json:"lists"`  // The number of completed lists: first lists and relists.
	Drops     int       `json:"drops"`  // The number of watches that ended.
	Resets    int       `json:"resets"` // The number of readers that had to restart from a snapshot.
	// Interruptions counts the interruptions: intervals without a watch after the first list. InterruptedSeconds is their
	// total duration in seconds, including interruptions that have not ended. InterruptedSince is the start of the
	// earliest of those.
	Interruptions      int       `json:"blind"`
	InterruptedSeconds float64   `json:"blindSeconds"`
	InterruptedSince   time.Time `json:"blindSince,omitzero"`
}

// WatchStatus returns the watch status of everything that is watched, without a permission check.
func (c *Cluster) WatchStatus() WatchStatus {
	status := WatchStatus{Limit: c.pool.budget, Entries: []WatchStatusEntry{}}
	for _, i := range c.pool.informers() {
		status.add(i)
	}
	status.sort()
	return status
}

// WatchStatus returns the watch status that the viewer may see. Viewers with the permissions of the program get the
// complete status. Other viewers get only the resources of which they may see all objects.
func (a *Access) WatchStatus(ctx context.Context) WatchStatus {
	if a.viewer.Program && a.viewer.Scope == nil {
		return a.cluster.WatchStatus()
	}
	status := WatchStatus{Entries: []WatchStatusEntry{}}
	informers := slices.DeleteFunc(a.cluster.pool.informers(), func(i *informer) bool { return i.scope.Fields != "" })
	for n, all := range a.canSeeAll(ctx, informerResources(informers)) {
		if all {
			status.add(informers[n])
		}
	}
	status.sort()
	return status
}

func (l *WatchStatus) add(i *informer) {
	c := i.watchStatusEntry()
	l.UsedBytes += c.CacheBytes + c.OrderBytes + c.RingBytes
	l.Entries = append(l.Entries, c)
}

func (l *WatchStatus) sort() {
	slices.SortFunc(l.Entries, func(a, b WatchStatusEntry) int {
		return cmp.Or(
			cmp.Compare(a.Resource, b.Resource),
			cmp.Compare(a.Fields, b.Fields),
			strings.Compare(strconv.FormatBool(a.Shared), strconv.FormatBool(b.Shared)),
			cmp.Compare(len(a.Namespaces), len(b.Namespaces)),
		)
	})
}

func (i *informer) watchStatusEntry() WatchStatusEntry {
	cache, ring := i.Weight()
	c := WatchStatusEntry{
		Resource: resourceOf(i).Ref(), Fields: i.scope.Fields, Metadata: i.scope.Metadata, Shared: i.scope.GuestMasked,
		Objects: i.Len(), CacheBytes: int64(cache) + i.masks.Weight(),
		OrderBytes: i.rankings.weight(), RingBytes: int64(ring),
		Readers: int(i.readers.Load()), Resets: int(i.resets.Load()),
	}
	c.RingChanges, c.RingSince = i.retained()
	i.mu.Lock()
	defer i.mu.Unlock()
	c.Status, _ = i.statusLocked(nil)
	sum := i.endedStats
	for _, f := range i.feeds {
		own := f.state.feedStats
		own.lastEvent = f.lastChangeTime()
		sum.add(&own)
		if !own.interruptionStart.IsZero() {
			sum.interruptedFor += time.Since(own.interruptionStart)
			if c.InterruptedSince.IsZero() || own.interruptionStart.Before(c.InterruptedSince) {
				c.InterruptedSince = own.interruptionStart
			}
		}
	}
	c.Lists, c.Drops, c.Interruptions, c.InterruptedSeconds, c.LastEvent =
		sum.lists, sum.drops, sum.interruptions, sum.interruptedFor.Seconds(), sum.lastEvent
	return c
}
