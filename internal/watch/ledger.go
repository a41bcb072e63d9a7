package watch

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Ledger is the watch status: what is watched, how current it is, and how much memory it uses.
type Ledger struct {
	Limit   int64      `json:"limit"`     // Limit of Held in bytes; 0 if there is none.
	Held    int64      `json:"held"`      // Bytes in use.
	Entries []Coverage `json:"resources"` // Sorted by resource, then scope; never nil.
}

// Coverage is the watch status of one scope of a resource.
type Coverage struct {
	Resource    string `json:"resource"` // The ref of the resource.
	Fields      string `json:"fields,omitempty"`
	Metadata    bool   `json:"metadata,omitempty"` // Only metadata is watched, to detect new and removed resources.
	Shared      bool   `json:"shared,omitempty"`   // The guest mask is applied, for share links.
	Status             // Status.Namespaces is set if not all namespaces are covered.
	Objects     int    `json:"objects"`
	CacheBytes  int64  `json:"cacheBytes"` // Memory for the objects.
	OrderBytes  int64  `json:"orderBytes"` // Memory for their rows in rankings (sorted lists).
	RingBytes   int64  `json:"ringBytes"`  // Memory for the history.
	RingChanges int    `json:"ringChanges"`
	// RingSince is the start of the history: older cursors cannot be resumed.
	RingSince time.Time `json:"ringSince,omitzero"`
	Readers   int       `json:"readers"` // The number of open subscriptions.
	LastEvent time.Time `json:"lastEvent,omitzero"`
	Lists     int       `json:"lists"`  // The number of completed lists: first lists and relists.
	Drops     int       `json:"drops"`  // The number of watches that ended.
	Resets    int       `json:"resets"` // The number of readers that had to restart from a snapshot.
	// Blind counts the interruptions: intervals without a watch after the first list. BlindFor is their total duration
	// in seconds, including interruptions that have not ended. BlindSince is the start of the earliest of those.
	Blind      int       `json:"blind"`
	BlindFor   float64   `json:"blindSeconds"`
	BlindSince time.Time `json:"blindSince,omitzero"`
}

// Ledger returns the watch status of everything that is watched, without a permission check.
func (c *Cluster) Ledger() Ledger {
	ledger := Ledger{Limit: c.pool.budget, Entries: []Coverage{}}
	for _, i := range c.pool.informers() {
		ledger.enter(i)
	}
	ledger.sort()
	return ledger
}

// Coverage returns the watch status that the viewer may see. Viewers with the permissions of the program get the
// complete status. Other viewers get only the resources of which they may see all objects.
func (a *Access) Coverage(ctx context.Context) Ledger {
	if a.viewer.Program && a.viewer.Scope == nil {
		return a.cluster.Ledger()
	}
	ledger := Ledger{Entries: []Coverage{}}
	informers := slices.DeleteFunc(a.cluster.pool.informers(), func(i *informer) bool { return i.scope.Fields != "" })
	for n, all := range a.seesAll(ctx, kindsOf(informers)) {
		if all {
			ledger.enter(informers[n])
		}
	}
	ledger.sort()
	return ledger
}

func (l *Ledger) enter(i *informer) {
	c := i.coverage()
	l.Held += c.CacheBytes + c.OrderBytes + c.RingBytes
	l.Entries = append(l.Entries, c)
}

func (l *Ledger) sort() {
	slices.SortFunc(l.Entries, func(a, b Coverage) int {
		return cmp.Or(
			cmp.Compare(a.Resource, b.Resource),
			cmp.Compare(a.Fields, b.Fields),
			strings.Compare(strconv.FormatBool(a.Shared), strconv.FormatBool(b.Shared)),
			cmp.Compare(len(a.Namespaces), len(b.Namespaces)),
		)
	})
}

func (i *informer) coverage() Coverage {
	cache, ring := i.Weight()
	c := Coverage{
		Resource: resourceOf(i).Ref(), Fields: i.scope.Fields, Metadata: i.scope.Metadata, Shared: i.scope.Shared,
		Objects: i.Len(), CacheBytes: int64(cache) + i.masks.Weight(),
		OrderBytes: i.rankings.weight(), RingBytes: int64(ring),
		Readers: int(i.readers.Load()), Resets: int(i.resets.Load()),
	}
	c.RingChanges, c.RingSince = i.whole()
	i.mu.Lock()
	defer i.mu.Unlock()
	c.Status, _ = i.statusLocked(nil)
	sum := i.past
	for _, f := range i.feeds {
		own := f.now.record
		own.lastEvent = f.lastHeard()
		sum.add(&own)
		if !own.blindSince.IsZero() {
			sum.blindFor += time.Since(own.blindSince)
			if c.BlindSince.IsZero() || own.blindSince.Before(c.BlindSince) {
				c.BlindSince = own.blindSince
			}
		}
	}
	c.Lists, c.Drops, c.Blind, c.BlindFor, c.LastEvent =
		sum.lists, sum.drops, sum.blind, sum.blindFor.Seconds(), sum.lastEvent
	return c
}
