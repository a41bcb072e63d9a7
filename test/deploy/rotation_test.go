//go:build integration

package deploy

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/glasshouse-project/glasshouse/test/deploy/variant"
)

// After the kubelet replaces the token file, the dashboard uses the new token before the old one becomes invalid.
//
// Invariant: I46.
func TestTokenIsRotated(t *testing.T) {
	c := open(t)
	deploy(t, "cluster")
	server, _ := c.recordingProxy(t)
	secrets := c.CoreV1().Secrets(variant.Namespace)
	if _, err := secrets.Create(
		t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "bound"}}, metav1.CreateOptions{},
	); err != nil {
		t.Fatal(err)
	}
	first := c.token(t, &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Secret", Name: "bound"})
	file := filepath.Join(t.TempDir(), "token")
	writeToken := func(token string) {
		t.Helper()
		if err := errors.Join(
			os.WriteFile(file+".new", []byte(token), 0o600), os.Rename(file+".new", file),
		); err != nil {
			t.Fatal(err)
		}
	}
	writeToken(first)
	p := run(t, kubeconfigOf(t, server, &api.AuthInfo{TokenFile: file}))
	p.waitForContent("/api/v1/snapshot/core/v1/pods", `"state":"live"`)

	writeToken(c.token(t, nil))
	if err := secrets.Delete(t.Context(), "bound", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the first token expires", func() error {
		review, err := c.AuthenticationV1().TokenReviews().Create(
			t.Context(), &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: first}},
			metav1.CreateOptions{},
		)
		if err == nil && review.Status.Authenticated {
			err = errors.New("the first token is still accepted")
		}
		return err
	})
	p.waitForContent("/api/v1/snapshot/apps/v1/deployments", `"state":"live"`)
	p.checkChangeArrives(c)
}
