// Package seed puts things on the demo cluster: nodes, the workload of a company that sells things, and as many more pods as
// are wanted. All of it can be done again on a cluster that has it already.
package seed

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// The workload, one file for each team. Comments right above an object are directives:
//
//	# by: NAME          field manager that applies it; above the first object, that of the whole file.
//	                    kubectl-client-side-apply makes it as kubectl apply does without --server-side
//	# status-by: NAME   applies its status as well, in this name
//	# then: delete      deletes the pod once it runs; its finalizers keep it there
//
//go:embed workload/*.yaml
var workload embed.FS

// clientSide is the manager whose objects carry kubectl.kubernetes.io/last-applied-configuration.
const clientSide = "kubectl-client-side-apply"

// Item is one object of the workload and how it comes to be.
type Item struct {
	Object   *unstructured.Unstructured
	By       string
	StatusBy string
	Delete   bool
}

// Workload gives all of it. Times are told from now.
func Workload(now time.Time) ([]Item, error) {
	entries, err := workload.ReadDir("workload")
	if err != nil {
		return nil, fmt.Errorf("read workload: %w", err)
	}
	var items []Item
	for _, entry := range entries {
		data, err := workload.ReadFile("workload/" + entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read workload: %w", err)
		}
		more, err := parse(data, now)
		if err != nil {
			return nil, fmt.Errorf("read workload %s: %w", entry.Name(), err)
		}
		items = append(items, more...)
	}
	return items, nil
}

func parse(data []byte, now time.Time) ([]Item, error) {
	head, rest, _ := bytes.Cut(data, []byte("\n---\n"))
	whole := directives(head)
	var items []Item
	for doc := range bytes.SplitSeq(rest, []byte("\n---\n")) {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(doc, &object.Object); err != nil {
			return nil, fmt.Errorf("object %d: %w", len(items)+1, err)
		}
		if status, ok := object.Object["status"].(map[string]any); ok {
			if err := resolveTimes(status, now); err != nil {
				return nil, fmt.Errorf("%s: %w", object.GetName(), err)
			}
		}
		own := directives(doc)
		items = append(items, Item{
			Object:   object,
			By:       first(own["by"], whole["by"]),
			StatusBy: own["status-by"],
			Delete:   own["then"] == "delete",
		})
	}
	return items, nil
}

func directives(doc []byte) map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(string(doc)) {
		comment, ok := strings.CutPrefix(line, "# ")
		if !ok {
			break
		}
		if name, value, ok := strings.Cut(comment, ": "); ok {
			found[name] = strings.TrimSpace(value)
		}
	}
	return found
}

func first(names ...string) string {
	return names[max(0, slices.IndexFunc(names, func(name string) bool { return name != "" }))]
}

// resolveTimes puts a time in the place of each "ago 36h": a date in a file would be old soon.
func resolveTimes(fields map[string]any, now time.Time) error {
	for key, value := range fields {
		text, _ := value.(string) // others stay as they are
		ago, ok := strings.CutPrefix(text, "ago ")
		if !ok {
			continue
		}
		before, err := time.ParseDuration(ago)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		fields[key] = now.Add(-before).UTC().Format(time.RFC3339)
	}
	return nil
}
