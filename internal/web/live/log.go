package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
	"github.com/glasshouse-project/glasshouse/internal/watch/messages"
	"github.com/glasshouse-project/glasshouse/internal/watch/signal"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
	"github.com/glasshouse-project/glasshouse/internal/web/logstream"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

const viewLog = "log"

func (s *session) followLog(ctx context.Context, o *operation) error {
	options, err := o.logOptions()
	if err != nil {
		return err
	}
	release, err := s.sockets.deps.Limits.AcquireLog(s.guest, s.identity)
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := context.WithCancel(ctx)
	var heartbeats sync.WaitGroup
	defer heartbeats.Wait()
	defer cancel()
	heartbeats.Go(func() { s.sendHeartbeats(ctx, o.ID) })
	var message []byte
	out := &logstream.Writer{Send: func(part []byte, awaitsServer bool) error {
		message = jsonscan.AppendString(append(message[:0], `"type":"log","text":`...), part)
		if awaitsServer {
			message = append(message, `,"waiting":true`...)
		}
		reserved, err := s.conn.reserve(ctx, messages.Memory(len(message), false))
		if err != nil {
			return err
		}
		defer reserved.Release()
		return s.conn.write(ctx, message, &o.ID, false)
	}}
	body, err := logstream.Open(ctx, s.access, o.Namespaces[0], o.Name, options, out)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	err = out.Copy(body)
	if _, isProblem := errors.AsType[*status.Problem](err); err == nil || isProblem {
		return err
	}
	return &request.Problem{
		Title: "Log is cut", Status: http.StatusServiceUnavailable,
		Detail: fmt.Sprintf("The API server interrupted the log of %s/%s. Request the log again from the time of "+
			"its last line.", o.Namespaces[0], o.Name),
	}
}

// sendHeartbeats sends heartbeats until ctx ends. They show the client that a subscription without new log lines is
// still running.
func (s *session) sendHeartbeats(ctx context.Context, id int) {
	for range signal.Ticks(ctx, stream.Heartbeat) {
		if s.conn.write(ctx, []byte(`"type":"heartbeat","cursor":""`), &id, true) != nil {
			return
		}
	}
}
