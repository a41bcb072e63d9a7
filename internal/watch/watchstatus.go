package watch

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// A WatchStatus describes everything that is watched: how current the data is, and how much memory it uses.
type WatchStatus struct { //nolint:revive // A Status is the state of one resource.
	Limit     int64              `json:"limit"`     // Maximum of UsedBytes; 0 for no limit.
	UsedBytes int64              `json:"held"`      // Memory that all entries use, in bytes.
	Entries   []WatchStatusEntry `json:"resources"` // Sorted by resource; never nil.
	// HealthScriptErrors counts the runs of a health script without a valid result.
	HealthScriptErrors uint64 `json:"-"`
}

// WatchStatusEntry is the watch status of one resource, or of one field selector on it.
type WatchStatusEntry struct { //nolint:revive // See WatchStatus.
	Resource      string `json:"resource"` // The ref of the resource, such as "core/v1/pods".
	Fields        string `json:"fields,omitempty"`
	Metadata      bool   `json:"metadata,omitempty"` // Only metadata is watched, to detect new and removed resources.
	Shared        bool   `json:"shared,omitempty"`   // A watch for guests, with masked values.
	status.Status        // Its Namespaces are set if only some namespaces are watched.
	Objects       int    `json:"objects"`
	CacheBytes    int64  `json:"cacheBytes"` // Memory for the objects, in bytes.
	OrderBytes    int64  `json:"orderBytes"` // Memory for sorted lists of rows, in bytes.
	RingBytes     int64  `json:"ringBytes"`  // Memory for the history of changes, in bytes.
	RingChanges   int    `json:"ringChanges"`
	// RingSince is the start of the history. Readers cannot resume from older cursors.
	RingSince time.Time `json:"ringSince,omitzero"`
	Readers   int       `json:"readers"` // The number of open subscriptions.
	LastEvent time.Time `json:"lastEvent,omitzero"`
	Lists     int       `json:"lists"`  // The number of completed lists: first lists and relists.
	Drops     int       `json:"drops"`  // The number of watches that ended.
	Resets    int       `json:"resets"` // The number of times that a reader had to restart from a snapshot.
	// Interruptions counts the intervals without a watch after the first list. InterruptedSeconds is their total
	// duration.
	Interruptions      int     `json:"blind"`
	InterruptedSeconds float64 `json:"blindSeconds"`
	// InterruptedSince is the start of the earliest interval that has not ended.
	InterruptedSince time.Time `json:"blindSince,omitzero"`
}

// WatchStatus returns the status of everything that is watched. It checks no permissions.
func (c *Cluster) WatchStatus() WatchStatus {
	status := WatchStatus{
		Limit: c.pool.Budget.Limit, Entries: []WatchStatusEntry{}, HealthScriptErrors: c.health.ScriptErrors(),
	}
	for _, i := range c.sharedInformers() {
		status.add(i)
	}
	status.sort()
	return status
}

// WatchStatus returns the watch status of the resources of which the viewer may see all objects.
func (a *Access) WatchStatus(ctx context.Context) WatchStatus {
	if a.checker.Viewer.Program && a.checker.Viewer.Scope == nil {
		return a.cluster.WatchStatus()
	}
	status := WatchStatus{Entries: []WatchStatusEntry{}}
	informers := slices.DeleteFunc(
		a.cluster.sharedInformers(), func(i *shared.Informer) bool { return i.Scope.Fields != "" },
	)
	for n, all := range a.checker.CanSeeAll(ctx, resourcesOf(informers)) {
		if all {
			status.add(informers[n])
		}
	}
	status.sort()
	return status
}

func (l *WatchStatus) add(i *shared.Informer) {
	c := watchStatusEntry(i)
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

func watchStatusEntry(i *shared.Informer) WatchStatusEntry {
	now := i.Stats()
	return WatchStatusEntry{
		Resource: i.Resource().Ref(), Fields: i.Scope.Fields, Metadata: i.Scope.Metadata,
		Shared: i.Scope.GuestMasked, Status: now.Status,
		Objects: now.Objects, CacheBytes: now.CacheBytes, OrderBytes: i.Rankings.Weight(),
		RingBytes: now.HistoryBytes, RingChanges: now.HistoryChanges, RingSince: now.HistorySince,
		Readers: int(i.Readers.Load()), Resets: int(i.Resets.Load()), LastEvent: now.LastEvent, Lists: now.Lists,
		Drops: now.Drops, Interruptions: now.Interruptions, InterruptedSeconds: now.InterruptedFor.Seconds(),
		InterruptedSince: now.InterruptedSince,
	}
}
