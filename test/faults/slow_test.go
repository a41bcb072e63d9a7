package faults

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/test/faults/cluster"
	"github.com/glasshouse-project/glasshouse/test/faults/viewer"
)

// Clients that never read do not delay others, and the program closes their connections.
//
// Invariant: I44.
func TestReaderThatNeverReads(t *testing.T) {
	w := open(t, options{})
	check(t, w.Apply(t.Context(), w.namespace, "it", "1"))
	rows, objects := w.startViewers(2, w.rows()), w.startViewers(2, w.object("it"))
	all := append(rows, objects...)
	waitForState(t, 20*time.Second, "live", all...)
	sockets := must(w.program.Sockets(t.Context()))(t)
	const readers = 20
	for range readers {
		openUnread(t, w, fmt.Sprintf(
			`{"op":"subscribe","id":1,"resource":%q,"ns":[%q],"name":"it","view":"object"}`, configMaps, w.namespace,
		))
	}
	eventually(t, 5*time.Second, "the sockets are open", func() error {
		if n := must(w.program.Sockets(t.Context()))(t); n < sockets+readers {
			return fmt.Errorf("got %d sockets", n)
		}
		return nil
	})
	start := time.Now()
	var slowest time.Duration
	for range 30 {
		check(t, w.Apply(t.Context(), w.namespace, "it", randomText(900_000)))
		slowest = max(slowest, w.converges(5*time.Second, rows...), w.objectConverges(5*time.Second, "it", objects...))
	}
	t.Logf("the other readers got each of 30 changes of 0.9 MB within %v", slowest)
	// Unread messages delay others by at most 500 ms (docs/reference.md). The rest of maxDelay is for the API server,
	// which is slow while all processors are busy. If the program did not limit the delay, others could wait 10 s for a
	// blocked write.
	const maxDelay = 2 * time.Second
	if slowest > maxDelay {
		t.Errorf("a change arrived after %v, want %v at most", slowest, maxDelay)
	}
	eventually(t, 15*time.Second, "the sockets are closed", func() error {
		if n := must(w.program.Sockets(t.Context()))(t); n > sockets+1 {
			return fmt.Errorf("got %d sockets, %d before", n, sockets)
		}
		return nil
	})
	// The program closes a connection when a write has been blocked for 10 s. If it checked only whether the client
	// answers pings, it would close the connection after 55 s.
	const limit = 20 * time.Second
	if elapsed := time.Since(start); elapsed > limit {
		t.Errorf("the sockets were closed after %v, want at most %v", elapsed, limit)
	}
	t.Logf("the sockets were closed after %v; peak RSS %d MB", time.Since(start), must(w.program.PeakRSS())(t)>>20)
	checkNoFaults(t, rows...)
	checkNoFaults(t, objects...)
}

func openUnread(t *testing.T, w *testbed, frame string) {
	t.Helper()
	conn, err := livetest.Dial(t.Context(), w.program.URL, livetest.Options{})
	check(t, err)
	t.Cleanup(conn.Close)
	check(t, conn.Write(t.Context(), frame))
}

// The program uses little memory while clients do not read. Afterward, they receive the current rows and objects.
//
// Invariant: I44.
func TestAllReadersStall(t *testing.T) {
	const changes, writers = 50_000, 25
	w := open(t, options{})
	w.url = w.program.URL // The proxy would buffer much of the unread data.
	for i := range writers {
		check(t, w.Apply(t.Context(), w.namespace, fmt.Sprint("cm-", i), "0"))
	}
	rows, objects := w.startViewers(40, w.rows()), w.startViewers(10, w.object("cm-1"))
	all := append(rows, objects...)
	waitForState(t, 20*time.Second, "live", all...)
	w.converges(10*time.Second, rows...)
	before := must(w.program.RSS(t.Context()))(t)
	var resumes []func()
	for _, v := range all {
		resumes = append(resumes, v.Pause())
	}
	start := time.Now()
	check(t, w.flood(t.Context(), writers, changes/writers))
	t.Logf("%d updates in %v; RSS %d MB before, peak RSS %d MB", changes, time.Since(start),
		before>>20, must(w.program.PeakRSS())(t)>>20)
	// The limit includes 64 MiB for the history of changes, and uncollected garbage.
	if peak := must(w.program.PeakRSS())(t); peak-before > 160<<20 {
		t.Errorf("RSS %d MB before, peak RSS %d MB; want at most 160 MB more", before>>20, peak>>20)
	}
	for _, f := range resumes {
		f()
	}
	t.Logf("converged after %v", w.converges(30*time.Second, rows...))
	w.objectConverges(10*time.Second, "cm-1", objects...)
	// Most changes of an object are combined. Only changes that are already in a socket buffer arrive separately.
	if sum := checkNoFaults(t, rows...); sum.Events > len(rows)*changes/8 {
		t.Errorf("got %d row events, want fewer, because changes are folded", sum.Events)
	}
	if sum := checkNoFaults(t, objects...); sum.Patches == 0 {
		t.Error("got no patches")
	}
}

func (w *testbed) flood(ctx context.Context, writers, times int) error {
	config := rest.CopyConfig(w.Config)
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("create a client: %w", err)
	}
	done := make(chan error)
	for i := range writers {
		go func() {
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("cm-", i)}}
			var err error
			for n := 0; n < times && err == nil; n++ {
				cm.Data = cluster.Data(strconv.Itoa(n))
				_, err = client.CoreV1().ConfigMaps(w.namespace).Update(ctx, cm, metav1.UpdateOptions{})
			}
			done <- err
		}()
	}
	for range writers {
		err = errors.Join(err, <-done)
	}
	return err
}

func (w *testbed) clear() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.t.Context()), 30*time.Second)
	defer cancel()
	if err := w.Core.CoreV1().ConfigMaps(w.namespace).DeleteCollection(
		ctx, metav1.DeleteOptions{}, metav1.ListOptions{},
	); err != nil {
		w.t.Errorf("delete the ConfigMaps: %v", err)
	}
}

// Objects of 1 MB are listed, watched and sent like smaller ones.
//
// Invariant: I44.
func TestLargeObjectsConverge(t *testing.T) {
	const count, size = 300, 1_000_000
	w := open(t, options{})
	t.Cleanup(w.clear) // Other tests would list these large objects.
	start := time.Now()
	written := make(chan error)
	const writers = 6
	for i := range writers {
		go func() {
			var err error
			for n := i; n < count && err == nil; n += writers {
				err = w.Apply(t.Context(), w.namespace, fmt.Sprint("big-", n), compressibleText(size, n))
			}
			written <- err
		}()
	}
	for range writers {
		check(t, <-written)
	}
	t.Logf("objects were written in %v", time.Since(start))
	start = time.Now()
	rows, objects := w.startViewers(4, w.rows()), w.startViewers(4, w.object("big-7"))
	all := append(append([]*viewer.Viewer(nil), rows...), objects...)
	waitForState(t, 60*time.Second, "live", all...)
	t.Logf("live after %v", time.Since(start))
	w.converges(20*time.Second, rows...)
	for i := range 5 {
		check(t, w.Apply(t.Context(), w.namespace, "big-7", compressibleText(size, 1000+i)))
		check(t, w.Apply(t.Context(), w.namespace, fmt.Sprint("big-", 20+i), compressibleText(size, 2000+i)))
		check(t, w.Delete(t.Context(), w.namespace, fmt.Sprint("big-", 30+i)))
	}
	w.up.Cut()
	check(t, w.Apply(t.Context(), w.namespace, "big-8", "small"))
	check(t, w.Touch(t.Context(), w.namespace, "big-7", 1))
	check(t, w.up.Restore())
	t.Logf("converged after %v", w.converges(60*time.Second, rows...))
	w.objectConverges(20*time.Second, "big-7", objects...)
	checkNoFaults(t, rows...)
	checkNoFaults(t, objects...)
	peak := must(w.program.PeakRSS())(t) >> 20
	t.Logf("peak RSS %d MB", peak)
	if peak > 250 {
		t.Errorf("peak RSS %d MB for %d objects of %d bytes, want at most 250 MB", peak, count, size)
	}
}
