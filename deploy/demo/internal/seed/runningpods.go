package seed

import (
	"context"
	"crypto/sha256"
	"fmt"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
)

// WriteRunningPods creates pods that are already Running, for a cluster without controllers and kubelets (--still).
// It keeps existing pods.
func WriteRunningPods(
	ctx context.Context, client kubernetes.Interface, nodes, total int, report func(written int),
) error {
	opts := metav1.ApplyOptions{FieldManager: "demo", Force: true}
	if _, err := client.CoreV1().Namespaces().Apply(ctx, corev1ac.Namespace(Big), opts); err != nil {
		return fmt.Errorf("create the namespace %s: %w", Big, err)
	}
	// The API server rejects pods without a service account, and no controller creates one here.
	if _, err := client.CoreV1().ServiceAccounts(Big).Apply(
		ctx, corev1ac.ServiceAccount("default", Big), opts,
	); err != nil {
		return fmt.Errorf("create a service account: %w", err)
	}
	for written := 0; written < total; written += perDeployment {
		set, err := ensureReplicaSet(ctx, client, written/perDeployment, min(perDeployment, total-written))
		if err != nil {
			return err
		}
		if missing := *set.Spec.Replicas - set.Status.ReadyReplicas; missing > 0 {
			if err := writePods(ctx, client, set, written, nodes); err != nil {
				return err
			}
			report(written + int(*set.Spec.Replicas))
		}
	}
	return nil
}

func ensureReplicaSet(ctx context.Context, client kubernetes.Interface, i, replicas int) (*appsv1.ReplicaSet, error) {
	name := fmt.Sprintf("still-%04d", i)
	labels := map[string]string{
		"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": Big, "tier": []string{"web", "api", "worker"}[i%3],
		"pod-template-hash": "7d4b9c6f58",
	}
	count := int32(replicas) //nolint:gosec // the number is at most 250
	set, err := client.AppsV1().ReplicaSets(Big).Create(ctx, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name + "-7d4b9c6f58", Labels: labels},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &count, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{
					Labels: labels, Annotations: map[string]string{"demo.glasshouse/state": "at-once"},
				},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "app", Image: fmt.Sprintf("registry.example.com/big/app:1.%d.0", i),
					Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
					Env:   []corev1.EnvVar{{Name: "LOG_LEVEL", Value: "info"}},
					Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
						corev1.ResourceCPU:    resource.MustParse("20m"),
						corev1.ResourceMemory: resource.MustParse("64Mi"),
					}},
				}}},
			},
		},
	}, metav1.CreateOptions{FieldManager: "kube-controller-manager"})
	if apierrors.IsAlreadyExists(err) {
		set, err = client.AppsV1().ReplicaSets(Big).Get(ctx, name+"-7d4b9c6f58", metav1.GetOptions{})
	}
	if err != nil {
		return nil, fmt.Errorf("create or read the ReplicaSet of load pods: %w", err)
	}
	return set, nil
}

func writePods(ctx context.Context, client kubernetes.Interface, set *appsv1.ReplicaSet, first, nodes int) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range int(*set.Spec.Replicas) {
		group.Go(func() error { return writePod(groupCtx, client, set, i, first+i, nodes) })
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("create pods: %w", err)
	}
	set.Status.Replicas, set.Status.ReadyReplicas, set.Status.AvailableReplicas = *set.Spec.Replicas,
		*set.Spec.Replicas, *set.Spec.Replicas
	set.Status.FullyLabeledReplicas, set.Status.ObservedGeneration = *set.Spec.Replicas, set.Generation
	if _, err := client.AppsV1().ReplicaSets(Big).UpdateStatus(ctx, set, metav1.UpdateOptions{
		FieldManager: "kube-controller-manager",
	}); err != nil {
		return fmt.Errorf("set the status of the ReplicaSet: %w", err)
	}
	return nil
}

func writePod(ctx context.Context, client kubernetes.Interface, set *appsv1.ReplicaSet, i, number, nodes int) error {
	pods := client.CoreV1().Pods(Big)
	want := &corev1.Pod{ObjectMeta: *set.Spec.Template.ObjectMeta.DeepCopy(), Spec: *set.Spec.Template.Spec.DeepCopy()}
	// Two hexadecimal digits make each name unique, because i is less than 250.
	want.GenerateName, want.Name = set.Name+"-", fmt.Sprintf("%s-%s%02x", set.Name, digest(set.Name)[:3], i)
	want.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(
		set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"),
	)}
	target := newNode(generalNode(number, nodes), 0)
	want.Spec.NodeName = target.Name
	pod, err := pods.Create(ctx, want, metav1.CreateOptions{FieldManager: "kube-controller-manager"})
	if apierrors.IsAlreadyExists(err) {
		pod, err = pods.Get(ctx, want.Name, metav1.GetOptions{})
	}
	if err != nil {
		return err //nolint:wrapcheck // the caller wraps it
	}
	pod.Status = runningStatus(
		pod, target.Status.Addresses[0].Address, fmt.Sprintf("10.%d.%d.%d", 64+number>>16&63, number>>8&255, number&255),
	)
	_, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{FieldManager: "kubelet"})
	return err //nolint:wrapcheck // the caller wraps it
}

func generalNode(number, nodes int) int {
	for i := number % nodes; ; i = (i + 1) % nodes {
		if nodeRole(i) == "general" {
			return i
		}
	}
}

// runningStatus returns the same fields as kwok's stage "pod-at-once".
func runningStatus(pod *corev1.Pod, hostIP, podIP string) corev1.PodStatus {
	now := metav1.Now()
	status := corev1.PodStatus{
		Phase: corev1.PodRunning, QOSClass: pod.Status.QOSClass, StartTime: &now,
		HostIP: hostIP, HostIPs: []corev1.HostIP{{IP: hostIP}}, PodIP: podIP, PodIPs: []corev1.PodIP{{IP: podIP}},
	}
	for _, kind := range []corev1.PodConditionType{
		"PodReadyToStartContainers", corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady,
		corev1.PodScheduled,
	} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{
			Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now, ObservedGeneration: pod.Generation,
		})
	}
	started := true
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: true, Started: &started,
			ImageID:     fmt.Sprintf("registry.example.com/big/app@sha256:%x", sha256.Sum256([]byte(c.Image))),
			ContainerID: fmt.Sprintf("containerd://%x", sha256.Sum256(fmt.Append(nil, pod.UID, "/", c.Name))),
			State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
	return status
}
