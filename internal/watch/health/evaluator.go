package health

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/kinds"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/ready"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/result"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/rules"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/script"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Evaluator determines the health of objects. For each kind, it uses the first of these that covers the kind: the rules
// of the administrator, the rules of package kinds, the scripts of Argo CD, kstatus. The zero value has no rules of the
// administrator, and logs nothing. Any number of goroutines can use an Evaluator.
type Evaluator struct {
	rules        rules.Set
	interpreters script.Interpreters
	embedded     rules.Embedded
	failures     failures
}

// NewEvaluator returns an Evaluator with rules of the administrator. It logs the errors of scripts.
func NewEvaluator(set rules.Set, log *slog.Logger) *Evaluator {
	return &Evaluator{rules: set, failures: failures{log: log}}
}

// ScriptErrors returns how many runs of health scripts had no valid result.
func (e *Evaluator) ScriptErrors() uint64 { return e.failures.count.Load() }

// Of returns the Health of an object, given as JSON text. If the text cannot be parsed, the status is Unknown.
func (e *Evaluator) Of(text []byte) Health {
	o, err := object.Read(text)
	if err != nil {
		return Health{Status: result.Unknown, Summary: "The JSON text of the object cannot be parsed", Details: []string{}}
	}
	r := e.evaluate(o, text, time.Now())
	return Health{Status: r.Status, Summary: r.Summary, Details: r.Details}
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
	return r.Verdict(now, changedAt)
}

func (e *Evaluator) evaluate(o object.Object, text []byte, now time.Time) result.Result {
	group, kind := o.Group(), o.Text("kind")
	if s := e.rules.Find(group, kind); s != nil {
		var complete map[string]any // The script can read any member, so decode all of them.
		if err := json.Unmarshal(text, &complete); err == nil {
			r, _ := e.runScript(s, complete, now)
			return r
		}
	}
	compute := kinds.RulesFor(o)
	if compute == nil {
		if s := e.embedded.Find(group, kind); s != nil {
			if r, ok := e.runScript(s, o, now); ok {
				return r
			}
			// Continue after a failed script, because the general rules can often determine the status, too.
		}
	}
	general := computeStatus(o)
	r := general.toResult(o)
	if compute != nil {
		r = compute(o, general.status)
		r.HasRules = true
		explainNeverObserved(&r, o)
	} else {
		applyGeneralRules(&r, o)
	}
	general.override(o, &r)
	r.Limit()
	return r
}

// applyGeneralRules applies the rules for kinds that no other rule covers.
func applyGeneralRules(r *result.Result, o object.Object) {
	before := *r
	if r.Status == result.Unknown {
		// kstatus found a member with an unexpected type. Other rules can still find a problem.
		r.Status, r.Summary = result.Current, ""
	}
	applyPhase(r, o)
	limitProgress(r, o)
	applySymptoms(r, o)
	if before.Status == result.Unknown && r.Status == result.Current {
		*r = before
	}
}

// runScript returns the result of a script. As in Argo CD, a deletion of the object takes precedence over the result.
// If the script had no valid result, ok is false, and the health is unknown.
func (e *Evaluator) runScript(s *script.Script, o object.Object, now time.Time) (r result.Result, ok bool) {
	returned, err := e.interpreters.Run(s, o, now)
	if err != nil {
		e.failures.add(o.Group(), o.Text("kind"), err)
		r.Status, r.Summary = result.Unknown, fmt.Sprintf("The health script failed: %v", err)
		r.OKReason = string(result.Unknown)
	} else {
		r = toResult(returned, o)
		limitProgress(&r, o)
		switch {
		case e.rules.Find(o.Group(), o.Text("kind")) != nil:
		case returned.Status == script.Suspended:
			if s, ok := symptom.Failure(o); ok {
				set(&r, &s) // For example, a VirtualMachine that shall run is stopped because it cannot start.
			} else {
				applyStop(&r, o)
			}
		default:
			if c := o.Explaining(returned.Message); r.Severity.IsProblem() && isInOrder(o, c) {
				// Trust this condition. The script also requires conditions that this version of the controller does not write.
				r.Status, r.Severity, r.Reason = result.Current, verdict.OK, ""
			}
			applySymptoms(&r, o)
		}
	}
	if o.Has("metadata", "deletionTimestamp") {
		kstatusResult{status: result.Terminating}.override(o, &r)
	}
	r.Limit()
	return r, err == nil
}

// isInOrder reports whether c is the condition Ready with the status True, and no condition of o is a bad state.
func isInOrder(o object.Object, c object.Condition) bool {
	isBad := func(c object.Condition) bool { return c.Is("True") == wording.IsBadIfTrue(c.Kind) }
	return c.Kind == "Ready" && c.Is("True") && !slices.ContainsFunc(o.Conditions(), isBad)
}

func toResult(returned script.Result, o object.Object) result.Result {
	r := result.Result{Status: result.Unknown, Summary: returned.Message, Reason: string(returned.Status)}
	switch returned.Status {
	case script.Healthy, script.Suspended:
		r.Status, r.Severity = result.Current, verdict.OK
	case script.Progressing:
		r.Status, r.Severity = result.InProgress, verdict.Progressing
	case script.Degraded:
		r.Status, r.Severity = result.Failed, verdict.Degraded
		if symptom.HasFailed(o) {
			r.Severity = verdict.Failed
		}
	default: // Missing, Unknown, or none.
		r.Reason = ""
	}
	if c := o.Explaining(returned.Message); c.Kind != "" {
		if returned.Message == c.Reason { // The scripts for Flux return only the reason. Add the message, too.
			r.Summary = c.Explanation()
		}
		if r.Severity > verdict.OK {
			r.Reason = cmp.Or(c.Reason, r.Reason)
		}
	}
	if r.Summary == "" {
		r.Summary = cmp.Or(string(returned.Status), "The health script returned no status")
	}
	return r
}
