package seed

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1 "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	// Big is the namespace of the additional pods that the flag --pods requests.
	Big = "big"

	perDeployment = 250
	parallel      = 16
)

// Fill scales Deployments in namespace Big, so that the cluster has the given number of pods. It returns the
// number of pods in Big.
func Fill(ctx context.Context, client kubernetes.Interface, total int) (int, error) {
	existing, err := client.AppsV1().Deployments(Big).List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, fmt.Errorf("list deployments: %w", err)
	}
	if total == 0 && len(existing.Items) == 0 {
		return 0, nil
	}
	company, _, err := countRequested(ctx, client)
	if err != nil {
		return 0, fmt.Errorf("count pods: %w", err)
	}
	missing := max(0, total-company.requested)
	if _, err := client.CoreV1().Namespaces().Apply(ctx, corev1ac.Namespace(Big), applyAs("demo")); err != nil {
		return 0, fmt.Errorf("create the namespace %s: %w", Big, err)
	}
	return missing, applyDeployments(ctx, client, missing, len(existing.Items))
}

func applyDeployments(ctx context.Context, client kubernetes.Interface, missing, existing int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := 0; i < existing || i*perDeployment < missing; i++ {
		replicas := min(perDeployment, max(0, missing-i*perDeployment))
		group.Go(func() error {
			if _, err := client.AppsV1().Deployments(Big).Apply(ctx, loadDeployment(i, replicas), applyAs("demo")); err != nil &&
				!apierrors.IsAlreadyExists(err) {
				return fmt.Errorf("apply a Deployment of load pods: %w", err)
			}
			return nil
		})
	}
	return group.Wait()
}

func applyAs(manager string) metav1.ApplyOptions {
	return metav1.ApplyOptions{FieldManager: manager, Force: true}
}

func loadDeployment(i, replicas int) *v1.DeploymentApplyConfiguration {
	name := fmt.Sprintf("crowd-%03d", i)
	labels := map[string]string{
		"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": Big, "tier": []string{"web", "api", "worker"}[i%3],
	}
	container := corev1ac.Container().WithName("app").WithImage(fmt.Sprintf("registry.example.com/big/app:1.%d.0", i)).
		WithPorts(corev1ac.ContainerPort().WithName("http").WithContainerPort(8080)).
		WithEnv(corev1ac.EnvVar().WithName("LOG_LEVEL").WithValue("info")).
		WithResources(corev1ac.ResourceRequirements().WithRequests(corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("20m"), corev1.ResourceMemory: resource.MustParse("64Mi"),
		}))
	return v1.Deployment(name, Big).WithLabels(labels).WithSpec(v1.DeploymentSpec().
		WithReplicas(int32(replicas)). //nolint:gosec // the number is at most 250
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(map[string]string{"app.kubernetes.io/name": name})).
		WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labels).
			WithAnnotations(map[string]string{"demo.glasshouse/state": "at-once"}).
			WithSpec(corev1ac.PodSpec().WithContainers(container))))
}
