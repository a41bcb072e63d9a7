package web_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

const (
	logPath  = "/api/v1/logs/a/web-0"
	upstream = "/api/v1/namespaces/a/pods/web-0/log"
)

// logs sets the log of a pod. nextQuery returns the query of the next log request to the API server.
func (b *bubble) logs(text string) (nextQuery func() url.Values) {
	queries := make(chan url.Values, 1000)
	b.api.Handle(upstream, func(w http.ResponseWriter, r *http.Request) {
		queries <- r.URL.Query()
		_, _ = io.WriteString(w, text)
	})
	return func() url.Values { return <-queries }
}

func (b *bubble) refuseLog(code int, message string) {
	b.api.Handle(upstream, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		reasons := map[int]string{400: "BadRequest", 403: "Forbidden", 404: "NotFound"}
		_, _ = io.WriteString(w, apitest.Failure(code, reasons[code], message))
	})
}

// source controls the growing log of a pod.
type source struct {
	t            *testing.T
	lines        chan string
	requestEnded chan struct{} // Closed when the server's log request has ended.
}

// source gives the pod a log, and returns its writer. The line "" ends the log normally; the line "cut" aborts it.
func (b *bubble) source() *source {
	s := &source{t: b.t, lines: make(chan string), requestEnded: make(chan struct{})}
	b.api.Handle(upstream, func(w http.ResponseWriter, r *http.Request) {
		for {
			select {
			case <-r.Context().Done():
				close(s.requestEnded)
				return
			case line := <-s.lines:
				switch line {
				case "":
					return
				case "cut":
					panic(http.ErrAbortHandler)
				}
				_, _ = io.WriteString(w, line)
				w.(http.Flusher).Flush() //nolint:errcheck,forcetypeassert // The ResponseWriter is always a Flusher.
			}
		}
	})
	return s
}

// wantRequestEnded checks whether the server's log request to the API server has ended.
func (s *source) wantRequestEnded(want bool, when string) {
	s.t.Helper()
	synctest.Wait()
	ended := false
	select {
	case <-s.requestEnded:
		ended = true
	default:
	}
	if ended != want {
		s.t.Errorf("%s: the request to the API server for the log has ended: %t, want %t", when, ended, want)
	}
}

// getStreaming sends a request for a streaming response. It returns the response, and a reader of its body.
func (b *bubble) getStreaming(ctx context.Context, path string) (*http.Response, *bufio.Reader) {
	b.t.Helper()
	transport := &http.Transport{DialContext: b.dial, DisableCompression: true}
	b.t.Cleanup(transport.CloseIdleConnections)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1"+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	// Accept compressed responses, to test that compression does not delay log lines.
	if strings.HasPrefix(path, "/api/v1/logs/") {
		request.Header.Set("Accept-Encoding", "gzip, zstd")
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		b.t.Fatalf("GET %s: %v", path, err)
	}
	b.t.Cleanup(func() { _ = response.Body.Close() })
	return response, bufio.NewReader(response.Body)
}

func (b *bubble) wantLine(r *bufio.Reader, want string) {
	b.t.Helper()
	if got, err := r.ReadString('\n'); got != want || err != nil {
		b.t.Errorf("next line: got %q, error %v, want %q", got, err, want)
	}
}

func TestLogOptionsReachTheAPIServer(t *testing.T) {
	for _, test := range []struct{ query, want string }{
		{"", "tailLines=500"},
		{"?container=app&tail=0&previous=true", "container=app&previous=true&tailLines=0"},
		{"?tail=5000&timestamps=1&follow=false", "tailLines=5000&timestamps=true"},
		{"?since=90s", "sinceSeconds=90&tailLines=500"},
		{"?since=1ms", "sinceSeconds=1&tailLines=500"},
		{"?since=2026-11-21T11:00:00%2B01:00", "sinceTime=2026-11-21T10%3A00%3A00Z&tailLines=500"},
		{"?follow=true", "follow=true&tailLines=500"},
	} {
		t.Run(cmp.Or(test.query, "no options"), func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				nextQuery := b.logs("\x1b[31mone\x1b[0m\n<b>two")
				response, body := b.getStreaming(b.t.Context(), logPath+test.query)
				text, err := io.ReadAll(body)
				if got := nextQuery().Encode(); got != test.want || err != nil || string(text) != "one\n<b>two" ||
					response.StatusCode != http.StatusOK {
					b.t.Errorf("got %d %q, error %v with the query %s, want %s", response.StatusCode, text, err, got, test.want)
				}
				for name, want := range map[string]string{
					"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff",
					"Content-Encoding": "",
				} {
					if got := response.Header.Get(name); got != want {
						b.t.Errorf("header %s is %q, want %q", name, got, want)
					}
				}
			})
		})
	}
	inBubble(t, func(b *bubble) {
		b.logs("")
		if response, body := b.getStreaming(b.t.Context(), logPath); response.StatusCode != http.StatusOK ||
			response.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			text, _ := io.ReadAll(body)
			b.t.Errorf("empty log: got %d %v %s", response.StatusCode, response.Header, text)
		}
		long := strings.Repeat("x", 200<<10) + "\nend"
		b.logs(long)
		_, body := b.getStreaming(b.t.Context(), logPath)
		if text, err := io.ReadAll(body); string(text) != long || err != nil {
			b.t.Errorf("long line: got %d bytes, error %v, want %d", len(text), err, len(long))
		}
	})
}

func TestLogProblemsAreExplained(t *testing.T) {
	containers := `"spec":{"initContainers":[{"name":"init"}],` +
		`"containers":[{"name":"app"},{"name":"proxy"}]},"status":{` +
		`"initContainerStatuses":[{"name":"init","state":{"terminated":{"reason":"Completed"}}}],` +
		`"containerStatuses":[{"name":"app","state":{"waiting":{"reason":"ImagePullBackOff"}}},` +
		`{"name":"proxy","state":{"running":{}}}]}`
	const containerList = "Containers of a/web-0: init (terminated: Completed), app (waiting: ImagePullBackOff), " +
		"proxy (running)."
	for _, test := range []struct {
		query, message string
		code           int
		status         int
		title, detail  string
	}{
		{"", `pods "web-0" is forbidden: no pods/log`, 403, 403, "Forbidden", "no pods/log"},
		{"", `pods "web-0" not found`, 404, 404, "Not found", `pods "web-0" not found`},
		{"", "a container name must be specified", 400, 400, "Container required", containerList},
		{"?container=nope", "container nope is not valid for pod web-0", 400, 404, "No such container", containerList},
		{
			"?container=app&follow=1",
			`container "app" in pod "web-0" is waiting to start: trying and failing to pull image`, 400, 503,
			"Container is waiting", "failing to pull image. " + containerList,
		},
		{
			"?container=proxy&previous=1", `previous terminated container "proxy" in pod "web-0" not found`, 400,
			404, "No log", "previous terminated container \"proxy\" in pod \"web-0\" not found. " + containerList,
		},
		{"", "the kubelet is away", 502, 503, "The API server does not respond", "a/web-0: the kubelet is away"},
		{"?tail=5001", "", 0, 400, "Invalid number of lines", "up to 5000"},
		{"?tail=-1", "", 0, 400, "Invalid number of lines", `"-1"`},
		{"?since=soon", "", 0, 400, "Invalid time", `"soon"`},
		{"?since=-1s", "", 0, 400, "Invalid time", `"-1s"`},
		{"?follow=yes", "", 0, 400, "Invalid boolean", `follow is "yes"`},
		{
			"?lines=5", "", 0, 400, "Unknown parameter",
			"the parameters are: container, follow, previous, since, tail, timestamps",
		},
		{"?tail=1&tail=2", "", 0, 400, "Repeated parameter", "tail can be set only once"},
		{"?container=..", "", 0, 400, "Invalid name", ".."},
	} {
		t.Run(strings.TrimSpace(test.query+" "+test.message), func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				b.api.Set(podsRef, apitest.Item{
					Namespace: "a", Name: "web-0", Cells: `["web-0","Running"]`, Rest: containers,
				})
				b.refuseLog(test.code, test.message)
				response, body := b.getStreaming(b.t.Context(), logPath+test.query)
				text, _ := io.ReadAll(body)
				b.wantProblem("log", httpResponse{response.StatusCode, response.Header, string(text)},
					test.status, test.title, test.detail)
			})
		})
	}
	for path, title := range map[string]string{
		"/api/v1/logs/A_B/web-0": "Invalid namespace", "/api/v1/logs/a/%2e%2e": "Invalid name",
		"/api/v1/logs/a/..%2fsecrets": "Invalid name",
	} {
		t.Run(path, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				response, body := b.getStreaming(b.t.Context(), path)
				text, _ := io.ReadAll(body)
				b.wantProblem("log", httpResponse{response.StatusCode, response.Header, string(text)}, http.StatusBadRequest,
					title, "")
			})
		})
	}
}

// A followed log is streamed line by line until the container ends, even without new lines for hours.
//
// Invariant: I28. A container log is sent line by line, as plain text. An interrupted log is not reported as complete.
// A log ends if its client stops reading, or if the user loses the permission to read the log. The page shows each line
// once. The page cuts only lines and logs that exceed a maximum size.
func TestLogIsFollowed(t *testing.T) {
	inBubble(t, func(b *bubble) {
		s := b.source()
		start := time.Now()
		response, body := b.getStreaming(b.t.Context(), logPath+"?follow=true")
		if elapsed := time.Since(start); elapsed != 2*time.Second || response.StatusCode != http.StatusOK {
			b.t.Errorf("followed empty log: got %d after %s, want 200 after 2 s", response.StatusCode, elapsed)
		}
		for n := range 3 {
			for _, line := range []string{"first\n", "\x1b[31msecond\x1b[0m\n"} {
				s.lines <- line
				start := time.Now()
				b.wantLine(body, strings.NewReplacer("\x1b[31m", "", "\x1b[0m", "").Replace(line))
				if elapsed := time.Since(start); elapsed != 0 {
					b.t.Errorf("line %q was delayed for %s, want no delay", line, elapsed)
				}
			}
			<-time.After(time.Duration(n+1) * time.Hour) // Longer than every timeout of the server.
		}
		s.lines <- "last"
		s.lines <- ""
		if rest, err := io.ReadAll(body); string(rest) != "last" || err != nil {
			b.t.Errorf("end of the log: got %q, error %v, want the last line and EOF", rest, err)
		}
	})
}

// A client can distinguish an aborted log from a complete log: it gets an unexpected EOF.
//
// Invariant: I28.
func TestAbortedLogHasUnexpectedEOF(t *testing.T) {
	inBubble(t, func(b *bubble) {
		s := b.source()
		_, body := b.getStreaming(b.t.Context(), logPath+"?follow=true")
		s.lines <- "one\n"
		b.wantLine(body, "one\n")
		s.lines <- "cut"
		if _, err := body.ReadString('\n'); !errors.Is(err, io.ErrUnexpectedEOF) {
			b.t.Errorf("interrupted log: got error %v, want io.ErrUnexpectedEOF", err)
		}
	})
}

// A followed log ends when a permission is revoked, but not when access reviews are unavailable.
//
// Invariant: I28.
func TestLogEndsWhenPermissionIsRevoked(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		t.Run(fmt.Sprintf("without new lines %t", quiet), func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				s := b.source()
				b.api.FailPath(apitest.SelfReviewsPath, http.StatusForbidden, "no reviews for you")
				ctx, cancel := context.WithCancel(b.t.Context())
				defer cancel()
				_, body := b.getStreaming(ctx, logPath+"?follow=true")
				<-time.After(time.Minute)
				b.api.FailPath(apitest.SelfReviewsPath, 0, "")
				if !quiet {
					s.lines <- "one\n"
					b.wantLine(body, "one\n")
				}
				<-time.After(time.Minute)
				s.wantRequestEnded(false, "while the permission exists")
				b.api.Revoke(podsRef, "a")
				start := time.Now()
				defer time.AfterFunc(20*time.Second, cancel).Stop() // If the log does not end, this cancel fails the test.
				if _, err := body.ReadString('\n'); !errors.Is(err, io.ErrUnexpectedEOF) {
					b.t.Errorf("log ended with error %v, want io.ErrUnexpectedEOF", err)
				}
				if took := time.Since(start); took > 15*time.Second {
					b.t.Errorf("log continued for %s after the permission was revoked, want at most 15 s", took)
				}
				s.wantRequestEnded(true, "after the permission was revoked")
			})
		})
	}
}

// Invariant: I28.
func TestLogEndsWithItsReader(t *testing.T) {
	inBubble(t, func(b *bubble) {
		for _, quiet := range []bool{false, true} {
			s := b.source()
			ctx, cancel := context.WithCancel(b.t.Context())
			_, body := b.getStreaming(ctx, logPath+"?follow=true")
			if !quiet {
				s.lines <- "one\n"
				b.wantLine(body, "one\n")
			}
			cancel()
			s.wantRequestEnded(true, "after the client disconnected")
		}
	})
}

// Invariant: I28.
func TestLogEndsWhenTheServerStops(t *testing.T) {
	inBubble(t, func(b *bubble) {
		s := b.source()
		_, body := b.getStreaming(b.t.Context(), logPath+"?follow=true")
		s.lines <- "one\n"
		b.wantLine(body, "one\n")
		start := time.Now()
		if err := b.stop(); err != nil || time.Since(start) > time.Second {
			b.t.Errorf("server stopped after %s with error %v, want at most 1 s", time.Since(start), err)
		}
		if _, err := body.ReadString('\n'); !errors.Is(err, io.ErrUnexpectedEOF) {
			b.t.Errorf("log ended with error %v, want io.ErrUnexpectedEOF", err)
		}
	})
}

// A client that does not read its log is disconnected when a write has taken 10 s.
//
// Invariant: I28.
func TestLogOfNonReadingClientEnds(t *testing.T) {
	inBubble(t, func(b *bubble) {
		s := b.source()
		conn, err := b.dial(b.t.Context(), "", "")
		if err != nil {
			b.t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if _, err := fmt.Fprintf(conn, "GET %s?follow=true HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", logPath); err != nil {
			b.t.Fatal(err)
		}
		s.lines <- "one\n"
		start := time.Now()
		<-s.requestEnded
		if took := time.Since(start); took != 10*time.Second {
			b.t.Errorf("log of a client that does not read ended after %s, want 10 s", took)
		}
	})
}

// Invariant: I28.
func TestNumberOfLogsIsLimited(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.api.Handle(upstream, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		ctx, cancel := context.WithCancel(b.t.Context())
		defer cancel()
		for n := range 100 {
			requestCtx := ctx
			if n > 0 {
				requestCtx = b.t.Context()
			}
			if response, _ := b.getStreaming(requestCtx, logPath+"?follow=true"); response.StatusCode != http.StatusOK {
				b.t.Fatalf("log %d: got status %d, want 200", n, response.StatusCode)
			}
		}
		response, body := b.getStreaming(b.t.Context(), logPath+"?follow=true")
		text, _ := io.ReadAll(body)
		b.wantProblem("log above the limit", httpResponse{response.StatusCode, response.Header, string(text)},
			http.StatusServiceUnavailable, "Too many logs", "100 logs")
		if response.Header.Get("Retry-After") == "" {
			b.t.Error("the response has no Retry-After header")
		}
		cancel()
		synctest.Wait()
		if response, _ := b.getStreaming(b.t.Context(), logPath+"?follow=true"); response.StatusCode != http.StatusOK {
			b.t.Errorf("log after another has ended: got status %d, want 200", response.StatusCode)
		}
	})
}
