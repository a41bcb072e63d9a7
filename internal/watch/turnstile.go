package watch

import (
	"context"
	"crypto/sha256"
	"sync"
)

// turnstile bounds how much is on its way at once: for all, and for each user less
// than that, so that what many ask for one does not keep the others waiting.
type turnstile struct {
	all chan struct{}
	one int // At once for one user.

	mu sync.Mutex
	of map[userHash]*lane
}

// userHash is the hash of User.key.
type userHash [sha256.Size]byte

// lane is one user's way in, there while somebody waits or is inside.
type lane struct {
	inside chan struct{}
	people int
}

func newTurnstile(all, one int) *turnstile {
	return &turnstile{all: make(chan struct{}, all), one: one, of: make(map[userHash]*lane)}
}

// enter waits for a turn, which lasts until leave is called, once.
func (t *turnstile) enter(ctx context.Context, user userHash) (leave func(), err error) {
	own := t.join(user)
	select {
	case own.inside <- struct{}{}:
	case <-ctx.Done():
		t.quit(user, own)
		return nil, ctx.Err()
	}
	select {
	case t.all <- struct{}{}:
	case <-ctx.Done():
		<-own.inside
		t.quit(user, own)
		return nil, ctx.Err()
	}
	return func() {
		<-t.all
		<-own.inside
		t.quit(user, own)
	}, nil
}

func (t *turnstile) join(user userHash) *lane {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.of[user]
	if own == nil {
		own = &lane{inside: make(chan struct{}, t.one)}
		t.of[user] = own
	}
	own.people++
	return own
}

func (t *turnstile) quit(user userHash, own *lane) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own.people--; own.people == 0 {
		delete(t.of, user)
	}
}
