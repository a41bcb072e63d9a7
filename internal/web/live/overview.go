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
func (l *session) followOverview(ctx context.Context, o *operation) error {
	defer l.access.KeepOverview()() //nolint:contextcheck // The engine outlives sessions.
	return l.followVerdicts(ctx, o, func() (any, error) {
		return l.access.Overview(ctx, watch.OverviewQuery{Namespaces: o.Namespaces})
	})
}

// followExplanation sends the explanation of an object at the start and after each change.
func (l *session) followExplanation(ctx context.Context, o *operation) error {
	defer watch.IndexOf(l.access).Keep()()
	return l.followVerdicts(ctx, o, func() (any, error) {
		return watch.IndexOf(l.access).Explanation(ctx, o.Resource, strings.Join(o.Namespaces, ","), o.Name)
	})
}

// followVerdicts sends a document at the start, and after each change of verdicts, but at most once a second.
func (l *session) followVerdicts(ctx context.Context, o *operation, read func() (any, error)) error {
	var sent []byte
	sentAt := time.Time{}
	for {
		changed := l.access.OverviewChanged()
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
			if l.sendResources(ctx, message, o.ID) != nil {
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
