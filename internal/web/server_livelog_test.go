package web_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

// logSubscription returns a message that subscribes to a log. members is appended inside the JSON object.
func logSubscription(id int, members string) string {
	return fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":"core/v1/pods","ns":["a"],"name":"web-0","view":"log"%s}`,
		id, members)
}

// nextLogMessage returns the next message with this id that is not a heartbeat.
func (c *tab) nextLogMessage(id int) *livetest.Message {
	c.t.Helper()
	return c.Until(id, "log", "log-end", "error")
}

// readLog returns all parts of a log. It reads until the log has ended.
func (c *tab) readLog(id int) (parts []string) {
	c.t.Helper()
	for {
		switch m := c.nextLogMessage(id); m.Type {
		case "log":
			parts = append(parts, m.Text)
		case "log-end":
			return parts
		default:
			c.t.Fatalf("log ended with the problem %+v", m.Problem)
		}
	}
}

// wantLog compares the next part of a log with want. It skips the empty first message.
func (c *tab) wantLog(id int, want string) {
	c.t.Helper()
	m := c.nextLogMessage(id)
	if m.Type == "log" && m.Text == "" && want != "" {
		m = c.nextLogMessage(id)
	}
	if m.Type != "log" || m.Text != want {
		c.t.Errorf("next message is %s %q %+v, want the log text %q", m.Type, m.Text, m.Problem, want)
	}
}

// openFollowedLog opens a WebSocket that follows a growing log. The source controls the log, and the tab is the
// client.
func (b *bubble) openFollowedLog() (*source, *tab) {
	b.t.Helper()
	s, c := b.source(), b.open()
	c.Send(logSubscription(1, `,"follow":true`))
	c.wantLog(1, "")
	return s, c
}

// A log subscription has the same options as the HTTP route for logs, and sends the same text.
//
// Invariant: I28.
func TestSocketLogOptionsReachTheAPIServer(t *testing.T) {
	inBubble(t, func(b *bubble) {
		c := b.open()
		for n, test := range []struct{ members, want string }{
			{"", "tailLines=500"},
			{`,"container":"app","tail":0,"previous":true`, "container=app&previous=true&tailLines=0"},
			{`,"tail":5000,"timestamps":true,"follow":false,"since":""`, "tailLines=5000&timestamps=true"},
			{`,"since":"90s"`, "sinceSeconds=90&tailLines=500"},
			{`,"since":"2026-11-21T11:00:00+01:00"`, "sinceTime=2026-11-21T10%3A00%3A00Z&tailLines=500"},
			{`,"follow":true`, "follow=true&tailLines=500"},
		} {
			nextQuery := b.logs("\x1b[31mone\x1b[0m\n<b>\"two\"\\")
			c.Send(logSubscription(n+1, test.members))
			text := strings.Join(c.readLog(n+1), "")
			if got := nextQuery().Encode(); got != test.want || text != "one\n<b>\"two\"\\" {
				b.t.Errorf("%s: got text %q with the query %s, want %s", test.members, text, got, test.want)
			}
		}
		b.logs("")
		c.Send(logSubscription(1, "")) // The id is free again, because the log has ended.
		if parts := c.readLog(1); len(parts) != 1 || parts[0] != "" {
			b.t.Errorf("empty log: got %q, want one message without text", parts)
		}
		long := "x" + strings.Repeat("größe\xff", 30_000) + "\nend"
		b.logs(long)
		c.Send(logSubscription(1, ""))
		parts := c.readLog(1)
		if text := strings.Join(parts, ""); text != strings.ReplaceAll(long, "\xff", "\ufffd") {
			b.t.Errorf("long line: got %d bytes that differ from the log", len(text))
		}
		for _, part := range parts {
			if len(part) > 64<<10 || !utf8.ValidString(part) {
				b.t.Errorf("chunk has %d bytes, valid UTF-8: %t; want valid UTF-8 of at most 65,536 bytes", len(part),
					utf8.ValidString(part))
			}
		}
	})
}

// Invariant: I28.
func TestSocketLogProblemsAreExplained(t *testing.T) {
	for _, test := range []struct {
		members, message string
		code             int
		status           int
		title, detail    string
	}{
		{"", `pods "web-0" is forbidden: no pods/log`, 403, 403, "Forbidden", "no pods/log"},
		{"", `pods "web-0" not found`, 404, 404, "Not found", `pods "web-0" not found`},
		{
			"", "a container name must be specified", 400, 400, "Container required",
			"app (not started), proxy (not started)",
		},
		{
			`,"container":"nope"`, "container nope is not valid for pod web-0", 400, 404, "No such container",
			`"nope"`,
		},
		{
			`,"container":"app","follow":true`, `container "app" in pod "web-0" is waiting to start`, 400, 503,
			"Container is waiting", "app (not started)",
		},
		{"", "the kubelet is away", 502, 503, "The API server does not respond", "the kubelet is away"},
	} {
		t.Run(test.message, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				b.api.Set(podsRef, apitest.Item{
					Namespace: "a", Name: "web-0", Cells: `["web-0","Running"]`,
					Rest: `"spec":{"containers":[{"name":"app"},{"name":"proxy"}]},"status":{}`,
				})
				c := b.open()
				b.refuseLog(test.code, test.message)
				c.Send(logSubscription(1, test.members))
				if m := c.nextLogMessage(1); m.Type != "error" || m.Problem.Status != test.status ||
					m.Problem.Title != test.title || !strings.Contains(m.Problem.Detail, test.detail) {
					b.t.Errorf("got %s with problem %+v, want %d %s with %q",
						m.Type, m.Problem, test.status, test.title, test.detail)
				}
			})
		})
	}
}

// A followed log without lines is reported as open after 2 s. Heartbeats are sent every 15 s, new lines at once.
//
// Invariant: I28.
func TestSocketLogIsFollowed(t *testing.T) {
	inBubble(t, func(b *bubble) {
		s := b.source()
		c := b.open()
		start := time.Now()
		c.Send(logSubscription(1, `,"follow":true`))
		c.wantLog(1, "")
		if elapsed := time.Since(start); elapsed != 2*time.Second {
			b.t.Errorf("empty log was sent after %s, want 2 s", elapsed)
		}
		for _, line := range []string{"first\n", "\x1b[31msecond\x1b[0m\n"} {
			for until := time.Now().Add(10 * time.Minute); time.Now().Before(until); {
				last := time.Now()
				c.Until(1, "heartbeat", "log", "log-end", "error")
				if quiet := time.Since(last); quiet > 15*time.Second {
					b.t.Fatalf("no message for %s, want at most 15 s", quiet)
				}
			}
			s.lines <- line
			start := time.Now()
			c.wantLog(1, strings.NewReplacer("\x1b[31m", "", "\x1b[0m", "").Replace(line))
			if elapsed := time.Since(start); elapsed != 0 {
				b.t.Errorf("line %q was delayed for %s, want no delay", line, elapsed)
			}
		}
		s.lines <- "last"
		s.lines <- ""
		c.wantLog(1, "last")
		if m := c.nextLogMessage(1); m.Type != "log-end" {
			b.t.Errorf("after the end of the log: got %+v, want log-end", m)
		}
	})
}

// After 2 s without a response of the API server, messages have the member "waiting" until it responds.
//
// Invariant: I28.
func TestSocketLogReportsWaiting(t *testing.T) {
	for _, test := range []struct {
		after time.Duration
		want  []string
	}{
		{0, []string{`"" false after 0s`}},
		{time.Second, []string{`"" false after 1s`}},
		{time.Minute, []string{`"" true after 2s`, `"" false after 1m0s`}},
	} {
		t.Run(test.after.String(), func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				b.api.Handle(upstream, func(w http.ResponseWriter, r *http.Request) {
					<-time.After(test.after)
					w.(http.Flusher).Flush() //nolint:errcheck,forcetypeassert // The ResponseWriter is always a Flusher.
					select {
					case <-time.After(time.Hour):
					case <-r.Context().Done():
					}
				})
				c := b.open()
				var got []string
				start := time.Now()
				c.Send(logSubscription(1, `,"follow":true`))
				for m := c.nextLogMessage(1); m.Type == "log"; m = c.nextLogMessage(1) {
					got = append(got, fmt.Sprintf("%q %t after %s", m.Text, m.Waiting == true, time.Since(start)))
				}
				if !slices.Equal(got, test.want) {
					b.t.Errorf("response after %s: got %q, want %q", test.after, got, test.want)
				}
			})
		})
	}
}

// Invariant: I28.
func TestSocketLogReportsInterruption(t *testing.T) {
	inBubble(t, func(b *bubble) {
		s := b.source()
		c := b.open()
		c.Send(logSubscription(1, `,"follow":true`))
		s.lines <- "one\n"
		for m := c.nextLogMessage(1); m.Text != "one\n"; m = c.nextLogMessage(1) {
			if m.Type != "log" || m.Text != "" {
				b.t.Fatalf("first message is %+v, want an empty log", m)
			}
		}
		s.lines <- "cut"
		if m := c.nextLogMessage(1); m.Type != "error" || m.Problem.Title != "Log is cut" ||
			m.Problem.Status != http.StatusServiceUnavailable {
			b.t.Errorf("interrupted log: got %s with problem %+v, want Log is cut", m.Type, m.Problem)
		}
	})
}

// If a client that follows a log loses the permission, it receives an error within 15 s.
//
// Invariant: I28.
func TestSocketLogEndsWhenPermissionIsRevoked(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		t.Run(fmt.Sprintf("without new lines %t", quiet), func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				s, c := b.openFollowedLog()
				if !quiet {
					s.lines <- "one\n"
					c.wantLog(1, "one\n")
				}
				for range 4 {
					c.Until(1, "heartbeat")
				}
				s.wantRequestEnded(false, "while the permission exists")
				b.api.Revoke(podsRef, "a")
				start := time.Now()
				if m := c.nextLogMessage(1); m.Type != "error" || m.Problem.Status != http.StatusForbidden ||
					time.Since(start) > 15*time.Second {
					b.t.Errorf("after %s got %s with problem %+v, want 403 within 15 s", time.Since(start), m.Type, m.Problem)
				}
				s.wantRequestEnded(true, "after the permission was revoked")
			})
		})
	}
}

// When a log subscription ends for any reason, the server also ends its own request to the API server for this log.
//
// Invariant: I28.
func TestSocketLogEndsWithItsSubscription(t *testing.T) {
	inBubble(t, func(b *bubble) {
		for _, quiet := range []bool{false, true} {
			s, c := b.openFollowedLog()
			if !quiet {
				s.lines <- "one\n"
				c.wantLog(1, "one\n")
			}
			s.wantRequestEnded(false, "while the log is read")
			c.Send(`{"op":"unsubscribe","id":1}`)
			s.wantRequestEnded(true, "unsubscribed")
			b.logs("other\n")
			c.Send(logSubscription(1, ""))
			if parts := strings.Join(c.readLog(1), ""); parts != "other\n" {
				b.t.Errorf("subscription with the same id: got %q, want the other log", parts)
			}

			s = b.source()
			c.Send(logSubscription(2, `,"follow":true`))
			synctest.Wait()
			c.Close()
			s.wantRequestEnded(true, "after the socket was closed")
		}
	})
}

// Invariant: I28.
func TestSocketLogEndsWhenTheServerStops(t *testing.T) {
	inBubble(t, func(b *bubble) {
		s, c := b.openFollowedLog()
		var reading sync.WaitGroup
		reading.Go(func() { c.readRetryDelay(websocket.StatusGoingAway) })
		start := time.Now()
		if err := b.stop(); err != nil || time.Since(start) > time.Second {
			b.t.Errorf("server stopped after %s with error %v, want at most 1 s", time.Since(start), err)
		}
		reading.Wait()
		s.wantRequestEnded(true, "after the server stopped")
	})
}

// Invariant: I28.
func TestSocketLogOfNonReadingClientEnds(t *testing.T) {
	inBubble(t, func(b *bubble) {
		s := b.source()
		b.openNonReadingWith(logSubscription(1, `,"follow":true`))
		s.lines <- "one\n"
		start := time.Now()
		<-s.requestEnded
		if took := time.Since(start); took != 10*time.Second {
			b.t.Errorf("log of a client that does not read ended after %s, want 10 s", took)
		}
	})
}

// A log that never ends does not block other messages on the connection.
//
// Invariant: I28.
func TestEndlessLogDoesNotBlockOtherMessages(t *testing.T) {
	inBubble(t, func(b *bubble) {
		flood := []byte(strings.Repeat("a line of many\n", 10_000))
		b.api.Handle(upstream, func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(flood); err != nil {
					return
				}
			}
		})
		c := b.open()
		c.Send(logSubscription(1, `,"follow":true`))
		for range 10 {
			c.nextLogMessage(1)
		}
		for n := range 20 {
			sent := make(chan struct{})
			go func() { c.Send(fmt.Sprintf(`{"op":"ping","id":%d}`, 100+n)); close(sent) }()
			logs := 0
			for {
				m, err := c.Read()
				if err != nil {
					b.t.Fatal(err)
				}
				if m.Type == "pong" {
					break
				}
				if logs += len(m.Text); logs > 4<<20 {
					b.t.Fatalf("ping was not answered within %d bytes of log", logs)
				}
			}
			<-sent
		}
	})
}

// Open logs over HTTP and over WebSockets count toward the same limit.
//
// Invariant: I28.
func TestLogLimitCoversSocketsAndHTTP(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.api.Handle(upstream, func(w http.ResponseWriter, r *http.Request) {
			// Send the response header now. Without it, the server would wait 2 s before it reports the log as open.
			w.(http.Flusher).Flush() //nolint:errcheck,forcetypeassert // The ResponseWriter is always a Flusher.
			<-r.Context().Done()
		})
		for range 50 {
			if response, _ := b.getStreaming(b.t.Context(), logPath+"?follow=true"); response.StatusCode != http.StatusOK {
				b.t.Fatalf("log over HTTP: got status %d, want 200", response.StatusCode)
			}
		}
		c := b.open()
		for id := range 50 {
			c.Send(logSubscription(id+1, `,"follow":true`))
			c.wantLog(id+1, "")
		}
		c.Send(logSubscription(51, `,"follow":true`))
		if m := c.nextLogMessage(51); m.Type != "error" || m.Problem.Title != "Too many logs" ||
			m.Problem.Status != http.StatusServiceUnavailable {
			b.t.Errorf("log above the limit: got %s with problem %+v, want Too many logs", m.Type, m.Problem)
		}
		response, body := b.getStreaming(b.t.Context(), logPath+"?follow=true")
		text, _ := io.ReadAll(body)
		b.wantProblem("log above the limit, over HTTP", httpResponse{response.StatusCode, response.Header, string(text)},
			http.StatusServiceUnavailable, "Too many logs", "100 logs")
		c.Send(`[{"op":"unsubscribe","id":7},{"op":"ping","id":60}]`)
		c.Until(60, "pong")
		c.Send(logSubscription(52, `,"follow":true`))
		c.wantLog(52, "")
	})
}
