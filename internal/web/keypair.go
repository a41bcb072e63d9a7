package web

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"
)

// lookEvery is how often the files of a KeyPair are looked at, at most.
const lookEvery = time.Second

// A KeyPair is the certificate, with its key, that a server shows. It follows
// its files: who connects after they have changed is shown the new one. While
// they make none, as between the writing of the one and of the other, the one
// before stays. It may be used by many goroutines.
type KeyPair struct {
	cert, key string
	log       *slog.Logger
	looked    atomic.Int64 // When, in Unix nanoseconds. Who sets it looks.
	current   atomic.Pointer[readPair]
}

// readPair is what the files gave, and which they were.
type readPair struct {
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
	k.looked.Store(time.Now().UnixNano())
	k.current.Store(&readPair{certificate, files})
	return k, nil
}

// config is that of a listener. Strict-Transport-Security is nobody's to set
// here: it would bind all ports of the name, as that of localhost.
func (k *KeyPair) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: k.certificate}
}

// certificate is the one to show now. One connection at a time looks whether
// there is another; those beside it are shown what there was.
func (k *KeyPair) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	now, looked := time.Now().UnixNano(), k.looked.Load()
	if now-looked >= int64(lookEvery) && k.looked.CompareAndSwap(looked, now) {
		k.renew()
	}
	return k.current.Load().certificate, nil
}

// renew reads the files again if they are others. Files that make no pair are
// told once.
func (k *KeyPair) renew() {
	last := k.current.Load()
	files, err := k.stat()
	if err == nil && same(files[0], last.files[0]) && same(files[1], last.files[1]) {
		return
	}
	if err != nil {
		if last.files != [2]os.FileInfo{} {
			k.log.Error("the certificate stays as it was", "error", err)
		}
		k.current.Store(&readPair{last.certificate, [2]os.FileInfo{}})
		return
	}
	certificate, err := k.read()
	if err != nil {
		k.log.Error("the certificate stays as it was", "error", err)
		k.current.Store(&readPair{last.certificate, files})
		return
	}
	k.log.Info("the certificate was read again", "until", certificate.Leaf.NotAfter)
	k.current.Store(&readPair{certificate, files})
}

// stat looks at the files before they are read: what is written later makes
// them others.
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

// same reports whether nothing was written between the two looks. A Secret's
// volume puts other files in the place of the old ones.
func same(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}
