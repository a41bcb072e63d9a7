package attack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
)

const resumedSuffix = " resumed"

// stream is a WebSocket with one subscription for each view (form of messages).
type stream struct {
	client  *livetest.Client
	opened  time.Time
	names   map[int]string
	reading sync.WaitGroup

	mu       sync.Mutex
	messages map[string][]*livetest.Message
	err      error
	faults   []string
}

// openStream subscribes to each view (form of messages) as observer o. The parameter "from" is the local address of the
// connection. If resume contains a cursor (resume position) for the view, openStream adds a second subscription, which
// resumes there.
func (s *site) openStream(ctx context.Context, from string, o observer, resume map[string]string) (*stream, error) {
	name, value, _ := strings.Cut(o.header, ": ")
	st := &stream{opened: time.Now(), names: map[int]string{}, messages: map[string][]*livetest.Message{}}
	var err error
	if st.client, err = s.socket(ctx, from, http.Header{name: {value}}, st.recordFault); err != nil {
		return nil, err
	}
	var all []string
	subscribe := func(name, members string) {
		id := len(st.names) + 1
		st.names[id] = name
		all = append(all, fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":%q,"ns":[%q],%s}`, id, configMaps,
			o.namespace,
			members))
	}
	for view, members := range map[string]string{
		"rows": "", "table": "", "window": `,"count":500`, "object": `,"name":"visible-0"`, "changes": "",
	} {
		subscribe(view, fmt.Sprintf(`"view":%q%s`, view, members))
		if cursor := resume[view]; cursor != "" {
			subscribe(view+resumedSuffix, fmt.Sprintf(`"view":%q,"cursor":%q%s`, view, cursor, members))
		}
	}
	st.reading.Go(func() { st.read(ctx) })
	if err := st.client.Send(ctx, "["+strings.Join(all, ",")+"]"); err != nil {
		st.close()
		return nil, err
	}
	return st, nil
}

func (st *stream) recordFault(fault string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.faults = append(st.faults, fault)
}

func (st *stream) read(ctx context.Context) {
	for {
		m, err := st.client.Read(ctx)
		st.mu.Lock()
		if err == nil && st.names[m.ID] != "" {
			st.messages[st.names[m.ID]] = append(st.messages[st.names[m.ID]], m)
		}
		st.err = err
		st.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// cursors waits for the first snapshot of each subscription, and returns the cursors (resume positions).
func (st *stream) cursors() (cursors map[string]string, err error) {
	err = eventually(10*time.Second, func() error {
		st.mu.Lock()
		defer st.mu.Unlock()
		cursors = map[string]string{}
		for _, name := range st.names {
			all := withoutDigests(st.messages[name])
			// A resumed subscription gets no snapshot, so wait only for its first message.
			if len(all) > 0 && strings.HasSuffix(name, resumedSuffix) {
				continue
			}
			if len(all) == 0 || !all[len(all)-1].Last && all[len(all)-1].Type != "window" {
				return errors.Join(fmt.Errorf("view %s got %d messages, the last one is incomplete", name, len(all)), st.err)
			}
			cursors[name] = all[len(all)-1].Cursor
		}
		return nil
	})
	return cursors, err
}

// texts returns messages by subscription. It omits digests (data hashes) and IDs, which differ between connections.
func (st *stream) texts() map[string]string {
	st.mu.Lock()
	defer st.mu.Unlock()
	texts := map[string]string{}
	for name, all := range st.messages {
		for _, m := range withoutDigests(all) {
			texts[name] += regexp.MustCompile(`"id":\d+`).ReplaceAllString(string(m.Raw), `"id":ID`) + "\n"
		}
	}
	return texts
}

// withoutDigests removes digests (data hashes, one per minute), and any empty message before or after them.
func withoutDigests(all []*livetest.Message) (rest []*livetest.Message) {
	isDigest := func(n int) bool { return n >= 0 && n < len(all) && all[n].Type == "digest" }
	for n, m := range all {
		empty := strings.Contains(string(m.Raw), `"events":[]`) && (isDigest(n-1) || isDigest(n+1))
		if !isDigest(n) && !empty {
			rest = append(rest, m)
		}
	}
	return rest
}

func (st *stream) close() {
	st.client.Close()
	st.reading.Wait()
}

// checkQuiet allows only empty messages, heartbeats (every 15 s) and digests (every 60 s), because only hidden
// objects change.
func (st *stream) checkQuiet(t *tally) {
	t.Helper()
	st.mu.Lock()
	defer st.mu.Unlock()
	maxMessages := 2 + int(time.Since(st.opened)/(7*time.Second))
	for name, all := range st.messages {
		first := slices.IndexFunc(all, func(m *livetest.Message) bool { return m.Last || m.Type == "window" })
		later := all[first+1:]
		t.check(len(later) <= maxMessages, "%s got %d messages within %v", name, len(later), time.Since(st.opened))
		for _, m := range later {
			isEmpty := m.Type == "heartbeat" || m.Type == "digest" || strings.Contains(string(m.Raw), `"events":[]`)
			t.check(isEmpty, "%s got the message %s", name, string(m.Raw))
		}
	}
	t.check(st.err == nil && len(st.messages) == len(st.names), "reading ended with error %v, %d subscriptions", st.err,
		len(st.messages))
	t.check(len(st.faults) == 0, "inconsistent messages: %s", st.faults)
}
