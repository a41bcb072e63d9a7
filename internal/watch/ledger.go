package watch

import (
	"cmp"
	"slices"
	"time"

	"glasshouse/internal/watch/wire"
)

// A Ledger says what is being watched, how well, and what that costs.
type Ledger struct {
	Limit   int64      `json:"limit"`     // Bytes that may be held; 0 where there is no limit.
	Held    int64      `json:"held"`      // Bytes that are held; 0 where they are not counted.
	Entries []Coverage `json:"resources"` // By resource, then scope; never nil.
}

// Coverage is how one scope of a resource is known. What is not counted is left
// at zero.
type Coverage struct {
	Resource    string `json:"resource"`            // Its ref.
	Namespace   string `json:"namespace,omitempty"` // One, or empty for all.
	Fields      string `json:"fields,omitempty"`    // Field selector.
	Status             // State, since, reason and count.
	Objects     int    `json:"objects"`
	CacheBytes  int64  `json:"cacheBytes"` // Of the objects,
	RingBytes   int64  `json:"ringBytes"`  // and of the changes kept.
	RingChanges int    `json:"ringChanges"`
	// RingSince is how far back a cursor may reach.
	RingSince time.Time `json:"ringSince,omitzero"`
	Readers   int       `json:"readers"`
	LastEvent time.Time `json:"lastEvent,omitzero"`
	Lists     int       `json:"lists"`  // The first included; each one more is a relist.
	Drops     int       `json:"drops"`  // Watches that ended.
	Resets    int       `json:"resets"` // Readers that had to begin anew.
	// Blind counts the intervals without a watch after the first list; BlindFor
	// is all of them together, in seconds, the present one included, which
	// began at BlindSince.
	Blind      int       `json:"blind"`
	BlindFor   float64   `json:"blindSeconds"`
	BlindSince time.Time `json:"blindSince,omitzero"`
}

// Coverage returns the ledger of all that is watched, for whomever.
func (a *Access) Coverage() Ledger {
	held := a.cluster.pool.held()
	ledger := Ledger{Entries: make([]Coverage, 0, len(held))}
	for scope, h := range held {
		c := h.informer.coverage(scope)
		c.Readers = h.readers
		ledger.Entries = append(ledger.Entries, c)
	}
	slices.SortFunc(ledger.Entries, func(a, b Coverage) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Fields, b.Fields))
	})
	return ledger
}

// holding is a running informer and how many read it.
type holding struct {
	informer *informer
	readers  int
}

// held returns what runs now.
func (p *pool) held() map[wire.Scope]holding {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make(map[wire.Scope]holding, len(p.entries))
	for scope, e := range p.entries {
		all[scope] = holding{e.informer, e.holders}
	}
	return all
}

func (i *informer) coverage(scope wire.Scope) Coverage {
	resource := Resource{Group: scope.Resource.Group, Version: scope.Resource.Version, Resource: scope.Resource.Resource}
	return Coverage{
		Resource: resource.Ref(), Namespace: scope.Namespace, Fields: scope.Fields,
		Status: i.present().status, Objects: i.Len(), RingBytes: int64(i.Weight()),
	}
}
