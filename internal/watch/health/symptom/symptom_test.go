package symptom_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
)

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	o := map[string]any{}
	asJSON, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = json.Unmarshal(asJSON, &o) // As in package object, an integer is an int64.
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}

// The failure of an object is possibly reported only by one of its parts, such as a node of a database cluster.
func TestFailedPartIsReported(t *testing.T) {
	for status, want := range map[string]string{
		"{applications: {web: {status: DEPLOY_FAILED, message: no module}}}":         "web: DEPLOY_FAILED: no module",
		"{domainStatus: [{domain: a.example.com, status: FailedNotVisible}]}":        "a.example.com: FailedNotVisible",
		"{release: {status: merge-failed, reason: no config}}":                       "release: merge-failed: no config",
		"{services: [{name: web, phase: error, message: cannot apply}]}":             "web: error: cannot apply",
		"{admissions: [{name: quota, state: Rejected, message: too large}]}":         "quota: Rejected: too large",
		"{connections: [{state: error, statusMessage: no route}]}":                   "connection: error: no route",
		"{clusters: {eu: {bundle: {bundleState: ErrApplied, message: conflict}}}}":   "bundle: ErrApplied: conflict",
		"{nodes: [{node: n1, syncStatus: Failed, lastSyncError: x}]}":                "n1: Failed",
		"{nodes: [{node: n1, syncStatus: Failed, lastSyncError: no free disk}]}":     "n1: Failed: no free disk",
		"{components: {db: {replicas: [{id: r1, state: CREATE_FAILED, code: X1}]}}}": "r1: CREATE_FAILED: X1",
		"{tags: [{conditions: [{type: ImportSuccess, status: 'False', message: not found}]}]}": "tag: ImportSuccess: " +
			"not found",
		"{transport: {modelStatus: {transitionStatus: BlockedByFailedLoad}}}": "modelStatus: BlockedByFailedLoad",
		"{process: {status: Failed, failure: disk is full}}":                  "process: Failed: disk is full",
		// An operation that does not continue, although the object itself works.
		"{phase: RUNNING, health: yellow, componentsStatus: [{component: Upgrader, status: Upgrading, conditions: [" +
			"cluster is not green]}]}": "Upgrader: Upgrading: cluster is not green",
		"{tasks: [{name: move, state: Pending, conditions: [cannot drain n1]}]}": "move: Pending: cannot drain n1",
		// No problem: the cluster has one node, the operation continues or has ended, or no obstacle is named.
		"{phase: RUNNING, health: yellow, componentsStatus: [{}]}":                                          "",
		"{componentsStatus: [{component: Upgrader, status: Upgrading, conditions: [draining node n1]}]}":    "",
		"{componentsStatus: [{component: Upgrader, status: Finished, conditions: [cluster is not green]}]}": "",
		"{componentsStatus: [{component: Upgrader, status: Upgrading, conditions: []}]}":                    "",
		"{backups: [{name: a, status: Pending, conditions: [cannot connect]}]}":                             "",
		// No problem: the first condition names no error. The second is not a step of a controller (see package wording).
		"{tags: [{conditions: [{type: ImportSuccess, status: 'False'}]}]}":                     "",
		"{tags: [{conditions: [{type: Found, status: 'False', message: the search failed}]}]}": "",
		// The object itself is in order.
		"{phase: Running, workers: [{name: a, status: FAILED}]}":         "",
		"{serviceStatus: Running, workers: [{name: a, status: FAILED}]}": "",
		"{ready: true, workers: [{name: a, status: FAILED}]}":            "",
		// The failure is over.
		"{runs: [{name: a, status: Failed, finishedAt: x}]}":                     "",
		"{nodes: {a: {phase: Failed, finishedAt: x}}}":                           "",
		"{history: [{state: Failed}], previousRun: {state: Failed}}":             "",
		"{retriesStatus: [{state: Failed}], failedAttempts: [{status: Failed}]}": "",
		// These states and results are not failures of a part.
		"{peers: [{name: a, state: Idle}], interfaces: [{name: eth1, state: down}]}": "",
		"{experiments: [{name: a, status: Completed, verdict: Fail}]}":               "",
		"{backups: [{name: a, state: PartiallyFailed}]}":                             "",
		"{executorState: {exec-1: FAILED}}":                                          "",
		"{jobs: [{name: a, status: Failed}], taskRuns: {a: {state: Failed}}}":        "",
		"{parts: [{name: a, status: NoErrors}, {name: b, state: on-failure}]}":       "",
		"{template: {status: Failed}, spec: {status: Failed}}":                       "",
	} {
		t.Run(status, func(t *testing.T) {
			s, ok := symptom.Of(decode(t, "{kind: Feed, spec: {}, status: "+status+"}"), false)
			if ok != (want != "") || s.Sentence != want {
				t.Errorf("got %q, want %q", s.Sentence, want)
			}
		})
	}
}

// A long text of several lines is treated as a stack trace: only the line with the error is kept.
func TestStackTraceIsShortened(t *testing.T) {
	long := `Deploying app failed:\n  File \"/usr/lib/python3.11/importlib/__init__.py\", line 127, in import_module\n` +
		`    return _bootstrap._gcd_import(name[level:], package, level)\n    raise ImportError(name, path, module)\n` +
		`ModuleNotFoundError: No module named 'x'`
	o := decode(t, `{kind: Feed, spec: {}, status: {apps: {web: {status: FAILED, message: "`+long+`"}}}}`)
	want := "web: FAILED: Deploying app failed: … ModuleNotFoundError: No module named 'x'"
	if s, _ := symptom.Of(o, false); s.Sentence != want {
		t.Errorf("got %q, want %q", s.Sentence, want)
	}
}

// IsFinal is true if a run has ended without success: its controller does not retry. It is false for a canceled run.
func TestRunThatEndedWithoutSuccessIsFinal(t *testing.T) {
	for status, want := range map[string]bool{
		"{completionTime: x, conditions: [{type: Succeeded, status: 'False', reason: TaskRunTimeout}]}":       true,
		"{completionTime: x, conditions: [{type: Succeeded, status: 'False', reason: CouldntGetTask}]}":       true,
		"{completedAt: x, conditions: [{type: Succeeded, status: 'False', reason: PodEvicted}]}":              true,
		"{conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded}]}":                        true,
		"{conditions: [{type: Completed, status: 'True', reason: Failed, message: the job failed}]}":          true,
		"{conditions: [{type: Completed, status: 'True', reason: Succeeded}]}":                                false,
		"{conditions: [{type: Succeeded, status: 'False', reason: Failed}]}":                                  false,
		"{conditions: [{type: Succeeded, status: Unknown, reason: Running}]}":                                 false,
		"{completionTime: x, conditions: [{type: Succeeded, status: 'True', reason: Succeeded}]}":             false,
		"{completionTime: x, conditions: [{type: Succeeded, status: 'False', reason: PipelineRunCancelled}]}": false,
		"{completionTime: x, conditions: [{type: Succeeded, status: 'False', reason: Cancelled}]}":            false,
		"{completionTime: x, conditions: [{type: Succeeded, status: 'False', reason: BuildRunCanceled}]}":     false,
		"{completionTime: x, conditions: [{type: Succeeded, status: 'False', reason: CancelledByUser}]}":      false,
		"{conditions: [{type: Failed, status: 'True', reason: JobCancelled}]}":                                false,
		"{completionTime: x, conditions: [{type: Succeeded, status: 'False', reason: ContextCanceled}]}":      true,
	} {
		t.Run(status, func(t *testing.T) {
			if s, _ := symptom.Of(decode(t, "{kind: Run, spec: {}, status: "+status+"}"), false); s.IsFinal != want {
				t.Errorf("got %+v, want %v", s, want)
			}
		})
	}
}

// A phase that names a failure means that the object does not work at all, unless only a part of it has failed.
func TestFailurePhaseIsTotalUnlessPartial(t *testing.T) {
	for status, want := range map[string]bool{
		"phase: FailedValidation": true, "state: invalid": true, "phase: SubmissionFailed": true, "phase: UPLOAD_ERROR": true,
		"status: ValidationFailed": true, "phase: PartiallyFailed": false, "phase: Unhealthy": false,
		"phase: Degraded": false,
		"health: red":     false, "jobState: FAILED": false, "phase: Running": false, "phase: FailedOver": false,
	} {
		t.Run(status, func(t *testing.T) {
			if s, _ := symptom.Of(decode(t, "{kind: Feed, spec: {}, status: {"+status+"}}"), false); s.IsTotal != want {
				t.Errorf("got %+v, want %v", s, want)
			}
		})
	}
}

func TestPausedControllersAreRecognized(t *testing.T) {
	for text, want := range map[string]bool{
		`{metadata: {annotations: {cluster.x-k8s.io/paused: ""}}}`:               true,
		`{metadata: {annotations: {crossplane.io/paused: "true"}}}`:              true,
		`{metadata: {annotations: {strimzi.io/pause-reconciliation: "true"}}}`:   true,
		`{metadata: {labels: {rabbitmq.com/pauseReconciliation: "true"}}}`:       true,
		`{metadata: {annotations: {argocd.argoproj.io/skip-reconcile: "true"}}}`: true,
		`{metadata: {annotations: {example.com/reconciliation-paused: "yes"}}}`:  true,
		`{metadata: {annotations: {autoscaling.keda.sh/paused: "true"}}}`:        true,
		`{spec: {suspend: true}}`: true,
		`{spec: {}, status: {conditions: [{type: ReconciliationPaused, status: "True"}]}}`:        true,
		`{metadata: {annotations: {strimzi.io/pause-reconciliation: "false"}}}`:                   false,
		`{metadata: {annotations: {example.com/paused-at: "10:00", example.com/pause-image: x}}}`: false,
		`{metadata: {annotations: {example.com/unpaused: "true"}}}`:                               false,
		`{spec: {}, status: {conditions: [{type: ReconciliationPaused, status: "False"}]}}`:       false,
		`{spec: {}, status: {conditions: [{type: HeartbeatStopped, status: "True"}]}}`:            false,
	} {
		t.Run(text, func(t *testing.T) {
			if got := symptom.HasPausedController(decode(t, text)); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// If an optional setting is empty, a condition that only reports this is not a problem.
func TestEmptyOptionalSettingIsNoProblem(t *testing.T) {
	const unavailable = `status: {conditions: [{type: Unavailable, status: "True", message: `
	for text, want := range map[string]bool{
		`{spec: {backupTargetURL: ""}, ` + unavailable + `backup target URL is empty}]}}`:                  false,
		`{spec: {endpoint: ""}, ` + unavailable + `the endpoint is not configured.}]}}`:                    false,
		`{spec: {endpoint: "https://s3"}, ` + unavailable + `endpoint is not configured}]}}`:               true,
		`{spec: {}, ` + unavailable + `endpoint is not configured}]}}`:                                     true,
		`{spec: {endpoint: ""}, ` + unavailable + `"cannot connect: endpoint is empty"}]}}`:                true,
		`{spec: {url: ""}, status: {conditions: [{type: Valid, status: "False", message: url is empty}]}}`: true,
	} {
		t.Run(text, func(t *testing.T) {
			if s, ok := symptom.Of(decode(t, text), false); ok != want {
				t.Errorf("got %+v, want %v", s, want)
			}
		})
	}
}

// An object that waits for another object has no problem of its own if the other object is possibly stopped on purpose.
func TestWaitingForStoppedObjectIsNoProblem(t *testing.T) {
	for condition, want := range map[string]bool{
		`type: Active, status: "False", reason: ClusterQueueIsInactive, message: Can't submit new workloads`: true,
		`type: QuotaReserved, status: "False", reason: Inadmissible, message: LocalQueue a is inactive`:      true,
		`type: Applied, status: "False", reason: Waiting, message: 'Source "shop/apps" is suspended'`:        true,
		`type: QuotaReserved, status: "True", reason: Inadmissible`:                                          false,
		`type: Running, status: "False", reason: FeedSuspended, message: Feed prices is suspended.`:          false,
		`type: Active, status: "False", reason: FeedIsInactive`:                                              false,
		`type: Active, status: "False", reason: Stopped, message: Can't admit new workloads`:                 false,
		`type: Active, status: "False", reason: FlavorNotFound, message: references missing flavors`:         false,
	} {
		t.Run(condition, func(t *testing.T) {
			text := "{kind: Feed, metadata: {name: prices}, spec: {}, status: {conditions: [{" + condition + "}]}}"
			if s, ok := symptom.Dependency(decode(t, text)); ok != want {
				t.Errorf("got %+v, want %v", s, want)
			}
		})
	}
}

// Some conditions report an achievement, such as DatabaseProvisioned. If such a condition is False, it is a problem
// only if its message names an error. Waiting in a queue is not a problem.
func TestFalseConditionIsProblemOnlyWithError(t *testing.T) {
	for condition, want := range map[string]bool{
		"type: DatabaseProvisioned, message: cannot connect to the server":                   true,
		"type: Connected, message: 'dial tcp: connection refused'":                           true,
		"type: Registered, message: the token has expired":                                   true,
		"type: example.com/SchemaApplied, message: 'permission denied for schema'":           true,
		"type: Progressing, reason: ProgressDeadlineExceeded":                                true,
		"type: Complete, message: Failed":                                                    true,
		"type: PartiallyReady, status: 'True', message: one namespace failed":                true,
		"type: PartiallyReady, status: 'True', message: waiting for one namespace":           false,
		"type: Complete, message: 1 of 2 pods failed":                                        false,
		"type: QuotaReserved, reason: Pending, message: couldn't assign flavors":             false,
		"type: QuotaReserved, message: 'request > maximum capacity (16 > 8)'":                true,
		"type: QuotaReserved, message: 'insufficient unused quota, 2 more needed'":           false,
		"type: QuotaReserved, message: 'request > maximum capacity (9 > 8), 2 more needed'":  false,
		"type: QuotaReserved, message: resource gpu unavailable in ClusterQueue":             true,
		"type: Placed, message: the request can never be satisfied":                          true,
		"type: Placed, message: exceeds the total memory capacity":                           true,
		"type: Placed, message: the queue exceeds its quota":                                 false,
		"type: Placed, message: the group has more than 3 nodes":                             false,
		"type: Active, reason: ScalerNotActive, message: triggers are not active":            false,
		"type: Upgradeable, message: cannot be upgraded":                                     false,
		"type: Provisioned, message: waiting for the machine":                                false,
		"type: Running, reason: Suspended, message: the job was suspended because it failed": false,
		"type: RuleSatisfied, reason: NoBindings, message: No valid ClusterBindings found":   true,
		"type: RuleSatisfied, reason: NoUpdates, message: No available updates found":        false,
		// An error has stopped the object.
		"type: Disabled, status: 'True', reason: TemplateNotFound, message: template not found": true,
		"type: Paused, status: 'True', reason: UpdateFailed, message: the update failed":        true,
		"type: Disabled, status: 'True', reason: DisabledByUser, message: switched off":         false,
		"type: Paused, status: 'True', reason: Requested, message: the last update failed":      false,
		// An agent no longer reports the state.
		"type: Available, status: Unknown, reason: LeaseUpdateStopped, message: agent stopped updating its lease": true,
		"type: Reachable, status: Unknown, reason: NoHeartbeat, message: lost contact":                            true,
		"type: Available, status: Unknown, reason: Initialized, message: Condition Initialized":                   false,
	} {
		t.Run(condition, func(t *testing.T) {
			if !strings.Contains(condition, "status:") {
				condition += `, status: "False"`
			}
			text := "{kind: Feed, spec: {}, status: {conditions: [{" + condition + "}]}}"
			if s, ok := symptom.Of(decode(t, text), false); ok != want {
				t.Errorf("got %+v, want %v", s, want)
			}
		})
	}
}

// In a status without conditions, one of several members can explain the state.
func TestStatusMembersExplainTheState(t *testing.T) {
	for status, want := range map[string]string{
		"{currentStatus: invalid, description: the secret does not exist}":            "invalid: the secret does not exist",
		"{state: Warning, message: TLS secret web is invalid}":                        "Warning: TLS secret web is invalid",
		"{phase: Unable to start it}":                                                 "status.phase: Unable to start it",
		"{health: {status: Unhealthy}}":                                               "status.health.status: Unhealthy",
		"{phase: Critical}":                                                           "status.phase: Critical",
		"{connected: false, message: 'dial tcp: connection refused'}":                 "dial tcp: connection refused",
		"{applied: false, appliedMessage: the webhook denied the request}":            "the webhook denied the request",
		"{NoMatchingInstances: true}":                                                 "status.NoMatchingInstances is true",
		"{healthy: false}":                                                            "status.healthy is false",
		"{cluster: {status: OFFLINE}}":                                                "status.cluster.status: OFFLINE",
		"{database: {state: split-brain}}":                                            "status.database.state: split-brain",
		"{clusterStatus: NO_QUORUM}":                                                  "status.clusterStatus: NO_QUORUM",
		"{phase: TimedOut}":                                                           "status.phase: TimedOut",
		"{state: Stalled, lastReplicationError: no space left}":                       "Stalled: no space left",
		"{syncStatus: Failed, lastSyncError: too many functions}":                     "Failed: too many functions",
		"{state: Failed, reason: SyncFailed, validationErrorMessage: no such field}":  "Failed: no such field",
		"{state: Failed, reason: SyncFailed, lastSyncError: none}":                    "Failed: SyncFailed",
		"{state: Failed, lastSyncFailure: '2026-01-01T00:00:00Z'}":                    "status.state: Failed",
		"{state: Failed, ignoredError: no such field}":                                "status.state: Failed",
		"{state: Failed, lastIgnoredError: no such field}":                            "status.state: Failed",
		"{state: IdleTimeout}":                                                        "",
		"{phase: Failing over, cluster: {status: ONLINE_PARTIAL}}":                    "",
		"{active: false, problems: ['dangling reference: audit']}":                    "dangling reference: audit",
		"{problems: [{severity: error, message: no output}]}":                         "no output",
		"{problems: [{severity: warning, message: no output}]}":                       "",
		"{active: true, problems: []}":                                                "",
		"{active: false, problemsCount: 0}":                                           "",
		"{resolvedProblems: [no output]}":                                             "",
		"{source: {errors: [{code: '1045', errorMessage: status is not allowed}]}}":   "status is not allowed",
		"{sync: {status: Unknown, errors: [cannot apply]}}":                           "cannot apply",
		"{source: {errors: [], errorSummary: {totalCount: 0}}}":                       "",
		"{lastRun: {errors: [cannot apply]}, retries: {errors: [cannot apply]}}":      "",
		"{tests: {errors: [cannot apply]}, snapshots: {errors: [cannot apply]}}":      "",
		"{phase: Ready, source: {errors: [cannot apply]}}":                            "",
		"{syncStatus: Succeeded, lastSyncError: too many functions}":                  "",
		"{cluster: {status: ONLINE}}":                                                 "",
		"{cluster: {status: INITIALIZING}}":                                           "",
		"{peers: [{name: a, state: offline}]}":                                        "",
		"{state: MaxLimitReached, errorDescription: too many roles}":                  "too many roles",
		"{currentStatus: invalid, description: see Errors for details}":               "status.currentStatus: invalid",
		"{readOnly: true, expired: true, unschedulable: true}":                        "",
		"{hasErrors: true}":                                                           "status.hasErrors is true",
		"{noErrors: true, lastFailed: true, degraded: false}":                         "",
		"{phase: Ready, degraded: true}":                                              "",
		"{ready: false}":                                                              "",
		"{code: 13, message: failed to create the volume}":                            "failed to create the volume",
		"{state: Warning, message: The upstream has 3 addresses}":                     "",
		"{phase: Failing over to web-2}":                                              "",
		"{phase: Cluster in healthy state}":                                           "",
		"{connected: false, message: waiting for the first client}":                   "",
		"{connected: true, message: reconnected after a failure}":                     "",
		"{message: no resources failed}":                                              "",
		"{message: 3 files were copied}":                                              "",
		"{phase: Active, message: recovered from a failure}":                          "",
		"{observedPhase: Ready, message: the last attempt failed and was repeated}":   "",
		"{conditions: [{type: Synced, status: 'True'}], message: one attempt failed}": "",
	} {
		t.Run(status, func(t *testing.T) {
			s, ok := symptom.Of(decode(t, "{kind: Feed, spec: {}, status: "+status+"}"), false)
			if ok != (want != "") || s.Sentence != want {
				t.Errorf("got %q, want %q", s.Sentence, want)
			}
		})
	}
}

func TestStoppedObjectHasNoError(t *testing.T) {
	for status, want := range map[string]bool{
		"printableStatus: Stopped, conditions: [{type: Ready, status: 'False', message: VMI does not exist}]": true,
		"phase: Succeeded, conditions: [{type: Ready, status: 'False', message: pod is terminating}]":         true,
		"powerState: deallocated": true,
		"phase: Stopped, conditions: [{type: Ready, status: 'False', message: the disk failed}]":   false,
		"phase: Completed, conditions: [{type: Ready, status: 'False', reason: UploadFailed}]":     false,
		"phase: Stopped, conditions: [{type: Failure, status: 'True'}]":                            false,
		"phase: Running, conditions: [{type: Ready, status: 'False', message: the VM is stopped}]": false,
		"lastState: Stopped": false,
	} {
		t.Run(status, func(t *testing.T) {
			if got := symptom.HasStopped(decode(t, "{spec: {}, status: {"+status+"}}")); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// The failure of a task, such as a backup, is a problem even if the object itself is ready. Failed tests do not count.
func TestFailedTaskOfReadyObjectIsProblem(t *testing.T) {
	for condition, want := range map[string]bool{
		"type: LastBackupSucceeded, reason: LastBackupFailed, message: the plugin is not available": true,
		"type: LastSyncSucceeded, message: cannot connect to the server":                            true,
		"type: example.com/ImportSuccess, reason: ImportFailed":                                     true,
		"type: LastBackupSucceeded, reason: BackupRunning, message: the backup is running":          false,
		"type: LastBackupSucceeded, reason: NoBackup":                                               false,
		"type: LastBackupSucceeded, status: 'True', reason: LastBackupFailed":                       false,
		"type: LastBackupSucceeded, reason: BackupDisabled, message: backups are disabled":          false,
		"type: TestSuccess, reason: TestFailed, message: the test failed":                           false,
		"type: LastTestSucceeded, reason: TestFailed, message: the test failed":                     false,
		"type: Scheduled, reason: ScheduleFailed, message: no slot":                                 false,
		"type: DependenciesHealthy, reason: PluginNotFound, message: Plugin does not exist":         true,
		"type: DependenciesHealthy, reason: Checking, message: Plugin does not exist":               false,
		"type: PluginInstalled, reason: PluginNotFound, message: Plugin does not exist":             false,
	} {
		t.Run(condition, func(t *testing.T) {
			if !strings.Contains(condition, "status:") {
				condition += `, status: "False"`
			}
			text := "{kind: Feed, spec: {}, status: {conditions: [{type: Ready, status: 'True'}, {" + condition + "}]}}"
			for _, isOK := range []bool{false, true} {
				if s, ok := symptom.Of(decode(t, text), isOK); ok != want {
					t.Errorf("is OK %t: got %+v, want %v", isOK, s, want)
				}
			}
		})
	}
}

// A bad state is not a problem if the spec states that the object shall do nothing.
func TestStateRequestedBySpecIsNoProblem(t *testing.T) {
	for spec, want := range map[string]bool{
		"{suspend: true}": false, "{pause: true}": false, "{stop: 'yes'}": false, "{running: false}": false,
		"{online: false}": false, "{active: false}": false, "{powerState: 'Off'}": false, "{desiredState: Offline}": false,
		"{replicas: 0}": false, "{instances: 0}": false,
		"{}": true, "{suspend: false}": true, "{stop: 'no'}": true, "{online: true}": true, "{state: running}": true,
		"{stop: {after: 1h}}": true, "{instances: 1}": true,
	} {
		t.Run(spec, func(t *testing.T) {
			o := decode(t, "{kind: Feed, spec: "+spec+", status: {state: offline}}")
			if s, ok := symptom.Of(o, false); ok != want {
				t.Errorf("got %+v, want %v", s, want)
			}
		})
	}
}

func TestOwnErrorIgnoresConditions(t *testing.T) {
	for status, want := range map[string]string{
		"{status: Aborted, errors: [cannot create the pod]}":                      "Aborted: cannot create the pod",
		"{errorMessage: cannot create the pod}":                                   "cannot create the pod",
		"{conditions: [{type: Ready, status: 'False', message: the pod failed}]}": "",
		"{phase: Running}": "",
	} {
		t.Run(status, func(t *testing.T) {
			if got := symptom.OwnError(decode(t, "{status: "+status+"}")); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
