package symptom_test

import (
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
)

// The last operation, a condition, or the state itself can explain a bad state. Without an error, an object that waits
// has no problem.
func TestBadStateIsExplainedByAnyStatusMember(t *testing.T) {
	const tokens = "{type: Tokens, status: 'False', reason: TokenError, message: scopes are missing}"
	const synced = "{type: Synced, status: 'False', message: cannot connect}"
	const tested = "{type: Tested, status: 'False', message: not run yet}"
	for _, test := range []struct{ status, want string }{
		{"phase: Error, conditions: [" + tokens + "]", "Error: Tokens: scopes are missing"},
		{"phase: Error, reason: Sync, conditions: [" + synced + "]", "Error: Synced: cannot connect"},
		{"phase: Error, message: it failed twice, conditions: [" + synced + "]", "Error: it failed twice"},
		{"phase: Error, reason: Sync, conditions: [" + tested + "]", "Error: Sync"},
		{"phase: Error, conditions: [" + tested + "]", "status.phase: Error"},
		{"health: {status: Unhealthy, message: 2 of 3 shards are down}", "Unhealthy: 2 of 3 shards are down"},
		{"health: {status: Unhealthy, message: Shards}", "status.health.status: Unhealthy"},
		{
			"lastOperation: {state: Failed, description: flow failed}, lastErrors: [{description: quota exceeded}]",
			"Failed: quota exceeded",
		},
		{"lastOperation: {state: Error, description: cannot create the subnet}", "Error: cannot create the subnet"},
		{"current: {phase: Ok}, lastOperation: {state: Failed}", "status.lastOperation.state: Failed"},
		{
			"currentStatus: {phase: Failed}, lastOperation: {state: Failed, description: no capacity}",
			"Failed: no capacity",
		},
		{"phase: Error, lastOperation: {state: Processing, description: retried}", "status.phase: Error"},
		{"lastOperation: {state: Processing}, lastErrors: [{description: quota exceeded}]", ""},
		{"lastOperation: {state: Succeeded}, lastErrors: [{description: quota exceeded}]", ""},
		{"lastOperation: {state: Failed}, conditions: [{type: Ready, status: 'True'}]", ""},
		{"lastOperation: Failed, phase: Ready", ""},
		{"lastOperation: {state: Aborted, description: user canceled the operation}", ""},
		{
			"lastOperation: {state: Aborted, description: user canceled the operation}, conditions: [" + synced + "]",
			"Synced: cannot connect",
		},
		{"lastOperation: {state: Failed, description: canceled by user}", ""},
		{"lastOperation: {state: Aborted, description: cannot reach the cloud}", "Aborted: cannot reach the cloud"},
		{
			"phase: New, reason: InvalidOutput, message: The output could not be resolved",
			"New: The output could not be resolved",
		},
		{"phase: New, reason: InvalidOutput", "New: InvalidOutput"},
		{"phase: New, reason: Throttled, message: waiting for an earlier build", ""},
		{"phase: Complete, reason: InvalidOutput, message: The output could not be resolved", ""},
	} {
		t.Run(test.status, func(t *testing.T) {
			s, ok := symptom.Of(decode(t, "{kind: Feed, spec: {}, status: {"+test.status+"}}"), false)
			if ok != (test.want != "") || s.Sentence != test.want {
				t.Errorf("got %q, want %q", s.Sentence, test.want)
			}
		})
	}
}

// The problem of an operation began with its last update, and not with the creation of the object.
func TestStartOfLastOperation(t *testing.T) {
	o := decode(t, `{kind: Feed, metadata: {creationTimestamp: "2026-01-01T00:00:00Z"}, spec: {}, status: {`+
		`lastOperation: {state: Failed, lastUpdateTime: "2026-01-02T00:00:00Z"}}}`)
	if s, _ := symptom.Of(o, false); s.Since.Day() != 2 {
		t.Errorf("got %v, want January 2", s.Since)
	}
}

// A part that is not ready is a problem even if the object itself is ready. The spec must define the part, and must not
// switch it off.
func TestUnreadyPartOfReadyObjectIsProblem(t *testing.T) {
	const disk, changed = "{disks: {ssd: {path: /a}}}", "{type: Ready, status: 'False', message: it is another disk}"
	for _, test := range []struct{ spec, condition, want string }{
		{disk, changed, "disk ssd: Ready: it is another disk"},
		{disk, "{type: Ready, status: 'False', reason: Missing}", "disk ssd: Ready is False: Missing"},
		{"{}", changed, ""},
		{"{disks: {hdd: {path: /a}}}", changed, ""},
		{"{disks: {ssd: {allowScheduling: false}}}", changed, ""},
		{"{disks: {ssd: {enabled: false}}}", changed, ""},
		{"{disks: {ssd: {disabled: true}}}", changed, ""},
		{"{allowScheduling: false, disks: {ssd: {path: /a}}}", changed, ""},
		{"{disks: {ssd: {managementState: Removed}}}", changed, ""},
		{"{disks: {ssd: {managementState: Unmanaged}}}", changed, ""},
		{"{disks: {ssd: {managementState: Managed}}}", changed, "disk ssd: Ready: it is another disk"},
		{"{disks: {ssd: {state: disabled}}}", changed, ""},
		{"{disks: {ssd: {mode: Removed}}}", changed, ""},
		// Several members can define the part. If one of them switches it off, the others do not matter.
		{"{disks: {ssd: {enabled: false}}, a: {ssd: {}}, b: {ssd: {}}, c: {ssd: {}}, d: {ssd: {}}}", changed, ""},
		{"{disks: {ssd: false}, a: {ssd: {}}, b: {ssd: {}}, c: {ssd: {}}, d: {ssd: {}}}", changed, ""},
		{"{a: {ssd: 1}, b: {ssd: {}}}", changed, "disk ssd: Ready: it is another disk"},
		{"{paused: true, disks: {ssd: {path: /a}}}", changed, ""},
		{disk, "{type: Ready, status: 'False'}", ""},
		{disk, "{type: Ready, status: 'False', reason: Paused, message: paused}", ""},
		{disk, "{type: Schedulable, status: 'False', message: the disk is full}", ""},
		{disk, "{type: Ready, status: 'True', message: it is another disk}", ""},
	} {
		t.Run(test.spec+", "+test.condition, func(t *testing.T) {
			for _, isOK := range []bool{false, true} {
				o := decode(t, "{kind: Node, spec: "+test.spec+", status: {conditions: [{type: Ready, status: 'True'}], "+
					"diskStatus: {ssd: {conditions: ["+test.condition+"]}}}}")
				if s, _ := symptom.Of(o, isOK); s.Sentence != test.want {
					t.Errorf("is OK %t: got %q, want %q", isOK, s.Sentence, test.want)
				}
			}
		})
	}
}

// If the status contains no good state of the object itself, an error of a part in a map is a problem, too.
func TestErrorOfPartInMapIsProblem(t *testing.T) {
	for condition, want := range map[string]string{
		"{type: Connected, status: 'False', message: cannot connect}":      "cluster eu: Connected: cannot connect",
		"{type: Connected, status: 'False', message: no client until now}": "",
	} {
		t.Run(condition, func(t *testing.T) {
			o := decode(t, "{kind: Feed, spec: {}, status: {clusters: {eu: {conditions: ["+condition+"]}}}}")
			if s, _ := symptom.Of(o, false); s.Sentence != want {
				t.Errorf("got %q, want %q", s.Sentence, want)
			}
		})
	}
}
