//go:build soak

package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/test/faults/cluster"
	"github.com/glasshouse-project/glasshouse/test/faults/link"
	"github.com/glasshouse-project/glasshouse/test/faults/viewer"
)

const (
	// Memory grows until the history of changes is full, so the measurement starts only after ringAge.
	ringAge = 6 * time.Minute // one minute longer than the history's maximum age
	// allowedGrowth is the permitted growth of the live heap, in bytes: 4 MiB for cached patches, and 4 MiB for
	// variation (1.5 MiB was measured).
	allowedGrowth = 8 << 20
)

type soak struct {
	*testbed

	server        *cluster.APIServer
	user          string // The dashboard impersonates this user (--as).
	kind          kind
	random        *rand.Rand
	rows, objects []*viewer.Viewer
	changes       []*viewer.Viewer
	mismatches    atomic.Int64
	faultCount    atomic.Int64
}

// TestViewersConvergeDuringSoak causes random faults for the duration in GLASSHOUSE_SOAK, and compares all viewers with
// etcd after each fault.
func TestViewersConvergeDuringSoak(t *testing.T) {
	duration := must(time.ParseDuration(os.Getenv("GLASSHOUSE_SOAK")))(t)
	seed := uint64(time.Now().UnixNano()) //nolint:gosec // Any number is a valid seed.
	t.Logf("seed %d", seed)
	c, user := must(cluster.Open())(t), fmt.Sprint("fault-", seed)
	check(t, c.Grant(t.Context(), user, "cluster-admin"))
	t.Cleanup(func() { check(t, c.Revoke(context.WithoutCancel(t.Context()), user)) })
	server := apiServer(t)
	s := &soak{
		server: server, user: user, kind: newKind(),
		random: rand.New(rand.NewPCG(seed, seed)), //nolint:gosec // The logged seed makes the run reproducible.
		testbed: open(t, options{
			behindGate: server.Addr, args: []string{"--as", user},
			env: []string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS=5", "HTTP2_PING_TIMEOUT_SECONDS=2"},
		}),
	}
	check(t, s.Apply(t.Context(), s.namespace, "kept", "1"))
	s.createDefinition(s.kind)
	t.Cleanup(func() { s.deleteDefinition(s.kind) })
	s.createObjects(s.kind, s.randomNames()...)
	ofKind := viewer.Rows(s.kind.ref(), s.namespace)
	s.rows = s.startViewers(5, append(s.views(), s.fields(), viewer.Rows(configMaps), ofKind)...)
	s.objects, s.changes = s.startViewers(10, s.object("kept")), s.startViewers(5, s.testbed.changes())
	s.startViewers(1, viewer.Rows("core/v1/pods")) // Pods are a kind with many objects.
	waitForState(t, 30*time.Second, "live", s.viewers()...)
	memory := watchMemory(t, s.program)
	goroutines := s.goroutines()

	// Runs shorter than 12 minutes measure only their second half.
	end, warmTime := time.Now().Add(duration), time.Now().Add(min(ringAge, duration/2))
	stopLogging := run(t, func(ctx context.Context) { s.logProgress(ctx, end) })
	before := 0 // Result of the method liveHeap when the history is full.
	for time.Now().Before(end) {
		s.runRound()
		if before == 0 && time.Now().After(warmTime) {
			before = s.liveHeap()
		}
	}
	stopLogging()
	collected := memory()
	t.Logf("after %v and %d faults:", duration, s.faultCount.Load())
	t.Logf("mismatches: %d", s.mismatches.Load())
	t.Logf(
		"RSS %d MB, peak %d MB; slope after %v: %+.1f MB/h, without cached data %+.1f MB/h",
		must(s.program.RSS(t.Context()))(t)>>20,
		must(
			s.program.PeakRSS(),
		)(
			t,
		)>>20,
		min(ringAge, duration/2),
		collected.slope(warmTime),
		collected.withoutCached().slope(warmTime),
	)
	// Wait until the informers watch all namespaces again. The soak revokes and grants permissions. For some time after a
	// grant, each namespace still has its own watch, which needs more goroutines.
	_, leakErr := poll(time.Minute, func() error {
		if now := s.goroutines(); now > goroutines+20 {
			return fmt.Errorf("%d goroutines before, %d after", goroutines, now)
		}
		return nil
	})
	if t.Logf("goroutines: %d before, %d after", goroutines, s.goroutines()); leakErr != nil {
		t.Errorf("%v:\n%s", leakErr, must(s.program.Stacks(t.Context()))(t))
	}
	after := s.liveHeap()
	t.Logf("live heap without permissions: %.1f MB after %v, %.1f MB now",
		mebibytes(before), min(ringAge, duration/2), mebibytes(after))
	if after > before+allowedGrowth {
		t.Errorf("the live heap grew by %.1f MB, want at most %.1f MB", mebibytes(after-before), mebibytes(allowedGrowth))
	}
	sum := checkNoFaults(t, s.viewers()...)
	t.Logf("matching digests: %d", sum.Digests)
	// The program sends each live subscription a digest (a hash of all rows) per minute, so a run of over 3 minutes gets
	// some.
	if duration > 3*time.Minute && sum.Digests == 0 {
		t.Error("got no digests")
	}
	if n := s.mismatches.Load(); n > 0 {
		t.Errorf("%d times the rows of a client differed from the existing objects", n)
	}
}

// withoutPermissions revokes all permissions, waits until no viewer has rows, and calls action before it restores
// them.
func (s *soak) withoutPermissions(action func()) error {
	ctx := s.t.Context()
	err := s.Revoke(ctx, s.user)
	if _, dataErr := poll(time.Minute, s.checkNoData); dataErr != nil {
		s.mismatches.Add(1)
		s.t.Logf("the permissions were revoked, and the last check for data got %v", dataErr)
	}
	action()
	return errors.Join(err, s.Grant(ctx, s.user, "cluster-admin"))
}

// liveHeap returns the live heap in bytes without cached objects. It first revokes the permissions, which empties the
// cache. Otherwise, it would subtract the program's estimate for a large cache, which is too high.
func (s *soak) liveHeap() (minimum int) {
	s.t.Helper()
	check(s.t, s.withoutPermissions(func() {
		// Messages in progress add memory, so use the minimum of five measurements.
		for range 5 {
			sleep(time.Second)
			current := must(s.program.LiveHeap(s.t.Context()))(s.t) - must(s.program.CachedBytes(s.t.Context()))(s.t)
			if minimum == 0 || current < minimum {
				minimum = current
			}
		}
	}))
	return minimum
}

func mebibytes(bytes int) float64 { return float64(bytes) / (1 << 20) }

func (s *soak) logProgress(ctx context.Context, end time.Time) {
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		memory, _ := s.program.RSS(ctx)
		cached, _ := s.program.CachedBytes(ctx)
		goroutines, _ := s.program.Goroutines(ctx)
		s.t.Logf("%v remaining: %d faults, %d mismatches, %d notes, RSS %d MB, %d MB cached, %d goroutines",
			time.Until(end).Round(time.Second),
			s.faultCount.Load(), s.mismatches.Load(), s.recordedFaults(), memory>>20, cached>>20, goroutines)
	}
}

func (s *soak) viewers() []*viewer.Viewer {
	return slices.Concat(s.rows, s.objects, s.changes)
}

func (s *soak) goroutines() int {
	s.t.Helper()
	return must(s.program.Goroutines(s.t.Context()))(s.t)
}

func (s *soak) recordedFaults() (n int) {
	for _, v := range s.viewers() {
		n += len(v.Faults())
	}
	return n
}

func (s *soak) runRound() {
	stop := s.Churn(s.t.Context(), s.namespace, 5+s.random.IntN(60))
	faults := s.faults()
	var names []string
	for range 1 + s.random.IntN(2) {
		sleep(s.randomDuration(1500))
		fault := faults[s.random.IntN(len(faults))]
		names = append(names, fault.name)
		check(s.t, s.Touch(s.t.Context(), s.namespace, "kept", s.random.IntN(5)))
		if err := fault.cause(s.t.Context()); err != nil {
			s.t.Fatalf("%s: %v", fault.name, err)
		}
		s.faultCount.Add(1)
	}
	_, err := stop()
	check(s.t, err)
	elapsed, err := poll(2*time.Minute, func() error {
		return errors.Join(s.compare(s.rows), s.compareObject("kept", s.objects))
	})
	if err != nil {
		s.mismatches.Add(1)
		s.t.Logf("after %q: %v", names, err)
	} else if elapsed > 30*time.Second {
		s.t.Logf("after %q: converged after %v", names, elapsed)
	}
}

func (s *soak) checkNoData() error {
	err := checkNoRows(s.rows...)
	for _, v := range s.objects {
		err = errors.Join(err, v.CompareObject(nil))
	}
	return err
}

func (s *soak) randomNames() []string {
	return []string{"a", "b", "c", "d", "e"}[s.random.IntN(3) : 3+s.random.IntN(3)]
}

func (s *soak) randomDuration(milliseconds int) time.Duration {
	return time.Duration(s.random.IntN(milliseconds)) * time.Millisecond
}

type fault struct {
	name  string
	cause func(context.Context) error
}

func (s *soak) faults() []fault {
	return []fault{
		{"link to the API server is cut", func(context.Context) error { return s.up.DropConnections() }},
		{
			"link to the API server is down",
			func(context.Context) error { s.up.Cut(); sleep(s.randomDuration(8000)); return s.up.Restore() },
		},
		{"link to the API server freezes", func(ctx context.Context) error { return s.freeze(ctx, s.up, 12000) }},
		{"link to the clients is cut", func(context.Context) error { return s.down.DropConnections() }},
		{
			"link to the clients is down",
			func(context.Context) error { s.down.Cut(); sleep(s.randomDuration(5000)); return s.down.Restore() },
		},
		{"link to the clients freezes", func(ctx context.Context) error { return s.freeze(ctx, s.down, 5000) }},
		{"too many requests", func(context.Context) error {
			s.gate.Refuse(func(r link.Request) bool { return r.Resource != "" })
			defer s.gate.Refuse(nil)
			sleep(s.randomDuration(3000))
			return s.up.DropConnections()
		}},
		{
			"the API server is killed",
			func(ctx context.Context) error {
				s.server.Kill()
				sleep(s.randomDuration(3000))
				return s.server.Start(ctx)
			},
		},
		{"etcd is compacted while the link is down", func(ctx context.Context) error {
			s.up.Cut()
			err := s.Compact(ctx)
			return errors.Join(err, s.up.Restore())
		}},
		{"readers stall", func(context.Context) error {
			for _, v := range s.viewers() {
				if s.random.IntN(2) == 0 {
					defer v.Pause()()
				}
			}
			sleep(s.randomDuration(15000))
			return nil
		}},
		{"client connections are cut", func(context.Context) error {
			for _, v := range s.viewers() {
				if s.random.IntN(2) == 0 {
					v.Cut()
				}
			}
			return nil
		}},
		{"all objects are deleted", func(ctx context.Context) error {
			for i := range 25 {
				if err := s.Delete(ctx, s.namespace, fmt.Sprint("cm-", i)); err != nil {
					return err
				}
			}
			return nil
		}},
		{"the object is replaced", func(ctx context.Context) error {
			return errors.Join(s.Delete(ctx, s.namespace, "kept"), s.Apply(ctx, s.namespace, "kept", "1"))
		}},
		{"large objects", func(ctx context.Context) error {
			for range 5 {
				if err := s.Apply(ctx, s.namespace, "kept", randomText(500_000)); err != nil {
					return err
				}
			}
			return s.Apply(ctx, s.namespace, "kept", "1")
		}},
		{"a definition is deleted and recreated", func(context.Context) error {
			s.redefine() //nolint:contextcheck // It uses the context of the test.
			return nil
		}},
		{"all permissions are removed and restored", func(context.Context) error {
			return s.withoutPermissions(func() {}) //nolint:contextcheck // It uses the context of the test.
		}},
		{"concurrent subscribe and unsubscribe", func(context.Context) error {
			race(s.t, s.testbed, s.random.Int()) //nolint:contextcheck // It uses the context of the test.
			return nil
		}},
	}
}

func (s *soak) freeze(ctx context.Context, l *link.Link, milliseconds int) error {
	if err := l.Freeze(); err != nil {
		return err
	}
	sleep(s.randomDuration(milliseconds))
	l.ClearFaults(ctx)
	return nil
}

func (s *soak) redefine() {
	s.deleteDefinition(s.kind)
	sleep(s.randomDuration(3000))
	s.createDefinition(s.kind)
	s.createObjects(s.kind, s.randomNames()...)
}
