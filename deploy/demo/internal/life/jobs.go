package life

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func startBuild(ctx context.Context, w clients) (string, error) {
	project := choose("storefront", "catalog", "cart", "checkout", "gateway", "ledger", "edge-proxy")
	labels := map[string]string{
		"app.kubernetes.io/name": "build-" + project, "app.kubernetes.io/part-of": "ci",
		"ci.example.com/branch": choose("main", "main", "fix-rounding", "upgrade-deps"),
	}
	annotations := map[string]string{"demo.glasshouse/runs-for": choose("8s", "15s", "30s", "55s")}
	if choose(true, false, false, false, false) {
		annotations["demo.glasshouse/state"] = "fails"
	}
	amount := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("1Gi"),
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "build-" + project + "-", Namespace: "ci", Labels: labels},
		Spec: batchv1.JobSpec{
			TTLSecondsAfterFinished: new(int32(120)),
			BackoffLimit:            new(int32(0)),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: annotations},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers: []corev1.Container{{
						Name: "main", Image: "registry.example.com/ci/builder:2026.11",
						Resources: corev1.ResourceRequirements{Requests: amount, Limits: amount},
					}},
				},
			},
		},
	}
	created, err := w.typed.BatchV1().Jobs("ci").Create(ctx, job, metav1.CreateOptions{FieldManager: "ci-runner"})
	if err != nil {
		return "", fmt.Errorf("start a build Job: %w", err)
	}
	return "job ci/" + created.Name + " starts", nil
}
