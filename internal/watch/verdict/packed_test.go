package verdict_test

import (
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// A packed verdict is the same after unpacking. Only the sentence of None and OK is dropped.
func TestPackedVerdictsAreTheSame(t *testing.T) {
	at := time.Unix(1_790_000_000, 0)
	for name, v := range map[string]verdict.Verdict{
		"none": {}, "ok": {Severity: verdict.OK},
		"failed":             {Severity: verdict.Failed, Reason: "CrashLoopBackOff", Sentence: "Container app: exit 1"},
		"without a reason":   {Severity: verdict.Degraded, Sentence: "Not ready"},
		"without a sentence": {Severity: verdict.Progressing, Reason: "Pending"},
		"script failed":      {Reason: "Unknown"},
		"a run to be missed": {Severity: verdict.OK, OverdueAt: at},
		"overdue later":      {Severity: verdict.Progressing, Reason: "Pending", Sentence: "Waits", OverdueAt: at},
	} {
		t.Run(name, func(t *testing.T) {
			packed := verdict.Pack(nil, &v)
			if got := packed.Unpack(); got != v {
				t.Errorf("got %+v, want %+v", got, v)
			}
			later := v
			later.OverdueAt = at.Add(time.Hour)
			if !packed.Same(verdict.Pack(nil, &later)) {
				t.Error("another OverdueAt makes another verdict")
			}
			other := v
			other.Severity = verdict.OK
			if v.Severity != verdict.OK && packed.Same(verdict.Pack(nil, &other)) {
				t.Error("another severity makes the same verdict")
			}
		})
	}
	if got := string(verdict.Pack(nil, &verdict.Verdict{Severity: verdict.OK, Sentence: "Ready"})); got != "\x01" {
		t.Errorf("OK with a sentence: got %q, want one byte", got)
	}
	if got := string(verdict.Pack(nil, &verdict.Verdict{Reason: "Unknown"}).AppendMember(nil)); got !=
		`,"verdict":{"severity":"none","reason":"Unknown"}` {
		t.Errorf("none with a reason: got the member %q", got)
	}
	if got := verdict.Pack(nil, &verdict.Verdict{}).AppendMember(nil); got != nil {
		t.Errorf("none: got the member %q, want nothing", got)
	}
	if got := verdict.Packed(nil).Severity(); got != verdict.None {
		t.Errorf("an empty verdict has the severity %s, want none", got)
	}
}
