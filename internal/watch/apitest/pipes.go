package apitest

import (
	"context"
	"net"
	"slices"
	"sync"
)

// pipes is a listener for connections in memory.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
	close    func()

	mu   sync.Mutex
	open []net.Conn
}

func newPipes() *pipes {
	p := &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
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

// cut closes every connection.
func (p *pipes) cut() {
	p.mu.Lock()
	open := slices.Clone(p.open)
	p.open = nil
	p.mu.Unlock()
	for _, conn := range open {
		_ = conn.Close()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.accepted:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.close(); return nil }

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "pipe"} }
