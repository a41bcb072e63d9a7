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

// coalesceDelay is how long changes of the catalog are collected before they are sent together. The reason is that
// several resources often appear, disappear or become synced at once.
const coalesceDelay = 100 * time.Millisecond

// followResources sends the resources that discovery knows (the catalog). It sends them again whenever the catalog or
// the state of a resource has changed. It also sends the number of objects of each watched resource. All sessions of
// one picker feed share the encoded messages.
func (l *session) followResources(ctx context.Context, id int) error {
	follower := l.access.Follow() //nolint:contextcheck // An informer outlives the session that starts it.
	defer follower.Close()
	feed, leave := l.cluster.joinPickerFeed(l.identity.Viewer) //nolint:contextcheck // The feed outlives this session.
	defer leave()
	openedAt, sentVersion, sentCounts, sentAt := time.Now(), 0, 0, time.Time{}
	// Accept a document that is up to coalesceDelay older than this subscription, so that sessions that start at the
	// same time share one document.
	after := openedAt.Add(-coalesceDelay)
	for {
		doc, err := feed.picker.latest(ctx, after, l.resourcesMessage)
		if err != nil {
			return err
		}
		// If only things changed that the viewer is not permitted to see, the version is the same. Such a change must
		// neither cause a message nor delay a heartbeat.
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
		// If the document is older than this subscription, it may lack later changes. Treat it as changed, so that it is
		// read again.
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

// sendResources sends a message with the list of resources. It reserves memory for the message, which is long if a
// cluster has many resources.
func (l *session) sendResources(ctx context.Context, message []byte, id int) error {
	reserved, err := l.reserve(ctx, int64(len(message)+2*chunkBytes))
	if err != nil {
		return err
	}
	defer reserved.Release()
	return l.sendChunked(ctx, message, id, true, alwaysValid)
}

// alwaysValid is the permission recheck of messages that need none, such as those that all sessions of a picker feed
// share. It always returns true.
func alwaysValid(context.Context) bool { return true }

// followCounts sends the number of objects of each resource whenever such a number changes. It returns true when the
// catalog or the state of a resource may have changed. It returns false at the time until, when a heartbeat is due.
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

// resourcesMessage returns the message with the list of resources. The message does not contain the numbers of
// objects, because these change often and are sent in their own message.
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
