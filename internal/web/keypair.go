package web

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"
)

// statInterval is the minimum time between two checks of the files of a KeyPair.
const statInterval = time.Second

// A KeyPair is the certificate and key of a server. It reads its files again when they change, and new connections then
// get the new certificate. While the files do not form a pair, for example between the two writes, the previous
// certificate stays in use. A KeyPair is safe for concurrent use.
type KeyPair struct {
	cert, key string
	log       *slog.Logger
	checkedAt atomic.Int64 // Time of the last check, in Unix nanoseconds. The goroutine that sets it does the check.
	current   atomic.Pointer[loadedPair]
}

// loadedPair is the certificate that was read, with the file infos by which a change is noticed.
type loadedPair struct {
	certificate *tls.Certificate
	files       [2]os.FileInfo
}

// NewKeyPair reads a certificate and its key, in PEM.
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

// config returns the TLS configuration of a listener. The program does not set Strict-Transport-Security, because that
// would apply to all ports of the host name, such as localhost.
func (k *KeyPair) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: k.certificate}
}

// certificate returns the current certificate. One connection at a time checks the files; the others use the last
// certificate.
func (k *KeyPair) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	now, checkedAt := time.Now().UnixNano(), k.checkedAt.Load()
	if now-checkedAt >= int64(statInterval) && k.checkedAt.CompareAndSwap(checkedAt, now) {
		k.reload()
	}
	return k.current.Load().certificate, nil
}

// reload reads the files again if they have changed. It logs an invalid pair once.
func (k *KeyPair) reload() {
	last := k.current.Load()
	files, err := k.stat()
	if err == nil && isSameFile(files[0], last.files[0]) && isSameFile(files[1], last.files[1]) {
		return
	}
	if err != nil {
		if last.files != [2]os.FileInfo{} {
			k.log.Error("the certificate was not reloaded; the previous one stays in use", "error", err)
		}
		k.current.Store(&loadedPair{last.certificate, [2]os.FileInfo{}})
		return
	}
	certificate, err := k.read()
	if err != nil {
		k.log.Error("the certificate was not reloaded; the previous one stays in use", "error", err)
		k.current.Store(&loadedPair{last.certificate, files})
		return
	}
	k.log.Info("the certificate was reloaded", "until", certificate.Leaf.NotAfter)
	k.current.Store(&loadedPair{certificate, files})
}

// stat returns the infos of both files. Callers get them before they read the files, so that a later write is noticed
// as a change.
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
		return nil, fmt.Errorf("read the TLS certificate of %s and the key of %s: %w", k.cert, k.key, err)
	}
	return &certificate, nil
}

// isSameFile reports whether a file is unchanged between two checks. It also compares the identity of the file, because the
// volume of a Secret replaces the files by others.
func isSameFile(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}
