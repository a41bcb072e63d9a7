package watch

import "sync"

// signal wakes whoever waits for something to change.
type signal struct {
	mu     sync.Mutex
	raised chan struct{}
}

func newSignal() *signal { return &signal{raised: make(chan struct{})} }

// next is closed when the signal is raised. Take it before looking at what may
// change.
func (s *signal) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raised
}

func (s *signal) raise() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.raised)
	s.raised = make(chan struct{})
}
