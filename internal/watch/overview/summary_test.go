package overview_test

import (
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
)

func TestLatencyIsRoundedUpToStep(t *testing.T) {
	t.Parallel()
	for latency, want := range map[time.Duration]int{
		time.Microsecond: 1, time.Millisecond: 1, 1001 * time.Microsecond: 2, 3 * time.Millisecond: 5,
		12 * time.Millisecond: 20, 51 * time.Millisecond: 100, 400 * time.Millisecond: 500, 30 * time.Second: 50_000,
	} {
		t.Run(latency.String(), func(t *testing.T) {
			if got := overview.LatencyStep(latency); got != want {
				t.Errorf("got %d, want %d", got, want)
			}
		})
	}
}
