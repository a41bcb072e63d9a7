package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
)

// PKI is a directory with the certificates and private keys of a demo cluster.
type PKI struct {
	dir string
}

// Cert returns the path of the certificate with a name such as "ca" or "server".
func (p PKI) Cert(name string) string { return filepath.Join(p.dir, name+".crt") }

// Key returns the path of the private key for Cert(name).
func (p PKI) Key(name string) string { return filepath.Join(p.dir, name+".key") }

// ServiceAccountKey returns the path of the key that signs and verifies service account tokens.
func (p PKI) ServiceAccountKey() string { return p.Key("service-account") }

// EnsurePKI creates the PKI in dir, unless a previous call has completed it. The last step creates the file "complete".
func EnsurePKI(dir string) (PKI, error) {
	pki := PKI{dir: dir}
	const complete = "complete"
	if _, err := os.Stat(filepath.Join(dir, complete)); err == nil {
		return pki, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return pki, fmt.Errorf("create certificates: %w", err)
	}
	if err := pki.write(); err != nil {
		return pki, fmt.Errorf("create certificates: %w", err)
	}
	if err := WriteFile(filepath.Join(dir, complete), nil); err != nil {
		return pki, fmt.Errorf("create certificates: %w", err)
	}
	return pki, nil
}

func (p PKI) write() error {
	main, files, err := newAuthority("demo")
	if err != nil {
		return err
	}
	front, frontFiles, err := newAuthority("demo-front-proxy")
	if err != nil {
		return err
	}
	pairs := map[string]pair{"ca": files, "front-proxy-ca": frontFiles}
	for name, signed := range map[string]struct {
		by     *authority
		common string
	}{
		"server":             {by: main, common: "localhost"},
		"etcd-client":        {by: main, common: "etcd-client"},
		"kubelet-client":     {by: main, common: "kube-apiserver-kubelet-client"},
		"front-proxy-client": {by: front, common: "front-proxy-client"},
	} {
		if pairs[name], err = signed.by.loopback(signed.common); err != nil {
			return err
		}
	}
	for name, files := range pairs {
		if err := WriteFile(p.Cert(name), files.cert); err != nil {
			return err
		}
		if err := WriteFile(p.Key(name), files.key); err != nil {
			return err
		}
	}
	return p.writeServiceAccountKey()
}

func (p PKI) writeServiceAccountKey() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("create a key: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode a key: %w", err)
	}
	return WriteFile(p.ServiceAccountKey(), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
}
