//go:build integration

package bench_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

func benchBytes(t *testing.T, subj subject, report *table) {
	t.Helper()
	core, namespace := newNamespace(t, subj.config)
	server := startOnCluster(t, subj.binary)
	defer server.end()
	var object, ofRows, ofObjects figures
	for i := range runs() {
		w := measureBytes(t, core, server, namespace, fmt.Sprintf("weighed-%d", i))
		object, ofRows, ofObjects = append(object, w.object), append(ofRows, w.rows...), append(ofObjects, w.objects...)
	}
	t.Logf("bytes per message: rows viewers %.0f, object viewers %.0f", ofRows, ofObjects)
	worst := func(f figures) figures { return figures{f.worst()} }
	const rows, objects = "bytes of a pod's status change, rows viewer", "bytes of a pod's status change, object viewer"
	report.add(row{rows, "the object", object, ofRows, bar{"at most 320", absolute, atMost(320)}})
	report.add(row{rows + ", worst", "the object", object, worst(ofRows), bar{"at most 320", absolute, atMost(320)}})
	report.add(row{objects, "the object", object, ofObjects, bar{"at most 1,024", absolute, atMost(1024)}})
	report.add(
		row{objects + ", worst", "the object", object, worst(ofObjects), bar{"at most 1,024", absolute, atMost(1024)}},
	)
}

type byteCounts struct {
	object        float64
	rows, objects figures
}

// measureBytes starts a pod, and measures each resulting update in bytes on the wire, both for a viewer of the rows and
// for a viewer of the object.
func measureBytes(t *testing.T, core *v1.CoreV1Client, server *child, namespace, name string) (w byteCounts) {
	t.Helper()
	var reading sync.WaitGroup
	watch := func(subscribe string, sizes *figures) (stop func()) {
		conn, in, err := open(server.address, subscribe)
		if err != nil {
			t.Fatal(err)
		}
		ready := make(chan struct{})
		reading.Go(func() {
			messages(t, in, func(m message) {
				switch {
				case bytes.HasSuffix(m.text, []byte(`"last":true}`)):
					close(ready)
				case bytes.Count(m.text, []byte(`{"op":"update"`)) == 1:
					*sizes = append(*sizes, float64(m.size))
					t.Logf("%d bytes: %s", m.size, m.text)
				}
			})
		})
		<-ready
		return func() { _ = conn.Close() }
	}
	stopRows := watch(fmt.Sprintf(`{"op":"subscribe","id":1,"resource":"core/v1/pods","ns":[%q]}`, namespace), &w.rows)
	stopObject := watch(
		fmt.Sprintf(
			`{"op":"subscribe","id":2,"resource":"core/v1/pods","ns":[%q],"view":"object","name":%q}`, namespace,
			name,
		),
		&w.objects,
	)
	_, err := core.Pods(namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "registry.example/web:1.2.3"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.object = float64(len(running(t.Context(), t, core, namespace, name)))
	<-time.After(time.Second)
	stopRows()
	stopObject()
	reading.Wait()
	if len(w.rows) == 0 || len(w.objects) == 0 {
		t.Fatalf("no event for the pod: %v", w)
	}
	return w
}

func running(ctx context.Context, t *testing.T, core *v1.CoreV1Client, namespace, name string) []byte {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for range 300 {
		<-tick.C
		text, err := core.RESTClient().Get().Namespace(namespace).Resource("pods").Name(name).
			SetHeader("Accept", "application/json").DoRaw(ctx)
		if err == nil && bytes.Contains(text, []byte(`"phase":"Running"`)) {
			return text
		}
	}
	t.Fatalf("pod %s did not start in time", name)
	return nil
}
