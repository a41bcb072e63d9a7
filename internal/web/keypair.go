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

// A KeyPair is the certificate and the key of a server. It reads both files again when they change, and new
// connections then get the new certificate. The previous certificate stays in use while the files do not form a pair,
// for example between the writes of the two files. A KeyPair is safe for concurrent use.
type KeyPair struct {
	cert, key string
	log       *slog.Logger
	// checkedAt is the time of the last check of the files, in Unix nanoseconds. The goroutine that sets it does the
	// check.
	checkedAt atomic.Int64
	current   atomic.Pointer[loadedPair]
}

// loadedPair is a certificate that was read from files, with the file infos by which a later change of the files is
// noticed.
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

// config returns the TLS configuration of a listener. The program does not set the header Strict-Transport-Security.
// Browsers would apply the header to all ports of the host name, such as those of other servers on localhost.
func (k *KeyPair) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: k.certificate}
}

// certificate returns the current certificate. Only one connection at a time checks the files for changes. Other
// connections use the certificate that was read last.
func (k *KeyPair) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	now, checkedAt := time.Now().UnixNano(), k.checkedAt.Load()
	if now-checkedAt >= int64(statInterval) && k.checkedAt.CompareAndSwap(checkedAt, now) {
		k.reload()
	}
	return k.current.Load().certificate, nil
}

// reload reads the files again if they have changed. If the new files are not a valid pair, reload logs that only
// once.
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

// stat returns the file infos of the certificate and the key. Call stat before reading the files, so that a write
// during the read is noticed as a change later.
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

// isSameFile reports whether a file is unchanged between two checks. It also compares the identity of the file,
// because the kubelet replaces the files in the volume of a Secret by new files.
func isSameFile(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}
