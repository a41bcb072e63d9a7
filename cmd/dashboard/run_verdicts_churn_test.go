//go:build integration

package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// churned is a kind whose objects the type churn creates, breaks, repairs and deletes.
type churned struct {
	ref, kind string
	// body has a new object's members except metadata. The merge patch broken breaks the object, and repaired repairs
	// it.
	body, broken, repaired string
	subresource            string // The subresource that the patches change, such as "status"; empty for none.
}

const (
	certificates = "cert-manager.io/v1/certificates"      // An Argo CD script computes the verdicts.
	gadgets      = "verdicts.test.example.com/v1/gadgets" // There is no script, so kstatus computes the verdicts.

	churnedPod = `"selector":{"matchLabels":{"app":"NAME"}},"template":{"metadata":{"labels":{"app":"NAME"}},` +
		`"spec":{"containers":[{"name":"c","image":"registry.k8s.io/pause:3.10"}]}}`
	withoutMap = `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"registry.k8s.io/pause:3.10",` +
		`"envFrom":[{"configMapRef":{"name":"missing"}}]}]}}}}`
	withMap = `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"registry.k8s.io/pause:3.10"}]}}}}`
	ready   = `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"Ready",` +
		`"message":"all done","lastTransitionTime":"2026-11-21T10:00:00Z"}]}}`
	refused = `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"Refused",` +
		`"message":"the issuer refused NAME","lastTransitionTime":"2026-11-21T10:00:00Z"},` +
		`{"type":"Stalled","status":"True","reason":"Refused","message":"the issuer refused NAME",` +
		`"lastTransitionTime":"2026-11-21T10:00:00Z"}]}}`
)

// churnedKinds returns the kinds whose objects the type churn changes. In JSON texts, NAME is a placeholder for the
// name of the object.
func churnedKinds() []churned {
	const ingress = `"rules":[{"http":{"paths":[{"path":"/","pathType":"Prefix","backend":{"service":` +
		`{"name":%q,"port":{"number":80}}}}]}}]`
	return []churned{
		{certificates, "Certificate", `"spec":{}`, refused, ready, "status"},
		{gadgets, "Gadget", `"spec":{}`, refused, ready, "status"},
		{
			"core/v1/services", "Service", `"spec":{"ports":[{"port":80}],"selector":{"app":"NAME"}}`,
			`{"spec":{"selector":{"app":"none"}}}`, `{"spec":{"selector":{"app":"NAME"}}}`, "",
		},
		{"apps/v1/deployments", "Deployment", `"spec":{` + churnedPod + `}`, withoutMap, withMap, ""},
		{"apps/v1/statefulsets", "StatefulSet", `"spec":{"serviceName":"s",` + churnedPod + `}`, withoutMap, withMap, ""},
		{
			"apps/v1/daemonsets", "DaemonSet", `"spec":{` + churnedPod + `}`,
			`{"spec":{"template":{"spec":{"nodeSelector":{"x":"y"}}}}}`,
			`{"spec":{"template":{"spec":{"nodeSelector":{"x":null}}}}}`, "",
		},
		{
			"networking.k8s.io/v1/ingresses", "Ingress", `"spec":{` + fmt.Sprintf(ingress, "churn-0") + `}`,
			`{"spec":{` + fmt.Sprintf(ingress, "missing") + `}}`, `{"spec":{` + fmt.Sprintf(ingress, "churn-0") + `}}`, "",
		},
		{
			"autoscaling/v2/horizontalpodautoscalers", "HorizontalPodAutoscaler",
			`"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"NAME"}}`,
			`{"spec":{"scaleTargetRef":{"name":"missing"}}}`, `{"spec":{"scaleTargetRef":{"name":"NAME"}}}`, "",
		},
		{
			"policy/v1/poddisruptionbudgets", "PodDisruptionBudget",
			`"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"NAME"}}}`,
			`{"spec":{"minAvailable":9}}`, `{"spec":{"minAvailable":1}}`, "",
		},
		{
			"core/v1/persistentvolumeclaims", "PersistentVolumeClaim",
			`"spec":{"storageClassName":"missing","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}`,
			`{"metadata":{"labels":{"x":"y"}}}`, `{"metadata":{"labels":{"x":"z"}}}`, "",
		},
		{
			"batch/v1/jobs", "Job", `"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c",` +
				`"image":"registry.k8s.io/pause:3.10","envFrom":[{"configMapRef":{"name":"missing"}}]}]}}}`,
			`{"spec":{"suspend":true}}`, `{"spec":{"suspend":false}}`, "",
		},
		{
			"batch/v1/cronjobs", "CronJob", `"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{"template":{"spec":` +
				`{"restartPolicy":"Never","containers":[{"name":"c","image":"registry.k8s.io/pause:3.10"}]}}}}}`,
			`{"spec":{"suspend":true}}`, `{"spec":{"suspend":false}}`, "",
		},
	}
}

// churn changes objects of several kinds, so that the verdicts on these objects and on their neighbors change.
type churn struct {
	*apiClient

	namespace string
	steps     int
}

// newChurn creates the CustomResourceDefinitions of the two custom kinds.
func newChurn(t *testing.T) *churn {
	t.Helper()
	c := &churn{apiClient: newAPIClient(t, adminConfig(t))}
	for _, k := range churnedKinds() {
		gvr := resourceOf(k.ref)
		if k.subresource == "" {
			continue // A built-in kind needs no definition. Only the custom kinds have a subresource.
		}
		name := gvr.Resource + "." + gvr.Group
		definition := decode(t, fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",`+
			`"metadata":{"name":%q},"spec":{"group":%q,"scope":"Namespaced","names":{"plural":%q,"kind":%q},`+
			`"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":%s}]}}`,
			name, gvr.Group, gvr.Resource, k.kind, anySchema))
		definitions := c.dynamic.Resource(definitionsResource)
		if _, err := definitions.Create(t.Context(), definition, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := definitions.Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		})
		eventually(t, name+" is served", func() error {
			_, err := c.dynamic.Resource(gvr).List(t.Context(), metav1.ListOptions{})
			return err
		})
	}
	c.namespace = c.apiClient.namespace(t)
	return c
}

// step changes four objects of each kind: it creates one, breaks another, repairs the third, and deletes the fourth.
func (c *churn) step(ctx context.Context) error {
	for _, k := range churnedKinds() {
		for n := range 4 {
			if c.steps < n {
				continue // Step n creates object n.
			}
			if err := c.change(ctx, &k, fmt.Sprintf("churn-%d", n), (c.steps-n)%4); err != nil {
				return err
			}
		}
	}
	c.steps++
	return nil
}

func (c *churn) change(ctx context.Context, k *churned, name string, phase int) error {
	gvr := resourceOf(k.ref)
	objects := c.dynamic.Resource(gvr).Namespace(c.namespace)
	fill := func(text string) string { return strings.ReplaceAll(text, "NAME", name) }
	patch := func(text string) error {
		var subresources []string
		if k.subresource != "" {
			subresources = []string{k.subresource}
		}
		_, err := objects.Patch(ctx, name, types.MergePatchType, []byte(fill(text)), metav1.PatchOptions{},
			subresources...)
		return err
	}
	var err error
	switch phase {
	case 0:
		text := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q},%s}`,
			gvr.GroupVersion().String(), k.kind, name, fill(k.body))
		object := &unstructured.Unstructured{}
		if err = object.UnmarshalJSON([]byte(text)); err == nil {
			_, err = objects.Create(ctx, object, metav1.CreateOptions{})
		}
		if apierrors.IsAlreadyExists(err) {
			err = nil // The object still exists, because a finalizer delays its deletion.
		}
	case 1:
		err = patch(k.broken)
	case 2:
		err = patch(k.repaired)
	case 3:
		background := metav1.DeletePropagationBackground
		err = objects.Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &background})
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("%s %s, phase %d: %w", k.ref, name, phase, err)
	}
	return nil
}

func resourceOf(ref string) schema.GroupVersionResource {
	parts := strings.Split(ref, "/")
	return schema.GroupVersionResource{
		Group: strings.TrimPrefix(parts[0], "core"), Version: parts[1], Resource: parts[2],
	}
}
