// Package kubelet writes the configuration for kwok, which simulates the kubelets of the demo cluster. The
// configuration contains stages, which define the states of a pod and how long each one lasts. The unmodified kwok
// writes these states to the API server. No container runs.
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
	Restarts bool   // increase the restart count of pods in CrashLoopBackOff from time to time
	Logs     string // log file that kubectl logs shows for every container, in the format of a container runtime
	Previous string // log file that kubectl logs --previous shows for every container
	Forward  int    // loopback port to which kubectl port-forward connects, for pods in namespace glasshouse
}

// Config returns a configuration file for kwok's flag --config.
func Config(opts Options) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, header, opts.Logs, opts.Previous, opts.Forward)
	names := []string{"node", "well", "ill"}
	if opts.Restarts {
		names = append(names, "crash")
	}
	for _, name := range names {
		data, err := files.ReadFile("stages/" + name + ".yaml")
		if err != nil {
			return nil, fmt.Errorf("read stages: %w", err)
		}
		text, err := expand(string(data))
		if err != nil {
			return nil, fmt.Errorf("read stages of %s: %w", name, err)
		}
		out.WriteString("---\n" + text)
	}
	return out.Bytes(), nil
}

// header is the start of the configuration file. kwok changes up to 16 pods at a time. Its "debugging handlers" serve
// kubectl logs and kubectl port-forward. The file contains no ClusterExec, because kwok would then run commands of
// kubectl exec on this machine.
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

// expand replaces each line that contains only @name by the YAML text in the file fragments/name.yaml, with the same
// indentation. Several stages share these texts, because kwok itself cannot share text between stages.
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
