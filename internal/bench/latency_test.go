//go:build integration

package bench_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	v1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

const (
	writes    = 1000
	writeRate = 100
)

// TestBenchLatency compares when a write to the API server is heard of: by a
// client of the program's WebSocket, and by a raw HTTP watch of the API server.
// It also weighs the frames of one pod that comes up.
func TestBenchLatency(t *testing.T) {
	if os.Getenv("GLASSHOUSE_BENCH") == "" {
		t.Skip("takes minutes and a cluster: make bench runs it")
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	core, err := v1.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	namespace, err := core.Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	binary := build(t)
	var raw, ours []delays
	for range runs() {
		a, b := measureDelays(t, config, core, namespace.Name, binary)
		raw, ours = append(raw, a), append(ours, b)
	}
	var table rows
	table.add("write to event, ms, p50", median(raw, delays.p50), median(ours, delays.p50), "at most + 2 ms")
	table.add("write to event, ms, p99", median(raw, delays.p99), median(ours, delays.p99), "at most + 10 ms")
	object, rowsBytes, patches := weigh(t, core, namespace.Name, binary)
	table.add("bytes of a status change, rows viewer", object, rowsBytes, "at most 320 B")
	table.add("bytes of a status change, object viewer", object, patches, "at most 1,024 B")
	table.log(t)
}

// delays are in milliseconds, shortest first.
type delays []float64

func (d delays) p50() float64 { return d[len(d)/2] }
func (d delays) p99() float64 { return d[len(d)*99/100] }

// heard notes when each resourceVersion came.
type heard struct {
	mu sync.Mutex
	at map[string]time.Time
}

func (h *heard) note(version string) {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at[version] = now
}

// since are the delays after the writes, nil while the last has not been heard
// of. One that was folded into a later one is heard of with that.
func (h *heard) since(written []write) delays {
	h.mu.Lock()
	defer h.mu.Unlock()
	var d delays
	var at time.Time
	for _, w := range slices.Backward(written) {
		if t, ok := h.at[w.version]; ok {
			at = t
		}
		if at.IsZero() {
			return nil
		}
		d = append(d, float64(at.Sub(w.start).Microseconds())/1000)
	}
	slices.Sort(d)
	return d
}

// write is one write and what it made.
type write struct {
	start   time.Time
	version string
}

func measureDelays(t *testing.T, config *rest.Config, core *v1.CoreV1Client, namespace, binary string) (raw, ours delays) {
	t.Helper()
	name := quietPod(t, core, namespace)
	byWatch, bySocket := &heard{at: map[string]time.Time{}}, &heard{at: map[string]time.Time{}}
	ctx, cancel := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	defer reading.Wait()
	defer cancel()
	open := make(chan struct{})
	reading.Go(func() { rawWatch(ctx, t, config, namespace, byWatch, open) })
	server := onCluster(t, binary)
	defer server.end()
	frames := listen(ctx, t, server, fmt.Sprintf(`{"op":"subscribe","id":1,"resource":"core/v1/pods","ns":[%q]}`, namespace), &reading, func(frame []byte) {
		var m struct{ Events []struct{ RV string } }
		if json.Unmarshal(frame, &m) == nil {
			for _, e := range m.Events {
				bySocket.note(e.RV)
			}
		}
	})
	<-open
	<-frames // The snapshot.
	var written []write
	pace(writes, writeRate, func(i int) {
		patch := fmt.Sprintf(`{"status":{"message":"%d"}}`, i)
		start := time.Now()
		pod, err := core.Pods(namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
		if err != nil {
			t.Fatal(err)
		}
		written = append(written, write{start, pod.ResourceVersion})
	})
	return eventually(t, byWatch, written), eventually(t, bySocket, written)
}

func eventually(t *testing.T, h *heard, written []write) delays {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 200 {
		if d := h.since(written); d != nil {
			return d
		}
		<-tick.C
	}
	t.Fatalf("the last of %d writes was not heard of", len(written))
	return nil
}

// quietPod is a pod that nobody schedules.
func quietPod(t *testing.T, core *v1.CoreV1Client, namespace string) string {
	t.Helper()
	pod, err := core.Pods(namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "quiet-"},
		Spec:       corev1.PodSpec{SchedulerName: "nobody", Containers: []corev1.Container{{Name: "web", Image: "registry.example/web:1.2.3"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pod.Name
}

func rawWatch(ctx context.Context, t *testing.T, config *rest.Config, namespace string, h *heard, open chan<- struct{}) {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Error(err)
		return
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/api/v1/namespaces/"+namespace+"/pods?watch=1", nil)
	if err != nil {
		t.Error(err)
		return
	}
	response, err := client.Do(request)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = response.Body.Close() }()
	close(open)
	lines := bufio.NewReaderSize(response.Body, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		_, rest, _ := bytes.Cut(line, []byte(`"resourceVersion":"`))
		version, _, _ := bytes.Cut(rest, []byte(`"`))
		h.note(string(version))
	}
}

func onCluster(t *testing.T, binary string) *child {
	t.Helper()
	return spawn(t, exec.CommandContext(context.WithoutCancel(t.Context()), binary, "--listen", "127.0.0.1:0", "--log-level", "warn")) //nolint:gosec // Built above.
}

// listen subscribes, hands on each frame of events, and tells when the snapshot
// has come.
func listen(ctx context.Context, t *testing.T, server *child, subscribe string, reading *sync.WaitGroup, take func(frame []byte)) <-chan struct{} {
	t.Helper()
	conn, _, err := websocket.Dial(ctx, "ws://"+server.address+"/api/v1/live", &websocket.DialOptions{Subprotocols: []string{"glasshouse.v1+json"}})
	if err == nil {
		conn.SetReadLimit(64 << 20)
		err = conn.Write(ctx, websocket.MessageText, []byte(subscribe))
	}
	if err != nil {
		t.Fatal(err)
	}
	whole := make(chan struct{})
	reading.Go(func() {
		defer func() { _ = conn.CloseNow() }()
		for {
			_, frame, err := conn.Read(ctx)
			switch {
			case err != nil:
				return
			case bytes.Contains(frame[:min(40, len(frame))], []byte(`"type":"events"`)):
				take(frame)
			case bytes.HasSuffix(frame, []byte(`"last":true}`)):
				close(whole)
			}
		}
	})
	return whole
}

// weigh lets a pod come up and returns the bytes of the object, and the median
// of those of the frames with one update for both kinds of viewer.
func weigh(t *testing.T, core *v1.CoreV1Client, namespace, binary string) (object, ofRows, ofPatches float64) {
	t.Helper()
	server := onCluster(t, binary)
	defer server.end()
	ctx, cancel := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	defer reading.Wait()
	defer cancel()
	const name = "weighed"
	var mu sync.Mutex
	sizes := map[string][]float64{}
	for view, more := range map[string]string{"rows": "", "object": `,"name":"` + name + `"`} {
		subscribe := fmt.Sprintf(`{"op":"subscribe","id":1,"resource":"core/v1/pods","ns":[%q],"view":%q%s}`, namespace, view, more)
		whole := listen(ctx, t, server, subscribe, &reading, func(frame []byte) {
			if strings.Count(string(frame), `{"op":"update"`) == 1 {
				t.Logf("%s viewer, %d bytes: %s", view, len(frame), frame)
				mu.Lock()
				defer mu.Unlock()
				sizes[view] = append(sizes[view], float64(len(frame)+4)) // And its header.
			}
		})
		<-whole
	}
	_, err := core.Pods(namespace).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "registry.example/web:1.2.3"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for range 200 {
		<-tick.C
		text, err := core.RESTClient().Get().Namespace(namespace).Resource("pods").Name(name).DoRaw(ctx)
		if err == nil && bytes.Contains(text, []byte(`"phase":"Running"`)) {
			object = float64(len(text))
			break
		}
	}
	<-time.After(time.Second) // The last frames.
	mu.Lock()
	defer mu.Unlock()
	if object == 0 || len(sizes["rows"]) == 0 || len(sizes["object"]) == 0 {
		t.Fatalf("the pod has not come up: %v", sizes)
	}
	self := func(v float64) float64 { return v }
	return object, median(sizes["rows"], self), median(sizes["object"], self)
}
