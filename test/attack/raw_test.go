package attack

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// request is an HTTP/1.1 request that can be invalid. It is sent unchanged, except that a missing Host header is added.
type request struct {
	method, path string
	headers      []string // Lines of the form "Name: value".
	body         string
}

func get(path string, headers ...string) request {
	return request{method: http.MethodGet, path: path, headers: headers}
}

func (r *request) text(host string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s HTTP/1.1\r\n", r.method, r.path)
	if !r.has("host") {
		fmt.Fprintf(&out, "Host: %s\r\n", host)
	}
	for _, header := range r.headers {
		out.WriteString(header + "\r\n")
	}
	out.WriteString("\r\n" + r.body)
	return out.String()
}

func (r *request) has(name string) bool {
	for _, header := range r.headers {
		if strings.HasPrefix(strings.ToLower(header), name+":") {
			return true
		}
	}
	return false
}

type response struct {
	status int
	header http.Header
	body   string
}

const smallBuffer = 4 << 10

// dial connects from a loopback address. The parameter receiveBuffer is in bytes; for 0, the kernel chooses.
func dial(ctx context.Context, from, to string, receiveBuffer int) (net.Conn, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
	dialer.Control = func(_, _ string, raw syscall.RawConn) error {
		var optionErr error
		err := raw.Control(func(fd uintptr) {
			if receiveBuffer > 0 {
				optionErr = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, receiveBuffer)
			}
		})
		return errors.Join(err, optionErr)
	}
	return dialer.DialContext(ctx, "tcp", to)
}

func send(ctx context.Context, from, to string, r request, receiveBuffer int) (net.Conn, error) {
	conn, err := dial(ctx, from, to, receiveBuffer)
	if err != nil {
		return nil, err
	}
	_ = conn.SetWriteDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, r.text(to)); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func exchange(ctx context.Context, from, to string, r request) (*response, error) {
	r.headers = append([]string{"Connection: close"}, r.headers...)
	conn, err := send(ctx, from, to, r, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	httpResponse, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: r.method})
	if err != nil {
		return nil, fmt.Errorf("%s %.100s: %w", r.method, r.path, err)
	}
	defer func() { _ = httpResponse.Body.Close() }()
	body, err := io.ReadAll(httpResponse.Body)
	return &response{status: httpResponse.StatusCode, header: httpResponse.Header, body: string(body)}, err
}

func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
