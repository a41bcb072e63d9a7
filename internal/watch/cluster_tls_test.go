package watch_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	mathbig "math/big"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

func newAuthority(t *testing.T, name string) (*tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: mathbig.NewInt(1), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{
		Type: "CERTIFICATE", Bytes: der,
	})
}

func runTLSCluster(
	t *testing.T, first *tls.Certificate, authorities []byte,
) (
	server *apitest.Server, cluster *watch.Cluster, setCertificate func(*tls.Certificate), writeAuthorities func([]byte),
) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.crt")
	writeAuthorities = func(text []byte) {
		t.Helper()
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writeAuthorities(authorities)
	var cert atomic.Pointer[tls.Certificate]
	cert.Store(first)
	server = apitest.New(t, kinds()...)
	server.EnableTLS(file, cert.Load)
	server.Set(pods, pod("a", "p", "Running"))
	setCertificate = func(next *tls.Certificate) {
		cert.Store(next)
		server.Down(true) // End all connections, so that clients get the new certificate.
		server.Down(false)
	}
	return server, runCluster(t, server), setCertificate, writeAuthorities
}

// If the certificate of the API server is for another name, or from an authority that is not in the CA file, the
// program sends no requests.
// Invariant: I24.
func TestUntrustedAPIServerGetsNoRequests(t *testing.T) {
	for name, want := range map[string]string{
		"api.test":   "certificate signed by unknown authority",
		"other.test": "certificate is valid for other.test, not api.test",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cert, trusted := newAuthority(t, name)
				if name == "api.test" {
					_, trusted = newAuthority(t, name)
				}
				server, cluster, _, _ := runTLSCluster(t, cert, trusted)
				advance(time.Minute)
				_, err := cluster.For(watch.Viewer{Program: true}).Snapshot(
					t.Context(), query.Query{Resource: pods}, time.Minute,
				)
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
				if requests := server.Requests(""); len(requests) > 0 {
					t.Errorf("got requests %q, want none", requests)
				}
			})
		})
	}
}

// If the CA file is replaced, the program trusts the new authorities without a restart.
// Invariant: I24.
func TestRotatedAuthorityIsTrusted(t *testing.T) {
	for _, both := range []bool{false, true} {
		t.Run(fmt.Sprintf("both CA certificates trusted %t", both), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first, firstPEM := newAuthority(t, "api.test")
				next, nextPEM := newAuthority(t, "api.test")
				server, cluster, setCertificate, writeAuthorities := runTLSCluster(t, first, firstPEM)
				r := subscribe(t, cluster, query.Query{Resource: pods}, "")
				r.settle()
				r.wantRows("a/p=Running")
				// If the CA file has the old and the new authority before the certificate changes, there is no interruption.
				if both {
					writeAuthorities(append(firstPEM, nextPEM...))
					advance(6 * time.Minute)
				}
				setCertificate(next)
				advance(20 * time.Second)
				r.settle()
				if refused := strings.Contains(r.reason, "unknown authority"); refused == both ||
					(r.state == "live") != both {
					t.Errorf("after the change: got state %s: %s, want live: %t", r.state, r.reason, both)
				}
				writeAuthorities(nextPEM)
				advance(6 * time.Minute)
				server.Set(pods, pod("a", "p", "Failed"))
				r.settle()
				r.wantRows("a/p=Failed")
				if r.state != "live" {
					t.Errorf("got state %s: %s, want live", r.state, r.reason)
				}
			})
		})
	}
}
