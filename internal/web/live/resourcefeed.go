package live

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
	"github.com/glasshouse-project/glasshouse/internal/web/picker"
)

const viewResources = "resources"

// coalesceDelay is how long changes of the resource list are collected, because often several resources change at
// once.
const coalesceDelay = 100 * time.Millisecond

// followResources sends the list of resources and their object counts, and all later changes. The counts are those of
// some namespaces, which are sorted; no namespaces mean all.
func (s *session) followResources(ctx context.Context, id int, namespaces []string) error {
	known := s.access.Resources().In(namespaces)
	follower := known.Follow() //nolint:contextcheck // An informer outlives the session that starts it.
	defer follower.Close()
	//nolint:contextcheck // The feed outlives this session.
	feed, leave := s.sockets.feeds.Join(s.cluster, s.identity.Viewer, namespaces)
	defer leave()
	openedAt, sentVersion, sentCounts, sentAt := time.Now(), 0, 0, time.Time{}
	// Accept a list up to coalesceDelay old, so that sessions that start at the same time share it.
	after := openedAt.Add(-coalesceDelay)
	for {
		doc, err := feed.Resources.Latest(ctx, after, s.resourcesMessage)
		if err != nil {
			return err
		}
		// If only hidden resources changed, the version is still sentVersion. Send no list, but a heartbeat if it is due.
		message := doc.Text
		if doc.Version == sentVersion {
			message = []byte(`"type":"heartbeat","cursor":""`)
		}
		if doc.Version != sentVersion || time.Since(sentAt) >= stream.Heartbeat {
			if s.sendResources(ctx, message, id) != nil {
				return nil // The connection has ended, so the error cannot be sent.
			}
			sentVersion, sentAt = doc.Version, time.Now()
		}
		// A list that was read before this subscription started may be outdated, so read it again after
		// coalesceDelay.
		changed := !doc.StartedAt.After(openedAt)
		if !changed {
			if changed, err = s.followCounts(
				ctx, id, follower, known, feed, &sentCounts, sentAt.Add(stream.Heartbeat),
			); err != nil {
				return nil // The subscription or the session has ended.
			}
		}
		if after = time.Now(); !changed {
			after = after.Add(-stream.Heartbeat)
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(coalesceDelay):
		}
	}
}

// sendResources sends a resource list or a heartbeat. It first reserves memory, because the list can be long.
func (s *session) sendResources(ctx context.Context, message []byte, id int) error {
	reserved, err := s.conn.reserve(ctx, int64(len(message)+2*chunkBytes))
	if err != nil {
		return err
	}
	defer reserved.Release()
	return s.conn.sendChunked(ctx, message, id, true, alwaysValid)
}

// alwaysValid is the argument stillValid for messages that need no permission recheck while they are sent.
func alwaysValid(context.Context) bool { return true }

// followCounts sends changed object counts. changed is true if the resource list may have changed, or false at the
// deadline.
func (s *session) followCounts(
	ctx context.Context, id int, follower *watch.Follower, known watch.VisibleResources, feed *picker.Feed,
	sentVersion *int, deadline time.Time,
) (changed bool, err error) {
	for !changed && time.Now().Before(deadline) {
		version, text, countsChanged := feed.Counts.Latest(ctx, known.Counts)
		if version != *sentVersion {
			if err := s.conn.sendChunked(ctx, text, id, true, alwaysValid); err != nil {
				return false, err
			}
			*sentVersion = version
		}
		if changed, err = follower.Next(ctx, countsChanged, deadline); err != nil {
			return false, err
		}
	}
	return changed, nil
}

// resourcesMessage returns the message with the resource list. Object counts change often, so they are sent in
// their own message.
func (s *session) resourcesMessage(ctx context.Context) ([]byte, error) {
	doc, err := s.sockets.deps.Picker.Read(ctx, s.access.Resources(), picker.DiscoveryWait)
	if err != nil {
		return nil, err
	}
	for i := range doc.Resources {
		doc.Resources[i].Count = nil
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("encode the resources: %w", err)
	}
	return append([]byte(`"type":"resources",`), text[1:len(text)-1]...), nil
}
