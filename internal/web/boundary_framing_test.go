package web_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/web"
)

// rawResponses sends text to addr. It returns the status codes of all responses, and the body of the first one. ok is
// true if the server has closed the connection.
func rawResponses(t *testing.T, addr, text string) (codes []int, first string, ok bool) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	for reader := bufio.NewReader(conn); ; {
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			var timeout net.Error
			return codes, first, !errors.As(err, &timeout) || !timeout.Timeout()
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close() // The body was read to its end.
		if codes = append(codes, response.StatusCode); len(codes) == 1 {
			first = string(body)
		}
	}
}

// If the body length is ambiguous, the server does not read the following bytes as a second request.
func TestAmbiguousBodyLengthIsRefused(t *testing.T) {
	s := startSite(t, nil)
	next := "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for _, test := range []struct {
		name, method, version string
		headers, body         string
		status                int
		title                 string // The title of the problem document; empty if net/http refuses the request.
	}{
		{
			"both", "POST", "1.1", "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n", 411,
			"Length required",
		},
		{
			"both, in reverse order", "POST", "1.1", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
			"0\r\n\r\n", 411, "Length required",
		},
		{
			"both, with GET", "GET", "1.1", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n", 411,
			"Length required",
		},
		{
			"only chunked", "POST", "1.1", "Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n", 411,
			"Length required",
		},
		{
			"chunked, in upper case", "POST", "1.1", "TRANSFER-ENCODING: CHUNKED\r\n", "0\r\n\r\n", 411,
			"Length required",
		},
		{
			"chunked on a folded line", "POST", "1.1", "Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n",
			"0\r\n\r\n", 411, "Length required",
		},
		{
			"chunked with Expect: 100-continue", "POST", "1.1", "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n",
			"0\r\n\r\n", 411, "Length required",
		},
		{
			"two encodings", "POST", "1.1", "Transfer-Encoding: chunked, identity\r\nContent-Length: 5\r\n",
			"0\r\n\r\n", 501, "",
		},
		{
			"two Transfer-Encoding lines", "POST", "1.1", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
			"0\r\n\r\n",
			501, "",
		},
		{
			"same line twice", "POST", "1.1", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
			"0\r\n\r\n", 501, "",
		},
		{"identity", "POST", "1.1", "Transfer-Encoding: identity\r\nContent-Length: 2\r\n", "{}", 501, ""},
		{
			"encoding with a control character", "POST", "1.1", "Transfer-Encoding: \x0bchunked\r\n", "0\r\n\r\n",
			400, "",
		},
		{"space before the colon", "POST", "1.1", "Transfer-Encoding : chunked\r\n", "0\r\n\r\n", 400, ""},
		{"two lengths", "POST", "1.1", "Content-Length: 2\r\nContent-Length: 3\r\n", "{}", 400, ""},
		{"list of lengths", "POST", "1.1", "Content-Length: 2, 2\r\n", "{}", 400, ""},
		{"length with a sign", "POST", "1.1", "Content-Length: +2\r\n", "{}", 400, ""},
		// net/http ignores Transfer-Encoding in HTTP/1.0. The server therefore accepts these requests as requests
		// without a body.
		{"HTTP/1.0", "GET", "1.0", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n", 200, ""},
		{
			"HTTP/1.0 with keep-alive", "GET", "1.0", "Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n", "", 200,
			"",
		},
		{
			"HTTP/1.0 with both", "GET", "1.0",
			"Content-Length: 0\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n", "", 200, "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			request := test.method + " /healthz HTTP/" + test.version + "\r\nHost: localhost\r\n" +
				test.headers + "\r\n" + test.body + next
			codes, body, closed := rawResponses(t, s.addr, request)
			if len(codes) != 1 || codes[0] != test.status || !closed {
				t.Errorf("got status codes %v, connection closed: %t; want only %d: %s", codes, closed, test.status, body)
			}
			if test.title != "" && !strings.Contains(body, `"title":"`+test.title+`"`) {
				t.Errorf("got response %s, want the title %s", body, test.title)
			}
		})
	}
	codes, _, closed := rawResponses(t, s.addr,
		strings.Replace(next, "\r\n\r\n", "\r\nContent-Length: 0\r\n\r\n", 1)+
			strings.Replace(next, "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1))
	if len(codes) != 2 || codes[0] != 200 || codes[1] != 200 || !closed {
		t.Errorf("two requests with valid lengths: got status codes %v, want 200 twice", codes)
	}
}

// The request target "*" (OPTIONS *) is refused on the listeners for pages and for metrics.
func TestAsteriskRequestTargetIsRefused(t *testing.T) {
	s := startSite(t, nil)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	server := newServerWithoutCluster(t, web.Options{})
	go func() { ended <- server.RunMetrics(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	for _, addr := range []string{s.addr, listener.Addr().String()} {
		for _, test := range []struct {
			host, title string
			status      int
		}{{"localhost", "Invalid path", 400}, {"evil.test", "Host not allowed", 403}} {
			t.Run(test.host, func(t *testing.T) {
				for _, method := range []string{"OPTIONS", "GET"} {
					codes, body, closed := rawResponses(t, addr, method+" * HTTP/1.1\r\nHost: "+test.host+"\r\n\r\n")
					if len(codes) != 1 || codes[0] != test.status || !closed ||
						!strings.Contains(body, `"title":"`+test.title+`"`) {
						t.Errorf("%s * with Host %s: got status codes %v, connection closed: %t, response %s",
							method, test.host, codes, closed, body)
					}
				}
			})
		}
	}
}
