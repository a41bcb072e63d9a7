package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// viewResources is the view of what discovery knows.
const viewResources = "resources"

// together is how long changes of what discovery knows are gathered: kinds come
// and go, and are synced, several at once.
const together = 100 * time.Millisecond

// followResources tells what discovery knows, at once and whenever it, or the
// state of a resource, has changed.
func (l *session) followResources(ctx context.Context, id int) error {
	follower := l.access.Follow() //nolint:contextcheck // An informer outlives who starts it.
	defer follower.Close()
	var told []byte
	for {
		message, err := l.resourcesMessage(ctx)
		if err != nil {
			return err
		}
		if bytes.Equal(message, told) {
			message = []byte(`"type":"heartbeat","cursor":""`)
		} else {
			told = message
		}
		if err := l.write(ctx, message, &id, false); err != nil {
			return nil // The session ends; there is nobody to tell.
		}
		changed, err := follower.Next(ctx)
		if err != nil {
			return err
		}
		if changed {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(together):
			}
		}
	}
}

// resourcesMessage has no counts: they change with every object.
func (l *session) resourcesMessage(ctx context.Context) ([]byte, error) {
	known, err := l.server.known(ctx, l.access, renewWait)
	if err != nil {
		return nil, err
	}
	for i := range known.Resources {
		known.Resources[i].Count = nil
	}
	text, err := json.Marshal(known)
	if err != nil {
		return nil, fmt.Errorf("encode the resources: %w", err)
	}
	return append([]byte(`"type":"resources",`), text[1:len(text)-1]...), nil
}
