package watch

import "sync"

// signal wakes all goroutines that wait for some state to change.
type signal struct {
	mu     sync.Mutex
	raised chan struct{}
}

func newSignal() *signal { return &signal{raised: make(chan struct{})} }

// next returns a channel that is closed when the signal is raised next. Call next before reading the state that may
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
