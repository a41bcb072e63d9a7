package identity_test

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/identity"
)

func TestEnsureTokensKeepsExistingTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.csv")
	first, err := identity.EnsureTokens(path, identity.Users()[:2])
	if err != nil {
		t.Fatal(err)
	}
	second, err := identity.EnsureTokens(path, identity.Users())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for user, token := range second {
		if other := seen[token]; other != "" || len(token) < 26 {
			t.Errorf("token of %s is too short or equals that of %q", user, other)
		}
		seen[token] = user
		if before, ok := first[user]; ok && before != token {
			t.Errorf("token of %s changed", user)
		}
	}
	if want := len(identity.Users()); len(second) != want {
		t.Errorf("got tokens of %d users, want %d", len(second), want)
	}
	checkOwnerOnly(t, path)
}

func TestKubeconfigChecksServer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	want := identity.Kubeconfig{
		Context:   "demo",
		Server:    "https://127.0.0.1:6443",
		CA:        []byte("CA"),
		User:      "limited",
		Token:     "T",
		Namespace: "shop",
	}
	if err := want.Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	if got.Insecure || string(got.CAData) != "CA" || got.Host != want.Server || got.BearerToken != "T" {
		t.Errorf("configuration is %+v", got)
	}
	checkOwnerOnly(t, path)
}

func TestPKIVerifiesServerAndIsKept(t *testing.T) {
	dir := t.TempDir()
	pki, err := identity.EnsurePKI(dir)
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(pki.Cert("ca"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	pair, err := tls.LoadX509KeyPair(pki.Cert("server"), pki.Key("server"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"localhost", "127.0.0.1", "kubernetes.default.svc"} {
		t.Run(name, func(t *testing.T) {
			if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name}); err != nil {
				t.Errorf("verify the certificate: %v", err)
			}
		})
	}
	checkOwnerOnly(t, pki.Key("ca"))

	if _, err := identity.EnsurePKI(dir); err != nil {
		t.Fatal(err)
	}
	if unchanged, _ := os.ReadFile(pki.Cert("ca")); string(unchanged) != string(ca) {
		t.Error("the CA certificate was created again")
	}
}

func checkOwnerOnly(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode of %s: got %o, want 600", filepath.Base(path), got)
	}
}
