package kubelet_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/kubelet"
)

func TestConfigRestartsPodsOnlyWithLife(t *testing.T) {
	for name, test := range map[string]struct {
		restarts bool
		want     bool
	}{
		"with life":    {restarts: true, want: true},
		"without life": {restarts: false, want: false},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := kubelet.Config(kubelet.Options{
				Restarts: test.restarts, Logs: "/tmp/a.log", Previous: "/tmp/b.log", Forward: 18080,
			})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(data), "\n      @") {
				t.Error("a placeholder was not replaced")
			}
			if !strings.Contains(string(data), "target: {address: 127.0.0.1, port: 18080}") {
				t.Error("the configuration does not forward to the port")
			}
			if got := slices.Contains(stageNames(t, data), "pod-crash-restart"); got != test.want {
				t.Errorf("stage pod-crash-restart exists: got %v, want %v", got, test.want)
			}
		})
	}
}

func stageNames(t *testing.T, data []byte) []string {
	t.Helper()
	var found []string
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		var stage struct {
			Metadata struct{ Name string }
		}
		err := decoder.Decode(&stage)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, stage.Metadata.Name)
	}
}
