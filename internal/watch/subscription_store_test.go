package watch_test

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// awaitReader waits until another goroutine waits for a read lock.
func awaitReader() {
	for stacks := make([]byte, 1<<20); ; runtime.Gosched() {
		if n := runtime.Stack(stacks, true); bytes.Contains(stacks[:n], []byte("SemacquireRWMutexR")) {
			return
		}
	}
}

// A read during the removal of rows returns the state forbidden, without rows.
// Invariant: I6. While the program removes the rows of a resource or a namespace, readers get neither these rows nor
// messages about their deletion. A reset is sent at once with its reason, and replaces the changes that wait to be
// sent. If only a part of a message was sent to a reader, the reader gets a reset before any further change. If a
// computation panics, the program does not use its result.
func TestReadWhileRowsAreDeleted(t *testing.T) {
	for _, kind := range []string{"rows", "object", "snapshot"} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				server.Set(pods, pod("a", "p", "Running"), pod("a", "q", "Running"))
				subscribe(t, cluster, query.Query{}, "").settle()
				next := startRead(t, cluster, kind)
				got := make(chan message, 1)
				faults := cluster.Informer(pods).Faults()
				faults.DeleteRows("", func() {
					go func() { got <- next() }()
					awaitReader()
					faults.Refuse()
				})
				if m := <-got; m.Type != "state" || m.State != "forbidden" || len(m.Rows) > 0 {
					t.Errorf("got %+v about a hidden object, want the state forbidden", m)
				}
			})
		})
	}
}

// startRead starts a read, such as "snapshot". The returned function returns the message after the state message.
func startRead(t *testing.T, cluster *watch.Cluster, kind string) func() message {
	t.Helper()
	if kind == "snapshot" {
		return func() message {
			s, err := cluster.For(watch.Viewer{Program: true}).Snapshot(
				t.Context(), query.Query{Resource: pods}, time.Minute,
			)
			if err != nil {
				t.Error(err)
				return message{}
			}
			return message{Type: "state", State: string(s.Status.State), Rows: make([]messageRow, len(s.Objects))}
		}
	}
	q := query.Query{}
	if kind == "object" {
		q = query.Query{Namespaces: []string{"a"}, Name: "p"}
	}
	r := subscribe(t, cluster, q, "")
	if m := r.next(); m.State != "live" {
		t.Fatalf("first message: got %+v, want state live", m)
	}
	return func() (m message) {
		text, err := r.sub.Next(t.Context())
		if err == nil {
			err = json.Unmarshal([]byte("{"+string(text)+"}"), &m)
		}
		if err != nil {
			t.Error(err)
		}
		return m
	}
}

// While the rows of a namespace are removed, a snapshot reports that it covers only the other namespaces.
// Invariant: I6.
func TestReadWhileNamespaceIsDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
		allowOnly(server, "a", "b")
		subscribe(t, cluster, query.Query{}, "").settle()
		got := make(chan *watch.Snapshot, 1)
		faults, restore := cluster.Informer(pods).Faults(), func() {}
		faults.DeleteRows("b", func() {
			go func() {
				s, err := cluster.For(watch.Viewer{Program: true}).Snapshot(
					t.Context(), query.Query{Resource: pods}, time.Minute,
				)
				if err != nil {
					t.Error(err)
				}
				got <- s
			}()
			awaitReader()
			restore = faults.Uncover("b")
		})
		if s := <-got; strings.Join(s.Status.Namespaces, " ") != "a" || len(s.Objects) != 1 {
			t.Errorf("got %d rows of namespaces %s, want one of a", len(s.Objects), s.Status.Namespaces)
		}
		restore()
	})
}

// If readers are reset just before rows are removed, the readers wait for the removal. Then they get an empty
// snapshot.
// Invariant: I6.
func TestResetBeforeRowsAreDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		cluster.Informer(pods).Faults().ResetReaders()
		cluster.Informer(pods).Faults().Forbid()
		for !strings.Contains(strings.Join(r.log, ", "), "snapshot") {
			r.next()
		}
		if len(r.rows) > 0 || r.state != "forbidden" {
			t.Errorf("got %d rows in state %s", len(r.rows), r.state)
		}
	})
}
