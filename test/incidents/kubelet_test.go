package incidents

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

const (
	scheduler   = "incidents" // The schedulerName of pods that the test binds to its nodes.
	defaultNode = prefix + "node"
	identity    = "incidents"
)

// podState is the status that the kubelet reports for a pod. An element of Init or Containers contains some members of
// a container's status, which replace the default ones. By default, a container runs.
type podState struct {
	Node       string                `json:"node"`
	Phase      corev1.PodPhase       `json:"phase"`
	Reason     string                `json:"reason"`
	Message    string                `json:"message"`
	Init       []json.RawMessage     `json:"init"`
	Containers []json.RawMessage     `json:"containers"`
	Conditions []corev1.PodCondition `json:"conditions"` // Replace the default conditions of the same type.
}

// kubelet schedules the pods of the fixtures, and writes their statuses. It renews the leases of its nodes. kwok
// ignores these nodes because of their label.
type kubelet struct {
	core     kubernetes.Interface
	pods     listers.PodLister
	states   map[string]map[string]podState // By the pod's namespace and its annotation "kubelet".
	nodes    []string
	dead     []string                     // Nodes whose lease is not renewed.
	reported map[types.UID]map[string]any // The statuses that the API server has accepted.
	renewed  time.Time
}

// run writes the statuses of the pods every 200 ms, until ctx ends. It passes errors to report.
func (k *kubelet) run(ctx context.Context, report func(error)) {
	factory := informers.NewSharedInformerFactory(k.core, 0)
	k.pods = factory.Core().V1().Pods().Lister()
	informer := factory.Core().V1().Pods().Informer()
	factory.Start(ctx.Done())
	cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			factory.Shutdown()
			return
		case <-tick.C:
		}
		if err := k.step(ctx); err != nil && ctx.Err() == nil {
			report(err)
		}
	}
}

func (k *kubelet) step(ctx context.Context) error {
	if time.Since(k.renewed) > 10*time.Second {
		k.renewed = time.Now()
		for _, node := range k.nodes {
			if slices.Contains(k.dead, node) {
				continue
			}
			patch := fmt.Appendf(nil, `{"spec":{"renewTime":%q}}`, time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"))
			if _, err := k.core.CoordinationV1().Leases(corev1.NamespaceNodeLease).Patch(ctx, node,
				types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kubelet"}); err != nil {
				return fmt.Errorf("renew the lease of %s: %w", node, err)
			}
		}
	}
	pods, err := k.pods.List(labels.Everything())
	if err != nil {
		return err
	}
	for _, pod := range pods {
		if err := k.handle(ctx, pod); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("run pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	return nil
}

func (k *kubelet) handle(ctx context.Context, pod *corev1.Pod) error {
	api := k.core.CoreV1().Pods(pod.Namespace)
	state := k.states[pod.Namespace][pod.Annotations["kubelet"]]
	switch {
	case pod.Spec.NodeName == "" && pod.Spec.SchedulerName == scheduler && len(pod.Spec.SchedulingGates) == 0 &&
		pod.DeletionTimestamp == nil:
		node := state.Node
		if node == "" {
			node = defaultNode
		}
		return api.Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: node},
		}, metav1.CreateOptions{FieldManager: "kube-scheduler"})
	case !slices.Contains(k.nodes, pod.Spec.NodeName):
		return nil
	case pod.DeletionTimestamp != nil:
		// Keep a pod with finalizers. Also keep a pod on a node that is down, because no kubelet confirms its end.
		if len(pod.Finalizers) > 0 || slices.Contains(k.dead, pod.Spec.NodeName) {
			return nil
		}
		zero := int64(0)
		return api.Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &zero})
	case k.reported[pod.UID] != nil:
		return nil
	}
	status, err := state.status(pod, len(k.reported))
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	_, err = api.Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kubelet"}, "status")
	if err == nil {
		k.reported[pod.UID] = status
	}
	return err
}

// status returns the status of a pod as a kubelet writes it. n makes the address unique.
func (s *podState) status(pod *corev1.Pod, n int) (map[string]any, error) {
	now := metav1.Now().UTC().Format(time.RFC3339)
	initialized := "True"
	var init []any
	for i := range pod.Spec.InitContainers {
		c, isDone, err := s.container(&pod.Spec.InitContainers[i], i, s.Init, map[string]any{"terminated": map[string]any{
			"exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now,
		}})
		if err != nil {
			return nil, err
		}
		if !isDone {
			initialized = "False"
		}
		init = append(init, c)
	}
	state := map[string]any{"running": map[string]any{"startedAt": now}}
	if initialized == "False" {
		state = map[string]any{"waiting": map[string]any{"reason": "PodInitializing"}}
	}
	if s.Phase == corev1.PodSucceeded {
		state = map[string]any{"terminated": map[string]any{
			"exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now,
		}}
	}
	var containers []any
	var unready []string
	for i := range pod.Spec.Containers {
		c, _, err := s.container(&pod.Spec.Containers[i], i, s.Containers, state)
		if err != nil {
			return nil, err
		}
		if c["ready"] != true {
			unready = append(unready, pod.Spec.Containers[i].Name)
		}
		containers = append(containers, c)
	}
	status := map[string]any{
		"phase": s.phase(containers, initialized == "True"), "startTime": now, "qosClass": pod.Status.QOSClass,
		"hostIP": "10.11.0.1", "hostIPs": []any{map[string]any{"ip": "10.11.0.1"}},
		"podIP":                 fmt.Sprintf("10.200.%d.%d", n/250, n%250+1),
		"podIPs":                []any{map[string]any{"ip": fmt.Sprintf("10.200.%d.%d", n/250, n%250+1)}},
		"initContainerStatuses": init, "containerStatuses": containers,
		"conditions": s.conditions(initialized, unready),
	}
	if s.Reason != "" {
		status["reason"], status["message"] = s.Reason, s.Message
	}
	if s.Phase == corev1.PodFailed && s.Reason == "Evicted" {
		delete(status, "containerStatuses")
	}
	return status, nil
}

func (s *podState) container(
	spec *corev1.Container, i int, changes []json.RawMessage, state map[string]any,
) (status map[string]any, isDone bool, err error) {
	status = map[string]any{
		"name": spec.Name, "image": spec.Image, "imageID": spec.Image + "@sha256:" + strings.Repeat("0", 64),
		"restartCount": 0, "state": state,
	}
	if i < len(changes) {
		delete(status, "state")
		if status, err = merge(status, changes[i]); err != nil {
			return nil, false, fmt.Errorf("container %d: %w", i, err)
		}
		if status["state"] == nil {
			status["state"] = state
		}
		status, _ = resolveTimes(status, time.Now()).(map[string]any)
	}
	current, _ := status["state"].(map[string]any)
	isRunning, terminated := current["running"] != nil, current["terminated"]
	if status["ready"] == nil {
		status["ready"] = isRunning
	}
	status["started"] = isRunning
	if t, ok := terminated.(map[string]any); ok {
		isDone = fmt.Sprint(t["exitCode"]) == "0"
	}
	if isRunning && spec.RestartPolicy != nil { // A running sidecar does not delay the next init container.
		isDone = true
	}
	return status, isDone, nil
}

func (s *podState) phase(containers []any, isInitialized bool) corev1.PodPhase {
	if s.Phase != "" {
		return s.Phase
	}
	if !isInitialized {
		return corev1.PodPending
	}
	for _, c := range containers {
		status, _ := c.(map[string]any)
		state, _ := status["state"].(map[string]any)
		if state["waiting"] != nil && status["lastState"] == nil {
			return corev1.PodPending
		}
	}
	return corev1.PodRunning
}

func (s *podState) conditions(initialized string, unready []string) []corev1.PodCondition {
	ready, reason, message := "True", "", ""
	if len(unready) > 0 {
		ready, reason = "False", "ContainersNotReady"
		message = fmt.Sprintf("containers with unready status: [%s]", strings.Join(unready, " "))
	}
	if s.Phase == corev1.PodSucceeded {
		reason, message = "PodCompleted", ""
	}
	conditions := []corev1.PodCondition{
		{Type: "PodReadyToStartContainers", Status: "True"},
		{Type: corev1.PodInitialized, Status: corev1.ConditionStatus(initialized)},
		{Type: corev1.PodReady, Status: corev1.ConditionStatus(ready), Reason: reason, Message: message},
		{Type: corev1.ContainersReady, Status: corev1.ConditionStatus(ready), Reason: reason, Message: message},
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
	}
	if initialized == "False" {
		conditions[1].Reason, conditions[1].Message = "ContainersNotInitialized", "containers with incomplete status"
	}
	for _, override := range s.Conditions {
		conditions = slices.DeleteFunc(conditions, func(c corev1.PodCondition) bool { return c.Type == override.Type })
		conditions = append(conditions, override)
	}
	for i := range conditions {
		conditions[i].LastTransitionTime = metav1.Now()
	}
	return conditions
}
