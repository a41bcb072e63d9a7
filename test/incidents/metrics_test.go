package incidents

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const metricsGroup = "external.metrics.k8s.io"

// serveMetrics registers an API of external metrics. The value of a metric is the number at the end of its name.
func serveMetrics(t *testing.T, c *testCluster) {
	t.Helper()
	mux := http.NewServeMux()
	respond := func(w http.ResponseWriter, format string, args ...any) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, format, args...)
	}
	mux.HandleFunc("/apis/"+metricsGroup+"/v1beta1", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"%s/v1beta1","resources":[]}`, metricsGroup)
	})
	mux.HandleFunc("/apis/"+metricsGroup+"/v1beta1/namespaces/", func(w http.ResponseWriter, r *http.Request) {
		metric := path.Base(r.URL.Path)
		respond(w, `{"kind":"ExternalMetricValueList","apiVersion":"%s/v1beta1","metadata":{},"items":[`+
			`{"metricName":%q,"metricLabels":{},"timestamp":%q,"value":%q}]}`,
			metricsGroup, metric, time.Now().UTC().Format(time.RFC3339), metric[strings.LastIndex(metric, "-")+1:])
	})
	server := httptest.NewTLSServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	address, ok := server.Listener.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("server listens on %s, want a TCP address", server.Listener.Addr())
	}
	namespace, port := prefix+"metrics", int64(address.Port)
	for _, object := range []map[string]any{
		{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespace}},
		{
			"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "metrics", "namespace": namespace},
			"spec": map[string]any{
				"type": "ExternalName", "externalName": "localhost", "ports": []any{map[string]any{"port": port}},
			},
		},
		{
			"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
			"metadata": map[string]any{"name": "v1beta1." + metricsGroup},
			"spec": map[string]any{
				"group": metricsGroup, "version": "v1beta1", "groupPriorityMinimum": int64(100),
				"versionPriority": int64(100), "insecureSkipTLSVerify": true,
				"service": map[string]any{"namespace": namespace, "name": "metrics", "port": port},
			},
		},
	} {
		if err := c.apply(t.Context(), &unstructured.Unstructured{Object: object}, namespace); err != nil {
			t.Fatal(err)
		}
	}
}
