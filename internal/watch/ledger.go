package watch

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Ledger says what is being watched, how well, and what that costs.
type Ledger struct {
	Limit   int64      `json:"limit"`     // Bytes that may be held; 0 where there is no limit.
	Held    int64      `json:"held"`      // Bytes that are held.
	Entries []Coverage `json:"resources"` // By resource, then scope; never nil.
}

// Coverage is how one scope of a resource is known.
type Coverage struct {
	Resource    string `json:"resource"`           // Its ref.
	Fields      string `json:"fields,omitempty"`   // Field selector.
	Metadata    bool   `json:"metadata,omitempty"` // Of the metadata alone: it tells when kinds come and go.
	Shared      bool   `json:"shared,omitempty"`   // As those may see it whom it is shared with.
	Status             // State, since, reason, count, and the namespaces where they are not all.
	Objects     int    `json:"objects"`
	CacheBytes  int64  `json:"cacheBytes"` // Of the objects,
	OrderBytes  int64  `json:"orderBytes"` // of their rows in the orders of windows,
	RingBytes   int64  `json:"ringBytes"`  // and of the changes kept.
	RingChanges int    `json:"ringChanges"`
	// RingSince is how far back a cursor may reach.
	RingSince time.Time `json:"ringSince,omitzero"`
	Readers   int       `json:"readers"` // Subscriptions now.
	LastEvent time.Time `json:"lastEvent,omitzero"`
	Lists     int       `json:"lists"`  // The first included; each one more is a relist.
	Drops     int       `json:"drops"`  // Watches that ended.
	Resets    int       `json:"resets"` // Readers that had to begin anew.
	// Blind counts the intervals without a watch after the first list; BlindFor
	// is all of them together, in seconds, the present ones included, the first
	// of which began at BlindSince.
	Blind      int       `json:"blind"`
	BlindFor   float64   `json:"blindSeconds"`
	BlindSince time.Time `json:"blindSince,omitzero"`
}

// Ledger returns the ledger of all that is watched, for whomever.
func (c *Cluster) Ledger() Ledger {
	ledger := Ledger{Limit: c.pool.budget, Entries: []Coverage{}}
	for _, i := range c.pool.informers() {
		ledger.enter(i)
	}
	ledger.sort()
	return ledger
}

// Coverage returns the Ledger; to who may not see all that the program does, only
// that of the resources of which it may see all.
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
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Fields, b.Fields), strings.Compare(strconv.FormatBool(a.Shared), strconv.FormatBool(b.Shared)), cmp.Compare(len(a.Namespaces), len(b.Namespaces)))
	})
}

func (i *informer) coverage() Coverage {
	cache, ring := i.Weight()
	c := Coverage{
		Resource: resourceOf(i).Ref(), Fields: i.scope.Fields, Metadata: i.scope.Metadata, Shared: i.scope.Shared,
		Objects: i.Len(), CacheBytes: int64(cache) + i.masks.Weight(), OrderBytes: i.rankings.weight(), RingBytes: int64(ring), Readers: int(i.readers.Load()), Resets: int(i.resets.Load()),
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
	c.Lists, c.Drops, c.Blind, c.BlindFor, c.LastEvent = sum.lists, sum.drops, sum.blind, sum.blindFor.Seconds(), sum.lastEvent
	return c
}
