//go:build integration

package deploy

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/glasshouse-project/glasshouse/test/deploy/variant"
)

type cluster struct {
	kubernetes.Interface

	config *rest.Config
}

func open(t *testing.T) *cluster {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{client, config}
}

func kubeconfig(t *testing.T) string {
	t.Helper()
	path := os.Getenv("KUBECONFIG")
	if path == "" {
		t.Fatal("KUBECONFIG must be the path of the demo cluster's kubeconfig: run this with .ci/on-demo")
	}
	return path
}

// apply runs kubectl apply, and deletes the objects when the test ends.
func apply(t *testing.T, flag, path string) {
	t.Helper()
	t.Cleanup(func() { kubectl(t, "delete", "--ignore-not-found", "--timeout=90s", flag, path) })
	kubectl(t, "apply", flag, path)
}

func deploy(t *testing.T, name string) {
	t.Helper()
	switch name {
	case "team":
		apply(t, "-f", "testdata/volume.yaml")
	case "monitoring":
		apply(t, "-f", "testdata/definition.yaml")
		kubectl(t, "wait", "--for=condition=Established", "--timeout=30s", "-f", "testdata/definition.yaml")
	}
	apply(t, "-k", filepath.Join(root, "deploy/kustomize", name))
	kubectl(t, "--namespace", variant.Namespace, "rollout", "status", "--timeout=60s", "deployment/glasshouse")
}

func kubectl(t *testing.T, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext( //nolint:gosec // The tests provide the arguments.
		ctx, "kubectl", args...,
	).CombinedOutput(); err != nil {
		t.Fatalf("kubectl %v: %v\n%s", args, err, out)
	}
}

func account(name string) string { return "system:serviceaccount:" + variant.Namespace + ":" + name }

func (c *cluster) isAllowed(
	ctx context.Context, name string, attributes authorizationv1.ResourceAttributes,
) (bool, error) {
	review, err := c.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: account(name), Groups: []string{
				"system:serviceaccounts", "system:serviceaccounts:" + variant.Namespace, "system:authenticated",
			},
			ResourceAttributes: &attributes,
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("create an access review: %w", err)
	}
	return review.Status.Allowed, nil
}

func eventually(t *testing.T, description string, check func() error) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("condition %q was not true within 30 s: %v", description, err)
		case <-tick.C:
		}
	}
}
