// Package faults breaks connections and permissions of a running dashboard. The tests require .ci/on-demo, and the
// dashboard's path in DASHBOARD.
package faults

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/test/faults/cluster"
	"github.com/glasshouse-project/glasshouse/test/faults/link"
	"github.com/glasshouse-project/glasshouse/test/faults/program"
	"github.com/glasshouse-project/glasshouse/test/faults/viewer"
)

const (
	configMaps = "core/v1/configmaps"
	// staleGrace is the time after an interruption of a watch during which the state can still be live.
	staleGrace = 2 * time.Second // one second to detect the interruption, and one for a slow machine
)

// testbed is a running dashboard between proxies whose connections a test can break:
//
//	viewers - down - dashboard - up - gate - API server
type testbed struct {
	*cluster.Cluster

	t         *testing.T
	namespace string
	program   *program.Program
	gate      *link.Gate // Can refuse requests; nil if options.server is set.
	up, down  *link.Link
	url       string // URL of the proxy between the viewers and the dashboard.
}

type options struct {
	server     string // Address of the API server if the testbed has no gate.
	behindGate string // Address of the API server behind the gate; empty for the cluster's own.
	noListEnds bool
	kubeconfig string
	args       []string
	env        []string
}

// open starts a dashboard and its proxies. At the end of the test, it stops the dashboard. The test fails if this stop
// is not clean.
func open(t *testing.T, s options) *testbed {
	t.Helper()
	c := must(cluster.Open())(t)
	w := &testbed{Cluster: c, t: t, namespace: must(c.Namespace(t.Context()))(t)}
	eventually(t, 20*time.Second, "the default ConfigMap of the namespace exists", func() error {
		rows, err := w.Rows(t.Context(), w.rows())
		if err == nil && len(rows) == 0 {
			err = errors.New("the namespace has no ConfigMap")
		}
		return err
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if err := c.Core.CoreV1().Namespaces().Delete(ctx, w.namespace, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	upstream := s.server
	if upstream == "" {
		w.gate = w.newGate(s)
		upstream = w.gate.Addr()
	}
	w.up = must(link.New(upstream))(t)
	t.Cleanup(w.up.Close)
	path := os.Getenv("DASHBOARD")
	if path == "" {
		t.Fatal("DASHBOARD must be the path of the program; make test sets it")
	}
	kubeconfig := s.kubeconfig
	if kubeconfig == "" {
		kubeconfig = c.Kubeconfig
	}
	w.program = must(program.Start(t.Context(), program.Options{
		Path: path,
		Env:  s.env,
		Args: append([]string{"--kubeconfig", kubeconfig, "--server", "https://" + w.up.Addr()}, s.args...),
	}))(t)
	t.Cleanup(func() {
		if err := w.program.Stop(20 * time.Second); err != nil {
			t.Errorf("the program ended with error %v", err)
		}
		if t.Failed() {
			t.Logf("the program's log:\n%s", w.program.Log())
		}
	})
	w.down = must(link.New(strings.TrimPrefix(w.program.URL, "http://")))(t)
	t.Cleanup(w.down.Close)
	w.url = "http://" + w.down.Addr()
	return w
}

func (w *testbed) newGate(s options) *link.Gate {
	w.t.Helper()
	server := w.Config.Host
	if s.behindGate != "" {
		server = "https://" + s.behindGate
	}
	gate := must(link.NewGate(w.t.Context(), link.GateOptions{
		Server: server, TLS: must(w.TLS())(w.t), Serve: must(w.Certificate())(w.t), NoListEnds: s.noListEnds,
	}))(w.t)
	w.t.Cleanup(func() {
		if err := gate.Close(); err != nil {
			w.t.Error(err)
		}
	})
	return gate
}

func (w *testbed) startViewers(count int, wants ...viewer.Want) (viewers []*viewer.Viewer) {
	w.t.Helper()
	for _, want := range wants {
		for range count {
			v := viewer.New(w.url, want)
			run(w.t, v.Run)
			viewers = append(viewers, v)
		}
	}
	return viewers
}

func run(t *testing.T, f func(context.Context)) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { f(ctx) })
	stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(stop)
	return stop
}

func (w *testbed) rows() viewer.Want { return viewer.Rows(configMaps, w.namespace) }

// views returns subscriptions to rows, table and window, each with and without labels, and to rows of two namespaces.
func (w *testbed) views() (views []viewer.Want) {
	for _, labels := range []string{"", "odd=true"} {
		want := w.rows()
		want.Labels = labels
		views = append(views, want)
		want.View = "table"
		views = append(views, want)
		want.View, want.Q, want.Sort, want.Count = "window", "cm-", "-data", 100
		if labels == "" {
			want.Offset, want.Count = 1, 8
		}
		views = append(views, want)
	}
	return append(views, viewer.Rows(configMaps, w.namespace, "kube-system"))
}

// fields returns a subscription with a field selector, for which the dashboard needs a separate list and watch.
func (w *testbed) fields() viewer.Want {
	want := w.rows()
	want.Fields = "metadata.name!=kept"
	return want
}

func (w *testbed) changes() viewer.Want { return viewer.Changes(configMaps, w.namespace) }

func (w *testbed) object(name string) viewer.Want {
	return viewer.Object(configMaps, w.namespace, name)
}

func (w *testbed) churn(rate int) (stop func()) {
	w.t.Helper()
	end := w.Churn(w.t.Context(), w.namespace, rate)
	stop = sync.OnceFunc(func() {
		changes, err := end()
		if err != nil {
			w.t.Errorf("churn: %v", err)
		}
		w.t.Logf("%d changes", changes)
	})
	w.t.Cleanup(stop)
	return stop
}

func eventually(t *testing.T, timeout time.Duration, description string, check func() error) time.Duration {
	t.Helper()
	elapsed, err := poll(timeout, check)
	if err != nil {
		t.Fatalf("condition %q was not true within %v: %v", description, timeout, err)
	}
	return elapsed
}

func poll(timeout time.Duration, check func() error) (elapsed time.Duration, err error) {
	start := time.Now()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		elapsed := time.Since(start)
		if err == nil || elapsed > timeout {
			return elapsed, err
		}
		<-tick.C
	}
}

func sleep(duration time.Duration) { <-time.After(duration) }

func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
