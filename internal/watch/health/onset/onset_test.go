package onset_test

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/onset"
)

func TestOnsetIsReadFromTheObject(t *testing.T) {
	const meta = `metadata: {creationTimestamp: "2026-11-21T08:00:00Z"}` + "\n"
	for name, test := range map[string]struct{ object, want string }{
		"deletion": {`metadata: {deletionTimestamp: "2026-11-21T10:00:00Z", creationTimestamp: "2026-11-21T08:00:00Z"}
status: {conditions: [{type: Ready, status: "False", lastTransitionTime: "2026-11-21T09:00:00Z"}]}`, "10:00"},
		"unschedulable pod": {`apiVersion: v1
kind: Pod
` + meta + `status:
  phase: Pending
  conditions: [{type: PodScheduled, status: "False", lastTransitionTime: "2026-11-21T08:00:01Z"}]`, "08:00"},
		"pod without conditions": {`apiVersion: v1
kind: Pod
` + meta + `status: {phase: Pending}`, "08:00"},
		"crash loop": {`apiVersion: v1
kind: Pod
` + meta + `spec: {containers: [{name: web}]}
status:
  phase: Running
  startTime: "2026-11-21T08:00:01Z"
  conditions:
    - {type: Initialized, status: "True", lastTransitionTime: "2026-11-21T08:00:02Z"}
    - {type: Ready, status: "False", lastTransitionTime: "2026-11-21T09:00:00Z"}
    - {type: ContainersReady, status: "False", lastTransitionTime: "2026-11-21T09:00:00Z"}
  containerStatuses:
    - {name: web, state: {terminated: {exitCode: 1, finishedAt: "2026-11-21T09:30:00Z"}}}`, "09:00"},
		"crash loop without times of conditions": {`apiVersion: v1
kind: Pod
` + meta + `spec: {containers: [{name: web}]}
status:
  phase: Running
  conditions: [{type: Ready, status: "False"}]
  containerStatuses:
    - {name: web, state: {terminated: {exitCode: 1, finishedAt: "2026-11-21T09:30:00Z"}}}`, "09:30"},
		"failed pod": {`apiVersion: v1
kind: Pod
` + meta + `spec: {containers: [{name: job}, {name: log}]}
status:
  phase: Failed
  startTime: "2026-11-21T08:00:01Z"
  conditions: [{type: Ready, status: "False", lastTransitionTime: "2026-11-21T08:00:02Z"}]
  containerStatuses:
    - {name: job, state: {terminated: {exitCode: 1, finishedAt: "2026-11-21T09:30:00Z"}}}
    - {name: log, state: {terminated: {exitCode: 0, finishedAt: "2026-11-21T09:40:00Z"}}}`, "09:30"},
		"evicted pod": {`apiVersion: v1
kind: Pod
` + meta + `status:
  phase: Failed
  reason: Evicted
  conditions: [{type: Ready, status: "False", lastTransitionTime: "2026-11-21T09:15:00Z"}]`, "09:15"},
		"node": {`apiVersion: v1
kind: Node
` + meta + `status:
  conditions:
    - {type: DiskPressure, status: "False", lastTransitionTime: "2026-11-21T08:01:00Z"}
    - {type: Ready, status: Unknown, lastTransitionTime: "2026-11-21T09:00:00Z"}`, "09:00"},
		"node under pressure": {`apiVersion: v1
kind: Node
` + meta + `status:
  conditions:
    - {type: DiskPressure, status: "True", lastTransitionTime: "2026-11-21T09:10:00Z"}
    - {type: Ready, status: "True", lastTransitionTime: "2026-11-21T08:01:00Z"}`, "09:10"},
		"deployment": {`apiVersion: apps/v1
kind: Deployment
` + meta + `status:
  conditions:
    - {type: Available, status: "False", lastTransitionTime: "2026-11-21T09:00:00Z"}
    - {type: Progressing, status: "False", lastTransitionTime: "2026-11-21T09:10:00Z"}`, "09:00"},
		"deployment that lacks one replica": {`apiVersion: apps/v1
kind: Deployment
` + meta + `status:
  replicas: 2
  conditions:
    - {type: Available, status: "True", lastTransitionTime: "2026-11-21T08:01:00Z"}
    - {type: Progressing, status: "True", lastTransitionTime: "2026-11-21T08:01:00Z"}`, ""},
		"failed job": {`apiVersion: batch/v1
kind: Job
` + meta + `status:
  startTime: "2026-11-21T08:00:01Z"
  conditions: [{type: Failed, status: "True", lastTransitionTime: "2026-11-21T09:00:00Z"}]`, "09:00"},
		"job without pods": {`apiVersion: batch/v1
kind: Job
` + meta + `status: {startTime: "2026-11-21T08:30:00Z"}`, "08:30"},
		"failed run of a cron job": {`apiVersion: batch/v1
kind: CronJob
` + meta + `spec: {schedule: "0 * * * *"}
status: {lastScheduleTime: "2026-11-21T10:00:00Z"}`, "10:00"},
		"missed run": {`apiVersion: batch/v1
kind: CronJob
` + meta + `spec: {schedule: "0 * * * *"}
status: {lastScheduleTime: "2026-11-21T10:00:00Z", lastSuccessfulTime: "2026-11-21T10:00:09Z"}`, "11:00"},
		"autoscaler at its maximum": {`apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
` + meta + `status:
  conditions:
    - {type: AbleToScale, status: "True", lastTransitionTime: "2026-11-21T08:00:00Z"}
    - {type: ScalingLimited, status: "True", reason: TooManyReplicas, lastTransitionTime: "2026-11-21T09:00:00Z"}
`, "09:00"},
		"autoscaler without metrics at its minimum": {`apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
` + meta + `status:
  conditions:
    - {type: ScalingActive, status: "False", reason: FailedGetScale, lastTransitionTime: "2026-11-21T09:30:00Z"}
    - {type: ScalingLimited, status: "True", reason: TooFewReplicas, lastTransitionTime: "2026-11-21T09:00:00Z"}
`, "09:30"},
		"pending claim": {`apiVersion: v1
kind: PersistentVolumeClaim
` + meta + `status: {phase: Pending}`, "08:00"},
		"lost claim": {`apiVersion: v1
kind: PersistentVolumeClaim
` + meta + `status: {phase: Lost}`, ""},
		"failed volume": {`apiVersion: v1
kind: PersistentVolume
` + meta + `status: {phase: Failed, lastPhaseTransitionTime: "2026-11-21T09:00:00Z"}`, "09:00"},
		"pending load balancer": {`apiVersion: v1
kind: Service
` + meta + `spec: {type: LoadBalancer}
status: {loadBalancer: {}}`, "08:00"},
		"custom resource": {`apiVersion: example.com/v1
kind: Widget
` + meta + `status:
  conditions:
    - {type: Painted, status: "False", lastTransitionTime: "2026-11-21T08:30:00Z"}
    - {type: Ready, status: "False", lastTransitionTime: "2026-11-21T09:00:00Z"}`, "09:00"},
		"custom resource without a status": {"apiVersion: example.com/v1\nkind: Widget\n" + meta, "08:00"},
		"custom resource without conditions": {
			"apiVersion: example.com/v1\nkind: Widget\n" + meta + "status: {state: bad}", "",
		},
		"event": {`apiVersion: v1
kind: Event
` + meta + `type: Warning
firstTimestamp: "2026-11-21T08:30:00Z"
lastTimestamp: "2026-11-21T09:30:00Z"`, "08:30"},
		"not an object": {"7", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := yaml.YAMLToJSONStrict([]byte(test.object))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if since := onset.Of(text); !since.IsZero() {
				got = since.UTC().Format("15:04")
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
