// Package watchstatus describes what is watched: how current the data is, and how much memory it uses.
package watchstatus

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// Status describes everything that is watched, or what one viewer may see of it.
type Status struct {
	Limit     int64   `json:"limit"`     // Maximum of UsedBytes; 0 for no limit.
	UsedBytes int64   `json:"held"`      // Memory that all entries use, in bytes.
	Entries   []Entry `json:"resources"` // Sorted by resource; never nil.
	// HealthScriptErrors counts how often a health script did not return a valid result.
	HealthScriptErrors uint64 `json:"-"`
}

// Entry is the watch status of one resource, or only of those objects that the field selector in Fields selects.
type Entry struct {
	Resource      string `json:"resource"` // The ref of the resource, such as "core/v1/pods".
	Kind          string `json:"kind"`     // Empty if discovery has not found the resource. Of does not set it.
	Fields        string `json:"fields,omitempty"`
	Metadata      bool   `json:"metadata,omitempty"` // Only metadata is watched, to detect new and removed resources.
	Shared        bool   `json:"shared,omitempty"`   // This watch is for guests, and has masked values.
	status.Status        // The field Namespaces is set if only some namespaces are watched.
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
	// InterruptedSince is the start of the earliest interruption that has not ended; zero if there is none.
	InterruptedSince time.Time `json:"blindSince,omitzero"`
}

// Of returns the watch status of informers.
func Of(informers []*shared.Informer) Status {
	s := Status{Entries: make([]Entry, 0, len(informers))}
	for _, i := range informers {
		e := entryOf(i)
		s.UsedBytes += e.CacheBytes + e.OrderBytes + e.RingBytes
		s.Entries = append(s.Entries, e)
	}
	slices.SortFunc(s.Entries, func(a, b Entry) int {
		return cmp.Or(
			cmp.Compare(a.Resource, b.Resource),
			cmp.Compare(a.Fields, b.Fields),
			strings.Compare(strconv.FormatBool(a.Shared), strconv.FormatBool(b.Shared)),
			cmp.Compare(len(a.Namespaces), len(b.Namespaces)),
		)
	})
	return s
}

func entryOf(i *shared.Informer) Entry {
	now := i.Stats()
	return Entry{
		Resource: i.Resource().Ref(), Fields: i.Scope.Fields, Metadata: i.Scope.Metadata,
		Shared: i.Scope.GuestMasked, Status: now.Status,
		Objects: now.Objects, CacheBytes: now.CacheBytes, OrderBytes: i.Rankings.Weight(),
		RingBytes: now.HistoryBytes, RingChanges: now.HistoryChanges, RingSince: now.HistorySince,
		Readers: int(i.Readers.Load()), Resets: int(i.Resets.Load()), LastEvent: now.LastEvent, Lists: now.Lists,
		Drops: now.Drops, Interruptions: now.Interruptions, InterruptedSeconds: now.InterruptedFor.Seconds(),
		InterruptedSince: now.InterruptedSince,
	}
}
