package web

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"glasshouse/internal/watch"
)

// viewResources is the view of what discovery knows.
const viewResources = "resources"

// together is how long changes of what discovery knows are gathered: kinds come
// and go, and are synced, several at once.
const together = 100 * time.Millisecond

// followResources tells what discovery knows, at once and whenever it, or the
// state of a resource, has changed, and the counts of what is watched. Who is
// told the same shares the text.
func (l *session) followResources(ctx context.Context, id int) error {
	follower := l.access.Follow() //nolint:contextcheck // An informer outlives who starts it.
	defer follower.Close()
	audience, leave := l.showing.join(l.identity.Viewer) //nolint:contextcheck // Others share it, and it outlives the first of them.
	defer leave()
	opened, told, counted, sent := time.Now(), 0, 0, time.Time{}
	after := opened.Add(-together) // Who comes at the same time shares one,
	for {
		known, err := audience.picker.latest(ctx, after, l.resourcesMessage)
		if err != nil {
			return err
		}
		// A change that the viewer may not see must send nothing, nor put off a heartbeat.
		message := known.text
		if known.number == told {
			message = []byte(`"type":"heartbeat","cursor":""`)
		}
		if known.number != told || time.Since(sent) >= watch.Heartbeat {
			if l.sendResources(ctx, message, id) != nil {
				return nil // The session has ended: nobody is left to report to.
			}
			told, sent = known.number, time.Now()
		}
		changed := !known.began.After(opened) // and looks again for what it may lack.
		if !changed {
			if changed, err = l.followCounts(ctx, id, follower, audience, &counted, sent.Add(watch.Heartbeat)); err != nil {
				return nil // The subscription ends, or the session; there is nobody to tell.
			}
		}
		if after = time.Now(); !changed {
			after = after.Add(-watch.Heartbeat)
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(together):
		}
	}
}

// sendResources sends the resources, whose memory it reserves: they are long where there are many kinds.
func (l *session) sendResources(ctx context.Context, message []byte, id int) error {
	reserved, err := l.reserve(ctx, int64(len(message)+2*partBytes))
	if err != nil {
		return err
	}
	defer reserved.Release()
	return l.tell(ctx, message, id, true, always)
}

// always is what a message does that is nobody's alone.
func always(context.Context) bool { return true }

// followCounts sends the counts whenever they change. It returns when the resources may
// have changed, or at the time of the next heartbeat.
func (l *session) followCounts(ctx context.Context, id int, follower *watch.Follower, audience *audience, told *int, until time.Time) (changed bool, err error) {
	for !changed && time.Now().Before(until) {
		number, text, other := audience.counts.latest(ctx, l.access.Counts)
		if number != *told {
			if err := l.tell(ctx, text, id, true, always); err != nil {
				return false, err
			}
			*told = number
		}
		if changed, err = follower.Next(ctx, other, until); err != nil {
			return false, err
		}
	}
	return changed, nil
}

// resourcesMessage has no counts: they change with every object, and have a
// message of their own.
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
