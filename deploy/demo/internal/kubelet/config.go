// Package kubelet writes the configuration of kwok, which simulates kubelets without running containers.
package kubelet

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
)

//go:embed stages/*.yaml fragments/*.yaml
var files embed.FS

// Options describes the simulated kubelets.
type Options struct {
	Restarts bool   // sometimes increase the restart count of pods in CrashLoopBackOff
	Logs     string // file for kubectl logs, in the format of a container runtime
	Previous string
	Forward  int // loopback port for kubectl port-forward to pods in namespace glasshouse
}

// Config returns the content of kwok's configuration file.
func Config(opts Options) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, header, opts.Logs, opts.Previous, opts.Forward)
	names := []string{"node", "healthy", "failing"}
	if opts.Restarts {
		names = append(names, "crash")
	}
	for _, name := range names {
		data, err := files.ReadFile("stages/" + name + ".yaml")
		if err != nil {
			return nil, fmt.Errorf("read the stages of kwok: %w", err)
		}
		text, err := expand(string(data))
		if err != nil {
			return nil, fmt.Errorf("read the stages of kwok for %s: %w", name, err)
		}
		out.WriteString("---\n" + text)
	}
	return out.Bytes(), nil
}

// header has no ClusterExec section. With this section, kwok would run commands from kubectl exec on this machine.
const header = `apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokConfiguration
options:
  podPlayStageParallelism: 16
  nodePlayStageParallelism: 8
  nodeLeaseParallelism: 4
  enableDebuggingHandlers: true
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: ClusterLogs
metadata: {name: every-pod}
spec:
  logs: [{logsFile: %q, previousLogsFile: %q, follow: true}]
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: ClusterPortForward
metadata: {name: glasshouse}
spec:
  selector: {matchNamespaces: [glasshouse]}
  forwards: [{ports: [8080], target: {address: 127.0.0.1, port: %d}}]
`

// expand replaces each line @name with the text of fragments/name.yaml, because kwok's stages cannot share text.
func expand(text string) (string, error) {
	var out strings.Builder
	for line := range strings.Lines(text) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "@")
		if !ok {
			out.WriteString(line)
			continue
		}
		fragment, err := files.ReadFile("fragments/" + name + ".yaml")
		if err != nil {
			return "", fmt.Errorf("include %s: %w", name, err)
		}
		indent := line[:strings.Index(line, "@")]
		for part := range strings.Lines(string(fragment)) {
			out.WriteString(indent + part)
		}
	}
	return out.String(), nil
}
