package web_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/internal/web"
	"github.com/glasshouse-project/glasshouse/internal/web/listen"
)

// newCertificate returns a self-signed certificate for loopback addresses and its private key, in PEM.
func newCertificate(t *testing.T, name string) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-time.Hour),
		NotAfter: now.Add(time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{
		Type: "PRIVATE KEY", Bytes: text,
	})
}

// secretVolume is a folder like a mounted Secret volume. An update replaces the symbolic link to its data folder.
type secretVolume struct {
	t      *testing.T
	folder string
	number int
}

func newSecretVolume(t *testing.T, name string) *secretVolume {
	t.Helper()
	s := &secretVolume{t: t, folder: t.TempDir()}
	cert, key := newCertificate(t, name)
	s.put(cert, key)
	for _, file := range []string{"tls.crt", "tls.key"} {
		if err := os.Symlink(filepath.Join("..data", file), filepath.Join(s.folder, file)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *secretVolume) put(cert, key []byte) {
	s.t.Helper()
	s.number++
	folder := strings.Repeat("x", s.number)
	next := filepath.Join(s.folder, "next")
	if err := errors.Join(
		os.Mkdir(filepath.Join(s.folder, folder), 0o700),
		os.WriteFile(filepath.Join(s.folder, folder, "tls.crt"), cert, 0o600),
		os.WriteFile(filepath.Join(s.folder, folder, "tls.key"), key, 0o600),
		os.Symlink(folder, next),
		os.Rename(next, filepath.Join(s.folder, "..data")),
	); err != nil {
		s.t.Fatal(err)
	}
}

func (s *secretVolume) cert() string { return filepath.Join(s.folder, "tls.crt") }
func (s *secretVolume) key() string  { return filepath.Join(s.folder, "tls.key") }

// New connections use a renewed certificate within 1 s. A mismatched pair is logged once, and not used.
//
// Invariant: I26.
func TestKeyPairReloadsChangedFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSecretVolume(t, "first")
		var log strings.Builder
		keys, err := listen.NewKeyPair(s.cert(), s.key(), slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		wantCertificate := func(want string, errorCount int) {
			t.Helper()
			certificate, err := keys.TLSConfig().GetCertificate(nil)
			if err != nil || certificate.Leaf.Subject.CommonName != want {
				t.Errorf("got certificate %+v, error %v; want %s", certificate.Leaf.Subject, err, want)
			}
			if n := strings.Count(log.String(), "level=ERROR"); n != errorCount {
				t.Errorf("%d errors were logged, want %d: %s", n, errorCount, log.String())
			}
		}
		second, secondKey := newCertificate(t, "second")
		s.put(second, secondKey)
		wantCertificate("first", 0) // Still the first: the server checks the files once per second.
		<-time.After(time.Second)
		wantCertificate("second", 0)

		_, other := newCertificate(t, "other")
		s.put(second, other) // The key does not belong to the certificate.
		<-time.After(time.Second)
		wantCertificate("second", 1)
		<-time.After(time.Minute)
		wantCertificate("second", 1)
		s.put([]byte("no PEM"), other)
		<-time.After(time.Second)
		wantCertificate("second", 2)
		if err := os.Remove(filepath.Join(s.folder, "..data")); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second)
		wantCertificate("second", 3)
		<-time.After(time.Second)
		wantCertificate("second", 3)
		third, thirdKey := newCertificate(t, "third")
		s.put(third, thirdKey)
		<-time.After(time.Second)
		wantCertificate("third", 3)
		if strings.Contains(log.String(), "PRIVATE") {
			t.Errorf("the log contains the key: %s", log.String())
		}
		// From here on, overwrite the files themselves, and do not replace the symbolic link.
		fourth, fourthKey := newCertificate(t, "the fourth")
		if err := errors.Join(
			os.WriteFile(s.cert(), fourth, 0o600), os.WriteFile(s.key(), fourthKey, 0o600),
		); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second)
		wantCertificate("the fourth", 3)
	})
}

func TestNewKeyPairRejectsInvalidFiles(t *testing.T) {
	s := newSecretVolume(t, "first")
	_, other := newCertificate(t, "other")
	otherKey := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(otherKey, other, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ cert, key, want string }{
		{"/none", s.key(), "read the TLS certificate and key: stat /none"},
		{s.cert(), otherKey, "private key does not match public key"},
		{s.key(), s.cert(), "read the TLS certificate " + s.key()},
	} {
		t.Run(test.want, func(t *testing.T) {
			if _, err := listen.NewKeyPair(test.cert, test.key, slog.New(slog.DiscardHandler)); err == nil ||
				!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "PRIVATE") {
				t.Errorf("NewKeyPair(%s, %s): got error %v, want %s", test.cert, test.key, err, test.want)
			}
		})
	}
}

// Over TLS, pages use HTTP/2, WebSockets use HTTP/1.1, and the server accepts only its own https origin.
//
// Invariant: I26.
func TestServesOverTLS(t *testing.T) {
	t.Parallel()
	secret := newSecretVolume(t, "first")
	keys, err := listen.NewKeyPair(secret.cert(), secret.key(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := startSiteWith(t, web.Options{KeyPair: keys})
	get := func(protocols []string, version uint16, headers ...string) (*http.Response, error) {
		// The client does not trust self-signed certificates, so skip the verification. The test only compares
		// certificates.
		transport := &http.Transport{
			TLSClientConfig: &tls.Config{
				InsecureSkipVerify: true, //nolint:gosec // The test checks the certificate itself.
				NextProtos:         protocols, MaxVersion: version,
			},
			ForceAttemptHTTP2: len(protocols) > 1, DisableKeepAlives: true,
		}
		defer transport.CloseIdleConnections()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+s.addr+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		response, err := transport.RoundTrip(r)
		if err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close() // The body was read to its end.
		}
		return response, err
	}
	both := []string{"h2", "http/1.1"}
	for _, test := range []struct {
		protocols []string
		want      string
		origin    string
		status    int
	}{
		{both, "HTTP/2.0", "", 200},
		{[]string{"http/1.1"}, "HTTP/1.1", "", 200},
		{both, "HTTP/2.0", "https://" + s.addr, 200},
		{both, "HTTP/2.0", "http://" + s.addr, 403},
		{both, "HTTP/2.0", "https://evil.test", 403},
	} {
		t.Run(fmt.Sprintf("%s from %q", test.protocols, test.origin), func(t *testing.T) {
			var headers []string
			if test.origin != "" {
				headers = []string{"Origin", test.origin}
			}
			response, err := get(test.protocols, 0, headers...)
			if err != nil {
				t.Fatal(err)
			}
			if response.Proto != test.want || response.StatusCode != test.status ||
				response.TLS.PeerCertificates[0].Subject.CommonName != "first" {
				t.Errorf("protocols %v, origin %q: got %s and %d, want %s and %d", test.protocols, test.origin, response.Proto,
					response.StatusCode, test.want, test.status)
			}
			if hsts := response.Header.Get("Strict-Transport-Security"); hsts != "" {
				t.Errorf("Strict-Transport-Security is %q, want no header, because it applies to all ports of the host", hsts)
			}
		})
	}
	if response, err := get(both, tls.VersionTLS11); err == nil {
		t.Errorf("TLS 1.1: got status %d, want an error", response.StatusCode)
	}
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // The test checks the certificate itself.
		DisableKeepAlives: true,
	}}
	socket := livetest.OpenTab(t.Context(), t, "wss://"+s.addr, livetest.Options{
		HTTP: client, Header: http.Header{"Origin": {"https://" + s.addr}},
	})
	socket.Send(`{"op":"ping","id":1}`)
	socket.Until(1, "pong")

	secret.put(newCertificate(t, "second"))
	for began := time.Now(); ; {
		response, err := get(both, 0)
		if err != nil {
			t.Fatal(err)
		}
		if response.TLS.PeerCertificates[0].Subject.CommonName == "second" {
			break
		}
		if time.Since(began) > 30*time.Second {
			t.Fatal("the new certificate was not served within 30 s")
		}
	}

	stopped := make(chan error, 1)
	began := time.Now()
	go func() { stopped <- s.stop() }()
	if code, reason := socket.WaitForClose(); code != websocket.StatusGoingAway ||
		!strings.HasPrefix(reason, "retry after ") {
		t.Errorf("socket closed with %d %s, want 1001 and a retry delay", code, reason)
	}
	if err := <-stopped; err != nil || time.Since(began) > 10*time.Second {
		t.Errorf("server stopped with error %v after %v", err, time.Since(began))
	}
}
