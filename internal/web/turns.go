package web

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"sync"
)

const (
	// graphsAtOnce are the graphs of relations that are made at a time for one viewer,
	// and exportsAtOnce the answers with whole objects, until they are read: where there
	// are ten thousand objects they take seconds. Others of theirs wait, lest nobody else
	// have the processors.
	graphsAtOnce, exportsAtOnce = 2, 2
)

// readsAtOnce are the answers at a time for which all rows of a kind are gone through
// for one viewer: half of the processors are left for others.
func readsAtOnce() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// turns has those wait of whom there are as many as may be at a time. The zero value has
// nobody in it.
type turns struct {
	mu sync.Mutex
	of map[string]*turn
}

// turn is of one sort and viewer.
type turn struct {
	held  chan struct{} // Has room for as many as may be.
	users int           // Who hold it, or wait.
}

// enter waits for a turn, which is held until leave is called, once.
func (t *turns) enter(ctx context.Context, who string, most int) (leave func(), err error) {
	t.mu.Lock()
	one := t.of[who]
	if one == nil {
		one = &turn{held: make(chan struct{}, most)}
		if t.of == nil {
			t.of = make(map[string]*turn)
		}
		t.of[who] = one
	}
	one.users++
	t.mu.Unlock()
	gone := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if one.users--; one.users == 0 {
			delete(t.of, who)
		}
	}
	select {
	case one.held <- struct{}{}:
		return func() { <-one.held; gone() }, nil
	case <-ctx.Done():
		gone()
		return nil, ctx.Err()
	}
}

// turn waits until something may be done for a viewer that is done for them a few times
// at once.
func (s *Server) turn(ctx context.Context, what, whose string, most int) (leave func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, addressWait)
	defer cancel()
	leave, err = s.turns.enter(waiting, what+" of "+whose, most)
	if err != nil && ctx.Err() == nil {
		return nil, &problem{
			Title: "Too many requests", Status: http.StatusTooManyRequests,
			Detail: fmt.Sprintf("%d answers of this sort are being made for you, or have not been read to their end; wait for one of them.", most),
		}
	}
	return leave, err
}

// whose tells those apart for whom answers are made: guests by their link, others by
// their user, and where nobody is asked who they are by their address.
func (s *Server) whose(r *http.Request) string {
	guest, user := guestIn(r), identityOf(r).Viewer.User
	switch {
	case guest != nil:
		return "share " + guest.Share.ID
	case user != nil:
		return "user " + user.Name
	}
	if address, known := s.peers.sender(r); known {
		return "address " + group(address)
	}
	return ""
}
