package health

import (
	"cmp"
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/ready"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/rules"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/script"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Evaluator determines the health of objects. For each kind, it uses the first of these that covers the kind: the rules
// of the administrator, the rules of this package, the scripts of Argo CD, kstatus. The zero value has no rules of the
// administrator. Any number of goroutines can use an Evaluator.
type Evaluator struct {
	rules        rules.Set
	interpreters script.Interpreters
	embedded     rules.Embedded
	failures     atomic.Uint64
}

// NewEvaluator returns an Evaluator with rules of the administrator.
func NewEvaluator(set rules.Set) *Evaluator { return &Evaluator{rules: set} }

// ScriptErrors returns how many runs of health scripts had no valid result.
func (e *Evaluator) ScriptErrors() uint64 { return e.failures.Load() }

// Of returns the Health of an object, given as JSON text. If the text cannot be parsed, the status is Unknown.
func (e *Evaluator) Of(text []byte) Health {
	o, err := object.Read(text)
	if err != nil {
		return Health{Status: Unknown, Summary: "The JSON text of the object cannot be parsed", Details: []string{}}
	}
	return e.evaluate(o, text, time.Now()).Health
}

// Evaluate returns the verdict on an object, given as JSON text, at the time now. changedAt is when the object last
// changed; the zero Time if that is unknown.
func (e *Evaluator) Evaluate(text []byte, now, changedAt time.Time) verdict.Verdict {
	if e.rules.Find("", "Pod") == nil && ready.Pod(text) {
		return verdict.Verdict{Severity: verdict.OK}
	}
	o, err := object.Read(text)
	if err != nil {
		return verdict.Verdict{}
	}
	r := e.evaluate(o, text, now)
	return r.verdict(now, changedAt)
}

func (e *Evaluator) evaluate(o object.Object, text []byte, now time.Time) result {
	group, kind := o.Group(), o.Text("kind")
	if s := e.rules.Find(group, kind); s != nil {
		var complete map[string]any // The script can read any member, so decode all of them.
		if err := json.Unmarshal(text, &complete); err == nil {
			return e.runScript(s, complete, now)
		}
	}
	compute := rulesFor(o)
	if compute == nil {
		if s := e.embedded.Find(group, kind); s != nil {
			if r := e.runScript(s, o, now); !r.scriptFailed {
				return r
			}
			// Continue after a failed script, because the general rules can often determine the status, too.
		}
	}
	general := computeStatus(o)
	r := general.toResult(o)
	if compute != nil {
		r = compute(o, general.status)
		r.hasRules = true
		r.explainNeverObserved(o)
	} else {
		r.applyGeneralRules(o)
	}
	general.override(o, &r)
	r.limit()
	return r
}

// applyGeneralRules applies the rules for kinds that no other rule covers.
func (r *result) applyGeneralRules(o object.Object) {
	before := *r
	if r.Status == Unknown { // kstatus found a member with an unexpected type. Other rules can still find a problem.
		r.Status, r.Summary = Current, ""
	}
	r.applyPhase(o)
	r.limitProgress(o)
	r.applySymptoms(o)
	if before.Status == Unknown && r.Status == Current {
		*r = before
	}
}

// runScript returns the result of a script. As in Argo CD, a deletion of the object takes precedence over the result.
func (e *Evaluator) runScript(s *script.Script, o object.Object, now time.Time) result {
	returned, err := e.interpreters.Run(s, o, now)
	r := result{}
	if err != nil {
		e.failures.Add(1)
		r.Status, r.Summary, r.scriptFailed = Unknown, fmt.Sprintf("The health script failed: %v", err), true
		r.okReason = string(Unknown)
	} else {
		r = toResult(returned, o)
		r.limitProgress(o)
		switch {
		case e.rules.Find(o.Group(), o.Text("kind")) != nil:
		case returned.Status == script.Suspended:
			if s, ok := symptom.Failure(o); ok {
				r.set(&s) // For example, a VirtualMachine that shall run is stopped because it cannot start.
			} else {
				r.applyStop(o)
			}
		default:
			if c := o.Explaining(returned.Message); r.severity.IsProblem() && symptom.IsInOrder(o, c) {
				// Trust this condition. The script also requires conditions that this version of the controller does not write.
				r.Status, r.severity, r.reason = Current, verdict.OK, ""
			}
			r.applySymptoms(o)
		}
	}
	if o.Has("metadata", "deletionTimestamp") {
		kstatusResult{status: Terminating}.override(o, &r)
	}
	r.limit()
	return r
}

func toResult(returned script.Result, o object.Object) result {
	r := result{Health: Health{Status: Unknown, Summary: returned.Message}, reason: string(returned.Status)}
	switch returned.Status {
	case script.Healthy, script.Suspended:
		r.Status, r.severity = Current, verdict.OK
	case script.Progressing:
		r.Status, r.severity = InProgress, verdict.Progressing
	case script.Degraded:
		r.Status, r.severity = Failed, verdict.Degraded
		if symptom.HasFailed(o) {
			r.severity = verdict.Failed
		}
	default: // Missing, Unknown, or none.
		r.reason = ""
	}
	if c := o.Explaining(returned.Message); c.Kind != "" {
		if returned.Message == c.Reason { // The scripts for Flux return only the reason. Add the message, too.
			r.Summary = c.Explanation()
		}
		if r.severity > verdict.OK {
			r.reason = cmp.Or(c.Reason, r.reason)
		}
	}
	if r.Summary == "" {
		r.Summary = cmp.Or(string(returned.Status), "The health script returned no status")
	}
	return r
}
