//go:build integration

package bench_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	v1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

const (
	writes    = 1000
	writeRate = 100
)

// benchLatency compares the delay from a write to its event for a WebSocket client and for a plain watch.
func benchLatency(t *testing.T, subj subject, report *table) {
	t.Helper()
	core, namespace := newNamespace(t, subj.config)
	var raw, ours []delays
	for range runs() {
		a, b := measureDelays(t, subj, core, namespace)
		raw, ours = append(raw, a), append(ours, b)
	}
	title := fmt.Sprintf("API write to event at %d/s, ms, ", writeRate)
	report.add(row{
		title + "p50", "raw HTTP watch", figuresOf(raw, delays.p50), figuresOf(ours, delays.p50),
		bar{"at most + 2 ms", difference, atMost(2)},
	})
	report.add(
		row{
			title + "p99", "raw HTTP watch", figuresOf(raw, delays.p99), figuresOf(ours, delays.p99),
			bar{"at most + 10 ms", difference, atMost(10)},
		},
	)
}

// newNamespace creates a namespace. At the end of the test, it deletes the pods in this namespace, because unscheduled
// pods would delay the next start of the demo cluster.
func newNamespace(t *testing.T, config *rest.Config) (core *v1.CoreV1Client, namespace string) {
	t.Helper()
	core, err := v1.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	created, err := core.Namespaces().Create(
		t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-"}},
		metav1.CreateOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		gracePeriod := int64(0)
		if err := core.Pods(created.Name).DeleteCollection(
			context.WithoutCancel(t.Context()), metav1.DeleteOptions{GracePeriodSeconds: &gracePeriod},
			metav1.ListOptions{},
		); err != nil {
			t.Error(err)
		}
	})
	return core, created.Name
}

// delays contains the delays from writes to their events, in milliseconds, in ascending order.
type delays []float64

func (d delays) p50() float64 { return d[len(d)/2] }
func (d delays) p99() float64 { return d[len(d)*99/100] }

type arrivals struct {
	mu    sync.Mutex
	times map[string]time.Time
}

func (a *arrivals) record(version string) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.times[version] = now
}

// delaysAfter returns the delay from each write to its event, or nil if the last event has not arrived yet.
func (a *arrivals) delaysAfter(written []write) delays {
	a.mu.Lock()
	defer a.mu.Unlock()
	var d delays
	var arrived time.Time
	// Several writes can cause one event, which has the version of the last of these writes. Iterate backward, so that
	// the earlier writes get the arrival time of this event, too.
	for _, w := range slices.Backward(written) {
		if t, ok := a.times[w.version]; ok {
			arrived = t
		}
		if arrived.IsZero() {
			return nil
		}
		d = append(d, float64(arrived.Sub(w.start).Microseconds())/1000)
	}
	slices.Sort(d)
	return d
}

type write struct {
	start   time.Time
	version string
}

func measureDelays(t *testing.T, subj subject, core *v1.CoreV1Client, namespace string) (raw, ours delays) {
	t.Helper()
	name := quietPod(t, core, namespace)
	byWatch, bySocket := &arrivals{times: map[string]time.Time{}}, &arrivals{times: map[string]time.Time{}}
	var reading sync.WaitGroup
	defer reading.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	body := get(ctx, t, subj.config, "/api/v1/namespaces/"+namespace+"/pods?watch=1", "application/json")
	reading.Go(func() {
		defer func() { _ = body.Close() }()
		for lines := bufio.NewReaderSize(body, 64<<10); ; {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			_, rest, _ := bytes.Cut(line, []byte(`"resourceVersion":"`))
			version, _, _ := bytes.Cut(rest, []byte(`"`))
			byWatch.record(string(version))
		}
	})
	server := startOnCluster(t, subj.binary)
	defer server.end()
	viewer := newViewer(t, server, fmt.Sprintf(
		`{"op":"subscribe","id":1,"resource":"core/v1/pods","ns":[%q]}`, namespace,
	), &reading, func(frame []byte) {
		var m struct{ Events []struct{ RV string } }
		if json.Unmarshal(frame, &m) == nil {
			for _, e := range m.Events {
				bySocket.record(e.RV)
			}
		}
	})
	defer viewer.stop()
	<-viewer.complete
	var written []write
	callAtRate(writes, writeRate, func(i int) {
		patch := fmt.Sprintf(`{"status":{"message":"%d"}}`, i)
		start := time.Now()
		pod, err := core.Pods(namespace).Patch(
			t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status",
		)
		if err != nil {
			t.Fatal(err)
		}
		written = append(written, write{start, pod.ResourceVersion})
	})
	return eventually(t, byWatch, written), eventually(t, bySocket, written)
}

func eventually(t *testing.T, h *arrivals, written []write) delays {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 200 {
		if d := h.delaysAfter(written); d != nil {
			return d
		}
		<-tick.C
	}
	t.Fatalf("the last of %d writes was not received in time", len(written))
	return nil
}

// quietPod creates a pod that is never scheduled, so that only this test changes it.
func quietPod(t *testing.T, core *v1.CoreV1Client, namespace string) string {
	t.Helper()
	pod, err := core.Pods(namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "quiet-"},
		Spec: corev1.PodSpec{
			SchedulerName: "no-scheduler",
			Containers:    []corev1.Container{{Name: "web", Image: "registry.example/web:1.2.3"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pod.Name
}
