// Package kubelet writes the configuration that makes kwok act as the kubelets of the demo: which states a pod goes
// through, and how quickly. kwok is real and plays these stages against the API server; no container runs.
package kubelet

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
)

//go:embed stages/*.yaml fragments/*.yaml
var files embed.FS

// Options says what kubelets are wanted.
type Options struct {
	Restarts bool   // containers in CrashLoopBackOff are restarted now and then
	Logs     string // file that kubectl logs shows for every container, in the format of a container runtime
	Previous string // the same for kubectl logs --previous
	Forward  int    // port of this machine's loopback that kubectl port-forward leads to, from the pods of namespace glasshouse
}

// Config gives the file for kwok's --config.
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

// header lets 16 pods change at a time and answers kubectl logs and port-forward, which is what "debugging" stands for. There is no ClusterExec: that would run commands here.
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

// expand puts the fragment of that name, as far in, where a line is just @name: stages are templates of their own, and
// kwok gives them no way to share.
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
