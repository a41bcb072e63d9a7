package overview_test

import (
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// The last change of a finding is the last one before its problem began, even if someone tried a repair later.
func TestLastChangeIsBeforeTheProblem(t *testing.T) {
	start := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	web, other := verdict.Object{Kind: "Deployment", Name: "web"}, verdict.Object{Kind: "Deployment", Name: "other"}
	change := func(o verdict.Object, by string, after time.Duration) overview.Change {
		return overview.Change{Object: o, By: by, At: start.Add(after)}
	}
	changes := []overview.Change{ // The newest is first.
		change(other, "other", 5*time.Minute),
		change(web, "second repair", 4*time.Minute),
		change(web, "repair", 3*time.Minute),
		change(web, "release", -time.Second),
		change(web, "earlier", -time.Hour),
	}
	for _, test := range []struct {
		name  string
		since time.Duration
		want  string
	}{
		{"the newest change before the problem", 0, "release"},
		{"a change in the same second", -2 * time.Second, "release"},
		{"the newest of all", 10 * time.Minute, "second repair"},
		{"only changes after the problem", -2 * time.Hour, "earlier"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := overview.LastChange(changes, web, nil, start.Add(test.since))
			if got == nil || got.By != test.want {
				t.Errorf("got %+v, want the change of %s", got, test.want)
			}
		})
	}
	if got := overview.LastChange(changes, verdict.Object{Name: "none"}, nil, start); got != nil {
		t.Errorf("object without a change: got %+v, want nil", got)
	}
}

// A problem with a cause can begin after a change of another object, such as a NetworkPolicy. Changes of other objects
// count only from before the start of the problem.
func TestLastChangeCanBeOfTheCause(t *testing.T) {
	start := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	web, policy := verdict.Object{Kind: "Deployment", Name: "web"}, verdict.Object{Kind: "NetworkPolicy", Name: "deny"}
	change := func(o verdict.Object, by string, after time.Duration) overview.Change {
		return overview.Change{Object: o, By: by, At: start.Add(after)}
	}
	changes := []overview.Change{ // The newest is first.
		change(verdict.Object{Kind: "NetworkPolicy", Name: "other"}, "other", 5*time.Minute),
		change(policy, "late", 4*time.Minute),
		change(web, "repair", 3*time.Minute),
		change(policy, "same time", -time.Second),
		change(web, "release", -time.Second),
		change(policy, "deny", -time.Minute),
		change(web, "earlier", -time.Hour),
	}
	for _, test := range []struct {
		name  string
		since time.Duration
		want  string
	}{
		{"at the same time, the own change", 0, "release"},
		{"a newer change of the cause", -30 * time.Second, "deny"},
		{"only later changes: the first of the object", -2 * time.Hour, "earlier"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := overview.LastChange(changes, web, []verdict.Object{policy}, start.Add(test.since))
			if got == nil || got.By != test.want {
				t.Errorf("got %+v, want the change of %s", got, test.want)
			}
		})
	}
	if got := overview.LastChange(changes[:2], web, []verdict.Object{policy}, start); got != nil {
		t.Errorf("only a later change of the cause: got %+v, want nil", got)
	}
}
