package health

import (
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
)

const (
	// maxLogged is how many errors are remembered, so that each of them is logged only once.
	maxLogged = 1000
	// maxError limits an error in the log, in bytes.
	maxError = 300
)

// failures counts the runs of health scripts that had no valid result. It logs each error of a kind once. The handler
// of the log limits the rate.
type failures struct {
	count atomic.Uint64
	log   *slog.Logger // Nil to log nothing.

	mu     sync.Mutex
	logged map[string]struct{} // The kinds, each with an error.
}

func (f *failures) add(group, kind string, err error) {
	f.count.Add(1)
	if f.log == nil {
		return
	}
	resource, text := strings.TrimPrefix(group+"/"+kind, "/"), message.Line(err.Error(), maxError)
	if f.isNew(resource + ": " + text) {
		f.log.Warn("a health script failed", "resource", resource, "error", text)
	}
}

func (f *failures) isNew(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.logged[key]; ok {
		return false
	}
	if f.logged == nil || len(f.logged) >= maxLogged {
		f.logged = make(map[string]struct{})
	}
	f.logged[key] = struct{}{}
	return true
}
