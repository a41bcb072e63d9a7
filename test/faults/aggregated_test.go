package faults

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/glasshouse-project/glasshouse/test/faults/viewer"
)

// Not parallel, because CustomResourceDefinitions of other tests also make the program discover kinds.
//
// Invariant: I19.
func TestAPIServiceRegisteredAndRemoved(t *testing.T) {
	w := open(t, options{})
	k := newKind()
	k.group = k.plural + ".example.com" // Each API group has one server.
	eventually(t, 10*time.Second, "the program is ready", func() error { return ready(t, w.url) })
	picker := w.startViewers(1, viewer.Kinds())[0]
	// The program also discovers kinds when its watch of APIServices starts. Wait until then, so that only the watch
	// can report the new APIService.
	sleep(3 * time.Second)

	unregister := w.register(k, serve(t, k))
	waitUntilOffered(t, picker, k, true)
	want := viewer.Rows(k.ref())
	rows := w.startViewers(2, want)
	want.View = "table"
	rows = append(rows, w.startViewers(2, want)...)
	waitForState(t, 20*time.Second, "live", rows...)
	w.converges(5*time.Second, rows...)
	if n := rows[0].Len(); n != 1 {
		t.Errorf("got %d rows, want 1, so the test is not valid", n)
	}

	start := time.Now()
	unregister()
	waitUntilOffered(t, picker, k, false)
	waitForState(t, kindTimeout, "absent", rows...)
	eventually(t, kindTimeout, "the rows are removed", func() error { return checkNoRows(rows...) })
	t.Logf("the viewers got the state after %v", time.Since(start))
	if elapsed := time.Since(start); elapsed > kindTimeout {
		t.Errorf("the viewers got the state after %v, want at most %v", elapsed, kindTimeout)
	}
	checkNoFaults(t, append(rows, picker)...)
}

// serve starts an aggregated API server with one object, without streaming lists and without watch events.
func serve(t *testing.T, k kind) (port int) {
	t.Helper()
	respond := func(w http.ResponseWriter, status int, format string, args ...any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, format, args...)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/apis/"+k.group+"/v1", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, http.StatusOK, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"%s/v1","resources":[
			{"name":%q,"singularName":"","namespaced":false,"kind":%q,"verbs":["get","list","watch"]}]}`,
			k.group, k.plural, k.name)
	})
	mux.HandleFunc("/apis/"+k.ref(), func(w http.ResponseWriter, r *http.Request) {
		switch query := r.URL.Query(); {
		case query.Has("sendInitialEvents"):
			respond(
				w, http.StatusBadRequest,
				`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"BadRequest","code":400}`,
			)
		case query.Has("watch"):
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		default:
			respond(w, http.StatusOK, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},`+
				`"columnDefinitions":[{"name":"Name","type":"string"}],"rows":[
				{"cells":["one"],"object":{"kind":%q,"apiVersion":"%s/v1",`+
				`"metadata":{"name":"one","uid":"1","resourceVersion":"7"}}}]}`,
				k.name, k.group)
		}
	})
	server := httptest.NewTLSServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections() // Without this, Close would wait for open watches.
		server.Close()
	})
	address, ok := server.Listener.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("server listens on %s, want a TCP address", server.Listener.Addr())
	}
	return address.Port
}

func (w *testbed) register(k kind, port int) (unregister func()) {
	w.t.Helper()
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "aggregated"},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeExternalName, ExternalName: "localhost",
			Ports: []corev1.ServicePort{{Port: int32(port)}}, //nolint:gosec // A port fits into an int32.
		},
	}
	_, err := w.Core.CoreV1().Services(w.namespace).Create(w.t.Context(), service, metav1.CreateOptions{})
	check(w.t, err)
	apiServices := w.Dynamic.Resource(schema.GroupVersionResource{
		Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices",
	})
	name := "v1." + k.group
	_, err = apiServices.Create(w.t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"group": k.group, "version": "v1", "groupPriorityMinimum": int64(100), "versionPriority": int64(100),
			"insecureSkipTLSVerify": true,
			"service": map[string]any{
				"namespace": w.namespace, "name": service.Name, "port": int64(port),
			},
		},
	}}, metav1.CreateOptions{})
	check(w.t, err)
	unregister = sync.OnceFunc(func() {
		if err := apiServices.Delete(context.WithoutCancel(w.t.Context()), name, metav1.DeleteOptions{}); err != nil {
			w.t.Error(err)
		}
	})
	w.t.Cleanup(unregister)
	return unregister
}
