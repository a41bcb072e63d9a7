package listwatch_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
)

// frames is an io.Reader. Read waits for the first HTTP/2 frame and returns all that have arrived.
type frames struct {
	arrivals  chan int
	available int
	reads     int
}

func (f *frames) Read(p []byte) (int, error) {
	f.reads++
	if f.available == 0 {
		n, ok := <-f.arrivals
		if !ok {
			return 0, io.EOF
		}
		f.available = n
	}
	for len(f.arrivals) > 0 {
		f.available += <-f.arrivals
	}
	n := min(f.available, len(p))
	f.available -= n
	return n, nil
}

// Only long lists are read in large pieces; short lists, and events after a list, are read without delay.
func TestLongListIsReadInBatches(t *testing.T) {
	const frame, each = 2 << 10, 200 * time.Microsecond
	for name, test := range map[string]struct {
		frames   int
		list     bool
		maxReads int
		minReads int
	}{
		"long":   {frames: 5000, list: true, maxReads: 128 + 5000/20, minReads: 5000 / 20},
		"short":  {frames: 50, list: true, maxReads: 51, minReads: 51},
		"events": {frames: 5000, maxReads: 5001, minReads: 5001},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &frames{arrivals: make(chan int, test.frames)}
				r, endList := listwatch.ReadInBatches(f)
				if !test.list {
					endList()
				}
				start := time.Now()
				go func() {
					for range test.frames {
						<-time.After(each)
						f.arrivals <- frame
					}
					close(f.arrivals)
				}()
				read, p := 0, make([]byte, 64<<10)
				for {
					n, err := r.Read(p)
					read += n
					if err != nil {
						break
					}
				}
				elapsed, sent := time.Since(start), time.Duration(test.frames)*each
				if read != test.frames*frame || f.reads > test.maxReads || f.reads < test.minReads ||
					elapsed > sent+10*time.Millisecond {
					t.Errorf(
						"got %d bytes in %d reads and %s, want %d in %d to %d reads and %s", read, f.reads, elapsed,
						test.frames*frame, test.minReads, test.maxReads, sent,
					)
				}
			})
		})
	}
}
