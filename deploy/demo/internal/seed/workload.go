// Package seed creates the objects of the demo cluster: nodes, a fictional shop, and additional pods. Its functions
// are idempotent.
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

// workload contains one YAML file per team. Comments right above an object are directives, as described in Item.
//
//go:embed workload/*.yaml
var workload embed.FS

// clientSide is the field manager of objects that are created as kubectl apply does without --server-side.
const clientSide = "kubectl-client-side-apply"

// Item is one object of the workload, with its directives (YAML comments).
type Item struct {
	Object        *unstructured.Unstructured
	Manager       string // Field manager, from "# by: NAME" above the object or at the start of its file.
	StatusManager string // Field manager of the status, from "# status-by: NAME" above the object.
	Delete        bool   // From "# then: delete". Finalizers keep the deleted pod in status Terminating.
}

// Workload returns all objects of the workload, with absolute times instead of "ago 36h".
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
		fileItems, err := parse(data, now)
		if err != nil {
			return nil, fmt.Errorf("read workload %s: %w", entry.Name(), err)
		}
		items = append(items, fileItems...)
	}
	return items, nil
}

func parse(data []byte, now time.Time) ([]Item, error) {
	head, rest, _ := bytes.Cut(data, []byte("\n---\n"))
	fileDirectives := directives(head)
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
		objectDirectives := directives(doc)
		items = append(items, Item{
			Object:        object,
			Manager:       firstNonEmpty(objectDirectives["by"], fileDirectives["by"]),
			StatusManager: objectDirectives["status-by"],
			Delete:        objectDirectives["then"] == "delete",
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

func firstNonEmpty(names ...string) string {
	return names[max(0, slices.IndexFunc(names, func(name string) bool { return name != "" }))]
}

// resolveTimes replaces relative times, such as "ago 36h", with absolute times. The files have relative times, because
// absolute ones would soon be too old.
func resolveTimes(fields map[string]any, now time.Time) error {
	for key, value := range fields {
		text, _ := value.(string)
		ageText, ok := strings.CutPrefix(text, "ago ")
		if !ok {
			continue
		}
		age, err := time.ParseDuration(ageText)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		fields[key] = now.Add(-age).UTC().Format(time.RFC3339)
	}
	return nil
}
