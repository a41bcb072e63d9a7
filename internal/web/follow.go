package web

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"glasshouse/internal/watch"
)

// viewResources is the name of the view that lists the resources of the catalog.
const viewResources = "resources"

// coalesceDelay is how long changes of the catalog are collected before they are sent, because several kinds appear,
// disappear or are synced at once.
const coalesceDelay = 100 * time.Millisecond

// followResources sends the resources that discovery knows (the catalog). It sends them again whenever the catalog or
// the state of a resource has changed. It also sends the counts of the watched resources. Sessions of one audience
// share the encoded texts.
func (l *session) followResources(ctx context.Context, id int) error {
	follower := l.access.Follow() //nolint:contextcheck // An informer outlives the session that starts it.
	defer follower.Close()
	feed, leave := l.cluster.joinPickerFeed(l.identity.Viewer) //nolint:contextcheck // Shared, so it outlives this session.
	defer leave()
	openedAt, sentVersion, sentCounts, sentAt := time.Now(), 0, 0, time.Time{}
	after := openedAt.Add(-coalesceDelay) // Sessions that start at the same time share a document.
	for {
		doc, err := feed.picker.latest(ctx, after, l.resourcesMessage)
		if err != nil {
			return err
		}
		// A change that the viewer may not see must neither cause a message nor delay a heartbeat.
		message := doc.text
		if doc.version == sentVersion {
			message = []byte(`"type":"heartbeat","cursor":""`)
		}
		if doc.version != sentVersion || time.Since(sentAt) >= watch.Heartbeat {
			if l.sendResources(ctx, message, id) != nil {
				return nil // The session has ended, so the error cannot be reported.
			}
			sentVersion, sentAt = doc.version, time.Now()
		}
		// The document may be older than the subscription and miss changes since then. In that case, read it again.
		changed := !doc.startedAt.After(openedAt)
		if !changed {
			if changed, err = l.followCounts(
				ctx, id, follower, feed, &sentCounts, sentAt.Add(watch.Heartbeat),
			); err != nil {
				return nil // The subscription or the session has ended.
			}
		}
		if after = time.Now(); !changed {
			after = after.Add(-watch.Heartbeat)
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(coalesceDelay):
		}
	}
}

// sendResources sends a message with the list of resources. It reserves memory for the message, which is long if there
// are many kinds.
func (l *session) sendResources(ctx context.Context, message []byte, id int) error {
	reserved, err := l.reserve(ctx, int64(len(message)+2*chunkBytes))
	if err != nil {
		return err
	}
	defer reserved.Release()
	return l.sendChunked(ctx, message, id, true, alwaysValid)
}

// alwaysValid is the permission recheck of messages that all sessions of an audience share. It returns true, because they
// may always be sent.
func alwaysValid(context.Context) bool { return true }

// followCounts sends the number of objects of each resource whenever it changes. It returns when the resources may have
// changed, or when the next heartbeat is due.
func (l *session) followCounts(
	ctx context.Context, id int, follower *watch.Follower, feed *pickerFeed, sentVersion *int, until time.Time,
) (changed bool, err error) {
	for !changed && time.Now().Before(until) {
		version, text, countsChanged := feed.counts.latest(ctx, l.access.Counts)
		if version != *sentVersion {
			if err := l.sendChunked(ctx, text, id, true, alwaysValid); err != nil {
				return false, err
			}
			*sentVersion = version
		}
		if changed, err = follower.Next(ctx, countsChanged, until); err != nil {
			return false, err
		}
	}
	return changed, nil
}

// resourcesMessage returns the message with the list of resources. It does not contain counts, because these change
// with every object. They have a message of their own.
func (l *session) resourcesMessage(ctx context.Context) ([]byte, error) {
	doc, err := l.server.listResources(ctx, l.access, discoveryWait)
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
