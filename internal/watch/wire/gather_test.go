package wire_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"glasshouse/internal/watch/wire"
)

// frames arrive one by one, like those of HTTP/2. A Read waits for one frame, and returns all that have arrived.
type frames struct {
	came  chan int // The length of each frame.
	there int
	reads int
}

func (f *frames) Read(p []byte) (int, error) {
	f.reads++
	if f.there == 0 {
		n, ok := <-f.came
		if !ok {
			return 0, io.EOF
		}
		f.there = n
	}
	for len(f.came) > 0 {
		f.there += <-f.came
	}
	n := min(f.there, len(p))
	f.there -= n
	return n, nil
}

// A long list is read in large pieces. A short list, and events after a list, are read without delay. The end of the
// data is never delayed.
func TestLongListsAreGathered(t *testing.T) {
	const frame, each = 2 << 10, 200 * time.Microsecond
	for name, test := range map[string]struct {
		frames int
		list   bool
		most   int // Number of Reads.
		least  int
	}{
		"long":   {frames: 5000, list: true, most: 128 + 5000/20, least: 5000 / 20},
		"short":  {frames: 50, list: true, most: 51, least: 51},
		"events": {frames: 5000, most: 5001, least: 5001},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &frames{came: make(chan int, test.frames)}
				r, ends := wire.Gather(f)
				if !test.list {
					ends()
				}
				began := time.Now()
				go func() {
					for range test.frames {
						<-time.After(each)
						f.came <- frame
					}
					close(f.came)
				}()
				read, p := 0, make([]byte, 64<<10)
				for {
					n, err := r.Read(p)
					read += n
					if err != nil {
						break
					}
				}
				took, sent := time.Since(began), time.Duration(test.frames)*each
				if read != test.frames*frame || f.reads > test.most || f.reads < test.least ||
					took > sent+10*time.Millisecond {
					t.Errorf(
						"%d bytes in %d reads and %s, want %d in %d to %d and %s", read, f.reads, took,
						test.frames*frame, test.least, test.most, sent,
					)
				}
			})
		})
	}
}
