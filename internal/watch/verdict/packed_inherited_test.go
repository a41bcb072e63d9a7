package verdict_test

import (
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

func inheritedVerdict() verdict.Verdict {
	return verdict.Verdict{
		Severity: verdict.Failed, Reason: "CrashLoopBackOff", Sentence: "Container SECRET-c: SECRET-message",
		Cause: &verdict.Cause{
			Object: verdict.Object{
				Resource: "core/v1/pods", Kind: "Pod", Namespace: "SECRET-ns", Name: "SECRET-pod",
			},
			Sentence: "Container SECRET-c: SECRET-message", Missing: true,
		},
		Sources: verdict.Source("core/v1/pods", "SECRET-ns"),
		Via: &verdict.Object{
			Resource: "apps/v1/replicasets", Kind: "ReplicaSet", Namespace: "SECRET-ns", Name: "SECRET-rs",
		},
	}
}

// An inherited verdict also contains the own verdict of the object. The method Public removes the cause.
//
// Invariant: I18.
func TestInheritedVerdictKeepsOwnVerdict(t *testing.T) {
	at := time.Unix(1_790_000_000, 0)
	for name, own := range map[string]verdict.Verdict{
		"none": {}, "ok": {Severity: verdict.OK}, "failed": {Severity: verdict.Failed, Reason: "R", Sentence: "S"},
		"overdue later": {Severity: verdict.Progressing, Reason: "Pending", Sentence: "Waits", OverdueAt: at},
	} {
		t.Run(name, func(t *testing.T) {
			ownPacked, v := verdict.Pack(nil, &own), inheritedVerdict()
			packed := verdict.Inherit(ownPacked, &v)
			got := packed.Unpack()
			if got.Severity != v.Severity || got.Reason != v.Reason || got.Sentence != v.Sentence ||
				*got.Cause != *v.Cause || got.Via == nil || *got.Via != *v.Via || got.Sources != v.Sources ||
				!got.OverdueAt.Equal(own.OverdueAt) {
				t.Errorf("got %+v, want %+v", got, v)
			}
			if back := packed.Own().Unpack(); back != own || !packed.IsInherited() || packed.Own().IsInherited() {
				t.Errorf("alone: got %+v, want %+v", back, own)
			}
			public := packed.Public()
			if text := string(public) + string(public.AppendMember(nil)); strings.Contains(text, "SECRET") {
				t.Errorf("public: %q contains the cause", text)
			}
			if p := public.Unpack(); p.Severity != v.Severity || p.Reason != own.Reason || p.Sentence == "" || p.Cause != nil {
				t.Errorf("public: got %+v", p)
			}
			if string(ownPacked.Public()) != string(ownPacked) {
				t.Error("the public form of a verdict without a cause differs")
			}
			other := v
			other.Sources = other.Sources.With(verdict.Source("core/v1/events", "a"))
			if packed.Same(verdict.Inherit(ownPacked, &other)) {
				t.Error("verdicts with other sources are the same")
			}
		})
	}
}

func TestVerdictNeedsPermissionForAllSources(t *testing.T) {
	pods, events := verdict.Source("core/v1/pods", "a"), verdict.Source("core/v1/events", "b")
	both := pods.With(events).With(pods)
	if both != "core/v1/events b\ncore/v1/pods a" || both != events.With(pods) || verdict.Sources("").With(pods) != pods {
		t.Errorf("got %q", both)
	}
	isPods := func(resource, namespace string) bool { return resource == "core/v1/pods" && namespace == "a" }
	if both.Within(isPods) || !pods.Within(isPods) || verdict.Sources("").Within(isPods) {
		t.Error("Within: want true only if all sources meet the condition, and there is one")
	}
	own := pods.With(verdict.Own)
	if !verdict.Own.Within(isPods) || !own.Within(isPods) || events.With(verdict.Own).Within(isPods) {
		t.Error("Within: want that Own needs no permission, and that other sources need one")
	}
	if own.ForInheritor(events) != both || verdict.Own.ForInheritor(events) != events ||
		pods.ForInheritor(events) != pods {
		t.Errorf("ForInheritor: got %q", own.ForInheritor(events))
	}
	if !both.Contains("core/v1/pods", "a") || both.Contains("core/v1/pods", "b") {
		t.Error("Contains: got another result")
	}
}

// Packing and unpacking keeps all texts of a verdict, except zero bytes. Public returns no text of the inherited
// verdict.
func FuzzInheritedVerdicts(f *testing.F) {
	f.Add(uint8(4), "Reason", "sentence", "Pod", "name", "cause", "own", int64(0))
	f.Add(uint8(2), "a\x00b", "", "", "", "", "\x00", int64(-1))
	f.Fuzz(func(t *testing.T, severity uint8, reason, sentence, kind, name, text, ownText string, at int64) {
		clean := func(s string) string { return strings.ReplaceAll(s, "\x00", "") }
		own := verdict.Verdict{Severity: verdict.Severity(severity % 5), Reason: clean(ownText), Sentence: clean(ownText)}
		if at != 0 && own.Severity == verdict.Progressing {
			own.OverdueAt = time.Unix(at, 0)
		}
		packedOwn := verdict.Pack(nil, &own)
		v := verdict.Verdict{
			Severity: verdict.Failed, Reason: reason, Sentence: sentence,
			Cause: &verdict.Cause{Object: verdict.Object{Resource: "r", Kind: kind, Name: name}, Sentence: text},
		}
		packed := verdict.Inherit(packedOwn, &v)
		got := packed.Unpack()
		if got.Reason != clean(reason) || got.Sentence != clean(sentence) || string(packed.Own()) != string(packedOwn) {
			t.Errorf("got %+v and %q", got, packed.Own())
		}
		hasCause := got.Cause != nil
		if hasCause != (clean(kind) != "") ||
			hasCause && (got.Cause.Name != clean(name) || got.Cause.Sentence != clean(text)) {
			t.Errorf("got cause %+v", got.Cause)
		}
		if p := packed.Public().Unpack(); p.Severity != verdict.Failed || p.Reason != packedOwn.Unpack().Reason {
			t.Errorf("public: got %+v", p)
		}
	})
}
