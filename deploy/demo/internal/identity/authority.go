// Package identity creates the certificates, tokens and kubeconfigs of the demo cluster. It reuses existing ones
// after a restart.
package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

const validYears = 10

type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

type pair struct {
	cert, key []byte
}

func newAuthority(name string) (*authority, pair, error) {
	template, err := template(name)
	if err != nil {
		return nil, pair{}, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage |= x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, pair{}, fmt.Errorf("create a key: %w", err)
	}
	created := &authority{cert: template, key: key}
	files, err := created.sign(template, key)
	if err != nil {
		return nil, pair{}, err
	}
	return created, files, nil
}

func (a *authority) loopback(name string) (pair, error) {
	template, err := template(name)
	if err != nil {
		return pair{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback, net.IPv4(10, 96, 0, 1)}
	template.DNSNames = []string{
		"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
		"kubernetes.default.svc.cluster.local",
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, fmt.Errorf("create a key: %w", err)
	}
	return a.sign(template, key)
}

func (a *authority) sign(template *x509.Certificate, key *ecdsa.PrivateKey) (pair, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return pair{}, fmt.Errorf("sign %s: %w", template.Subject.CommonName, err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return pair{}, fmt.Errorf("encode key of %s: %w", template.Subject.CommonName, err)
	}
	return pair{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}),
	}, nil
}

func template(name string) (*x509.Certificate, error) {
	const bits = 120
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), bits))
	if err != nil {
		return nil, fmt.Errorf("create a serial number: %w", err)
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour), // the clock of a virtual machine can be set back
		NotAfter:     time.Now().AddDate(validYears, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}, nil
}
