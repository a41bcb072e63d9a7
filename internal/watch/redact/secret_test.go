package redact_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/redact"
)

func harmless() map[string]string {
	return map[string]string{
		"kubernetes.io/service-account.name": "builder",
		"kubernetes.io/service-account.uid":  "0b7b2a0d-8f4e-4c0a-9d0a-0c5c1f3d7a11",
		"cert-manager.io/certificate-name":   "shop-tls",
		"cert-manager.io/issuer-name":        "letsencrypt",
		"cert-manager.io/issuer-kind":        "ClusterIssuer",
		"cert-manager.io/issuer-group":       "cert-manager.io",
		"cert-manager.io/common-name":        "*.example.com",
		"cert-manager.io/alt-names": strings.Repeat("a-long-name.example.com,", 40) +
			"*.example.com",
		"cert-manager.io/ip-sans":                                 "10.0.0.1,fe80::1",
		"cert-manager.io/uri-sans":                                "spiffe://cluster.local/ns/shop/sa/web",
		"meta.helm.sh/release-name":                               "shop",
		"meta.helm.sh/release-namespace":                          "shop",
		"helm.sh/resource-policy":                                 "keep",
		"argocd.argoproj.io/tracking-id":                          "shop:/Secret:shop/web",
		"argocd.argoproj.io/sync-wave":                            "-1",
		"sealedsecrets.bitnami.com/managed":                       "true",
		"sealedsecrets.bitnami.com/cluster-wide":                  "true",
		"sealedsecrets.bitnami.com/namespace-wide":                "true",
		"reloader.stakater.com/match":                             "true",
		"reflector.v1.k8s.emberstack.com/reflection-allowed":      "true",
		"reflector.v1.k8s.emberstack.com/reflection-auto-enabled": "false",
		"reflector.v1.k8s.emberstack.com/reflects":                "shop/web",
	}
}

func secretOf(t *testing.T, r *redact.Redactor, annotations any) map[string]any {
	t.Helper()
	in, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": "u", "annotations": annotations}})
	if err != nil {
		t.Fatal(err)
	}
	clean, err := r.Object(nil, in)
	if err != nil {
		t.Fatal(err)
	}
	var o struct {
		Metadata struct{ Annotations map[string]any }
	}
	if err := json.Unmarshal(clean.Text, &o); err != nil {
		t.Fatal(err)
	}
	return o.Metadata.Annotations
}

// Invariant: I15.
func TestSecretsKeepHarmlessAnnotations(t *testing.T) {
	got := secretOf(t, redact.New(nil, "", "secrets"), harmless())
	for key, value := range harmless() {
		if got[key] != value {
			t.Errorf("%s: got %v, want %s", key, got[key], value)
		}
	}
}

func TestHarmlessAnnotationsAreDocumented(t *testing.T) {
	reference, err := os.ReadFile("../../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	for key := range harmless() {
		if !strings.Contains(string(reference), "`"+key+"`") {
			t.Errorf("docs/reference.md does not list the annotation %s", key)
		}
	}
}

// Invariant: I15.
func TestAnnotationsOfSecretsAreMasked(t *testing.T) {
	values := maps.Clone(copiesOf(t))
	for n, text := range plainTexts() {
		values[fmt.Sprint("plain ", n)] = text
	}
	for name, text := range values {
		if got := secretOf(
			t, redact.New(nil, "", "secrets"), map[string]string{"example.com/a": text},
		); got["example.com/a"] != "(masked)" {
			t.Errorf("%s: want a mask, got %v", name, got)
		}
	}
	encodedCopies := maps.Clone(copiesOf(t))
	encodedCopies["a password"] = "c4n4ry and more"
	encodedCopies["a long word"] = strings.Repeat("c4n4ry", 11)
	encodedCopies["long dotted name"] = strings.Repeat("c4n4ry.", 200)
	encodedCopies["base64 with a final newline"] = "YzRuNHJ5Cg=="
	for name, text := range encodedCopies {
		for key := range harmless() {
			if got := secretOf(
				t, redact.New(nil, "", "secrets"), map[string]string{key: text},
			); got[key] != "(masked)" {
				t.Errorf("%s in %s: want a mask, got %v", name, key, got)
			}
		}
	}
	for key := range harmless() {
		for _, value := range []any{[]string{"c4n4ry"}, map[string]string{"a": "c4n4ry"}, 7, true} {
			if got := secretOf(t, redact.New(nil, "", "secrets"), map[string]any{key: value}); got[key] != "(masked)" {
				t.Errorf("value %v in %s: want a mask, got %v", value, key, got)
			}
		}
	}
}

// The mask of an annotation counts the changes of its value. Guests (viewers of share links) do not see the count.
// Invariant: I16.
func TestAnnotationsOfSecretsShowChanges(t *testing.T) {
	r := redact.New(nil, "", "secrets")
	for _, step := range [][2]string{
		{"A", "(masked)"}, {"A", "(masked)"}, {"B", "(masked, change 1)"}, {"A", "(masked, change 2)"},
	} {
		if got := secretOf(t, r, map[string]string{"example.com/a": step[0]}); got["example.com/a"] != step[1] {
			t.Errorf("%s: got %v, want %s", step[0], got, step[1])
		}
	}
	text, err := redact.NewGuestMask("", "secrets").Object(
		nil, []byte(`{"metadata":{"annotations":{"a":"(masked, change 2)","helm.sh/resource-policy":"keep"}}}`),
	)
	if want := `{"metadata":{"annotations":{"a":"(masked)","helm.sh/resource-policy":"keep"}}}`; err != nil ||
		string(text) != want {
		t.Errorf("guest mask: got %s, error %v", text, err)
	}
}
