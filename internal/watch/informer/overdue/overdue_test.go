package overdue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/overdue"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

func entry(name string, overdueAt time.Time) journal.Entry[string, *compact.Object] {
	v := verdict.Verdict{Severity: verdict.Progressing, OverdueAt: overdueAt}
	parts := &compact.Parts{Metadata: compact.Metadata{Name: name}, Verdict: verdict.Pack(nil, &v)}
	o := compact.NewEncoder().Encode(parts)
	return journal.Entry[string, *compact.Object]{Key: "/" + name, Value: o}
}

func TestObjectsAreEvaluatedWhenOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		evaluated := make(map[string]time.Duration)
		tracker := overdue.New(func(key string, now time.Time) { evaluated[key] = now.Sub(start) })
		write := func(name string, overdueAt time.Time) { tracker.Write(func() {}, entry(name, overdueAt)) }
		write("late", start.Add(2*time.Minute))
		write("early", start.Add(time.Minute))
		write("finished", start.Add(time.Minute))
		write("finished", time.Time{})
		write("never", time.Time{})
		time.Sleep(3 * time.Minute) //nolint:forbidigo // A sleep in fake time takes no real time.
		synctest.Wait()
		if len(evaluated) != 2 || evaluated["/early"] != time.Minute || evaluated["/late"] != 2*time.Minute {
			t.Errorf("got %v, want early after 1 minute and late after 2", evaluated)
		}
		write("closed", time.Now().Add(time.Minute))
		tracker.Close()
		time.Sleep(2 * time.Minute) //nolint:forbidigo // A sleep in fake time takes no real time.
		synctest.Wait()
		if len(evaluated) != 2 {
			t.Errorf("after Close: got %v, want no more evaluations", evaluated)
		}
	})
}
