package apitest

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"sync"
)

type pipeListener struct {
	accepted chan net.Conn
	closed   chan struct{}
	close    func()

	mu   sync.Mutex
	open []net.Conn
	cert func() *tls.Certificate // returns the server certificate; nil for no TLS
}

func newPipeListener() *pipeListener {
	p := &pipeListener{accepted: make(chan net.Conn), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

func (p *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.accepted <- far:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.open = append(p.open, far)
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipeListener) closeAll() {
	p.mu.Lock()
	open := slices.Clone(p.open)
	p.open = nil
	p.mu.Unlock()
	for _, conn := range open {
		_ = conn.Close()
	}
}

func (p *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-p.accepted:
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.cert == nil {
			return conn, nil
		}
		return tls.Server(
			newBufferedConn(conn),
			&tls.Config{
				MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"},
				Certificates: []tls.Certificate{*p.cert()},
			},
		), nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipeListener) Close() error { p.close(); return nil }

func (p *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "pipe"} }

// bufferedConn is a connection that buffers each write until the peer reads it. Without a buffer, both sides of a
// refused TLS handshake would wait for each other.
type bufferedConn struct {
	net.Conn

	parts  chan []byte
	closed chan struct{}
	close  func() error
}

func newBufferedConn(conn net.Conn) *bufferedConn {
	o := &bufferedConn{Conn: conn, parts: make(chan []byte, 100), closed: make(chan struct{})}
	o.close = sync.OnceValue(func() error { close(o.closed); return conn.Close() })
	go o.send()
	return o
}

func (b *bufferedConn) send() {
	for {
		select {
		case part := <-b.parts:
			if _, err := b.Conn.Write(part); err != nil {
				_ = b.close()
				return
			}
		case <-b.closed:
			return
		}
	}
}

func (b *bufferedConn) Write(p []byte) (int, error) {
	select {
	case b.parts <- slices.Clone(p):
		return len(p), nil
	case <-b.closed:
		return 0, net.ErrClosed
	}
}

func (b *bufferedConn) Close() error { return b.close() }
