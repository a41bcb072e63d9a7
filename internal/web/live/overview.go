package live

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/signal"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

const (
	viewOverview    = "overview"
	viewExplanation = "explanation"
)

// overviewInterval is the minimum time between two messages with an overview.
const overviewInterval = time.Second

// followOverview sends the overview of the requested namespaces at the start and after each change. It checks the
// permissions each time.
func (s *session) followOverview(ctx context.Context, o *operation) error {
	defer s.access.KeepOverview()() //nolint:contextcheck // The engine outlives sessions.
	return s.followVerdicts(ctx, o, func() (any, error) {
		return s.access.Overview(ctx, watch.OverviewQuery{Namespaces: o.Namespaces})
	})
}

// followExplanation sends the explanation of an object at the start and after each change.
func (s *session) followExplanation(ctx context.Context, o *operation) error {
	defer watch.IndexOf(s.access).Keep()()
	return s.followVerdicts(ctx, o, func() (any, error) {
		return watch.IndexOf(s.access).Explanation(ctx, o.Resource, strings.Join(o.Namespaces, ","), o.Name)
	})
}

// followVerdicts sends a document at the start, and after each change of verdicts, but at most once a second.
func (s *session) followVerdicts(ctx context.Context, o *operation, read func() (any, error)) error {
	var sent []byte
	sentAt := time.Time{}
	for {
		changed := s.access.OverviewChanged()
		doc, err := read()
		if err != nil {
			return err
		}
		text, err := json.Marshal(doc)
		if err != nil {
			return fmt.Errorf("encode the %s: %w", o.View, err)
		}
		message := append([]byte(`"type":"`+o.View+`",`), text[1:len(text)-1]...)
		isNew := !bytes.Equal(message, sent)
		if !isNew {
			message = []byte(`"type":"heartbeat","cursor":""`)
		}
		if isNew || time.Since(sentAt) >= stream.Heartbeat {
			if s.sendResources(ctx, message, o.ID) != nil {
				return nil //nolint:nilerr // The connection has ended, so the error cannot be sent.
			}
			sentAt = time.Now()
		}
		if isNew {
			sent = message
		}
		signal.Sleep(ctx, overviewInterval)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-time.After(stream.Heartbeat):
		}
	}
}
