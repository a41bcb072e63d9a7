package listen

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"
)

// statInterval is the minimum time between two checks of the certificate and key files for changes.
const statInterval = time.Second

// A KeyPair is the TLS certificate and key of a server. It reads changed files again. While the certificate
// and the key do not match, the previous pair stays in use. A KeyPair is safe for concurrent use.
type KeyPair struct {
	cert, key string
	log       *slog.Logger
	// Time of the last check of the files, in Unix nanoseconds.
	checkedAt atomic.Int64
	current   atomic.Pointer[loadedPair]
}

// loadedPair is a certificate with the os.FileInfo of its two files when they were read.
type loadedPair struct {
	certificate *tls.Certificate
	files       [2]os.FileInfo
}

// NewKeyPair reads a certificate and its private key from two PEM files.
func NewKeyPair(cert, key string, log *slog.Logger) (*KeyPair, error) {
	k := &KeyPair{cert: cert, key: key, log: log}
	files, err := k.stat()
	if err != nil {
		return nil, err
	}
	certificate, err := k.read()
	if err != nil {
		return nil, err
	}
	k.checkedAt.Store(time.Now().UnixNano())
	k.current.Store(&loadedPair{certificate, files})
	return k, nil
}

// TLSConfig returns the TLS configuration of a listener. The server does not send the header
// Strict-Transport-Security, because browsers would apply this header to all ports of the host.
func (k *KeyPair) TLSConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: k.certificate}
}

// certificate implements tls.Config.GetCertificate. While one connection checks the files, other connections get the
// previous certificate.
func (k *KeyPair) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	now, checkedAt := time.Now().UnixNano(), k.checkedAt.Load()
	if now-checkedAt >= int64(statInterval) && k.checkedAt.CompareAndSwap(checkedAt, now) {
		k.reload()
	}
	return k.current.Load().certificate, nil
}

// reload reads changed files. If it cannot use them, it logs this once, and not again until the files change.
func (k *KeyPair) reload() {
	last := k.current.Load()
	files, err := k.stat()
	if err == nil && isSameFile(files[0], last.files[0]) && isSameFile(files[1], last.files[1]) {
		return
	}
	if err != nil {
		if last.files != [2]os.FileInfo{} {
			k.log.Error("the TLS certificate was not reloaded; the previous certificate stays in use", "error", err)
		}
		k.current.Store(&loadedPair{last.certificate, [2]os.FileInfo{}})
		return
	}
	certificate, err := k.read()
	if err != nil {
		k.log.Error("the TLS certificate was not reloaded; the previous certificate stays in use", "error", err)
		k.current.Store(&loadedPair{last.certificate, files})
		return
	}
	k.log.Info("the TLS certificate was reloaded", "valid_until", certificate.Leaf.NotAfter)
	k.current.Store(&loadedPair{certificate, files})
}

// stat returns the os.FileInfo of the two files. Call it before the method read, so that a later check detects a change
// that happens during read.
func (k *KeyPair) stat() (files [2]os.FileInfo, err error) {
	for i, name := range []string{k.cert, k.key} {
		if files[i], err = os.Stat(name); err != nil {
			return [2]os.FileInfo{}, fmt.Errorf("read the TLS certificate and key: %w", err)
		}
	}
	return files, nil
}

func (k *KeyPair) read() (*tls.Certificate, error) {
	certificate, err := tls.LoadX509KeyPair(k.cert, k.key)
	if err != nil {
		return nil, fmt.Errorf("read the TLS certificate %s and its key %s: %w", k.cert, k.key, err)
	}
	return &certificate, nil
}

// isSameFile compares identity (inode), time and size. The identity is necessary, because the kubelet replaces the
// files of a mounted Secret by new files.
func isSameFile(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}
