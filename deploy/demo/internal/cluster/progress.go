package cluster

import (
	"fmt"
	"io"
	"time"
)

// progress tells what has been done, one line a step, each with the seconds since the start.
type progress struct {
	out   io.Writer
	start time.Time
}

func (p progress) step(format string, args ...any) {
	fmt.Fprintf(p.out, "%6.1fs  %s\n", time.Since(p.start).Seconds(), fmt.Sprintf(format, args...)) //nolint:errcheck // nobody to tell
}
