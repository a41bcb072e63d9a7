package life

import (
	"context"
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type eventTemplate struct {
	kind, reason, message, component string
}

func eventTemplates() []eventTemplate {
	return []eventTemplate{
		{
			kind:      corev1.EventTypeWarning,
			reason:    "Unhealthy",
			message:   "Readiness probe failed: Get \"http://10.64.0.17:8080/healthz\": context deadline exceeded",
			component: "kubelet",
		},
		{
			kind:      corev1.EventTypeWarning,
			reason:    "Unhealthy",
			message:   "Liveness probe failed: HTTP probe failed with statuscode: 500",
			component: "kubelet",
		},
		{
			kind:      corev1.EventTypeNormal,
			reason:    "Pulling",
			message:   "Pulling image \"registry.example.com/infra/mesh-proxy:2.8.1\"",
			component: "kubelet",
		},
		{
			kind:      corev1.EventTypeWarning,
			reason:    "DNSConfigForming",
			message:   "Nameserver limits were exceeded, some nameservers have been omitted",
			component: "kubelet",
		},
		{
			kind:      corev1.EventTypeNormal,
			reason:    "SecretSynced",
			message:   "Secret was synced from the vault",
			component: "secrets-sync",
		},
		{
			kind:      corev1.EventTypeWarning,
			reason:    "PolicyViolation",
			message:   "container may run as root",
			component: "policy",
		},
	}
}

func createEvent(ctx context.Context, w clients) (string, error) {
	t, n := choose(targets()...), choose(eventTemplates()...)
	pods, err := w.typed.CoreV1().Pods(t.namespace).List(ctx, metav1.ListOptions{
		LabelSelector: "app.kubernetes.io/name=" + t.name,
	})
	if err != nil {
		return "", fmt.Errorf("create an event: %w", err)
	}
	if len(pods.Items) == 0 {
		return "", fmt.Errorf("create an event: %s/%s has no pods", t.namespace, t.name)
	}
	pod := pods.Items[rand.IntN(len(pods.Items))] //nolint:gosec // this random number is not security-relevant
	now := metav1.Now()
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: pod.Name + ".", Namespace: pod.Namespace},
		InvolvedObject: corev1.ObjectReference{
			APIVersion:      "v1",
			Kind:            "Pod",
			Namespace:       pod.Namespace,
			Name:            pod.Name,
			UID:             pod.UID,
			ResourceVersion: pod.ResourceVersion,
		},
		Type: n.kind, Reason: n.reason, Message: n.message,
		Source:         corev1.EventSource{Component: n.component, Host: pod.Spec.NodeName},
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
		ReportingController: n.component, ReportingInstance: pod.Spec.NodeName,
	}
	if _, err := w.typed.CoreV1().Events(pod.Namespace).Create(
		ctx, event, metav1.CreateOptions{FieldManager: n.component},
	); err != nil {
		return "", fmt.Errorf("create an event: %w", err)
	}
	return fmt.Sprintf("event %s about pod %s/%s", n.reason, pod.Namespace, pod.Name), nil
}
