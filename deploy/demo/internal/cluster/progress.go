package cluster

import (
	"fmt"
	"io"
	"time"
)

type progress struct {
	out   io.Writer
	start time.Time
}

func (p progress) step(format string, args ...any) {
	fmt.Fprintf( //nolint:errcheck // there is no other place to report an error
		p.out, "%6.1fs  %s\n", time.Since(p.start).Seconds(), fmt.Sprintf(format, args...),
	)
}
