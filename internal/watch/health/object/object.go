// Package object reads the JSON text of an object. It decodes only the members that determine the health of the object,
// such as the conditions.
package object

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// Object is a decoded JSON object. Its methods return the zero value for a missing member or an unexpected type.
type Object map[string]any

// Read decodes only members on which the health depends. Others, such as a ConfigMap's data, can be 1 MiB long.
func Read(text []byte) (Object, error) {
	o := Object{}
	c := jsonscan.NewCursor(text)
	err := c.Object(func(key []byte) error {
		switch name := string(key); name {
		case "apiVersion", "kind", "metadata", "spec", "status",
			"type", "reason", "message", "note", "firstTimestamp", "eventTime", "deprecatedFirstTimestamp": // Of an Event.
			raw, err := c.Value()
			if err != nil {
				return err
			}
			var value any
			if err := json.Unmarshal(raw, &value); err != nil {
				return fmt.Errorf("read %s: %w", name, err)
			}
			o[name] = value
		}
		return nil
	})
	o.readAnnotatedConditions()
	o.limitObserved()
	o.quoteErrors()
	return o, err
}

// readAnnotatedConditions adds the conditions of a HorizontalPodAutoscaler of autoscaling/v1 to its status. In this
// version of the API, the conditions are in an annotation.
func (o Object) readAnnotatedConditions() {
	if o.Text("apiVersion") != "autoscaling/v1" || o.Text("kind") != "HorizontalPodAutoscaler" {
		return
	}
	text := o.Text("metadata", "annotations", "autoscaling.alpha.kubernetes.io/conditions")
	status, conditions := o.Child("status"), []any(nil)
	if status != nil && json.Unmarshal([]byte(text), &conditions) == nil {
		status["conditions"] = conditions
	}
}

// limitObserved limits each observedGeneration to the generation of the object. After a restore from a backup, the
// observedGeneration in the status can be greater, because the generation of the new object starts with 1. kstatus and
// many scripts require that both are equal.
func (o Object) limitObserved() {
	generation, ok := o.value("metadata", "generation").(int64)
	status := o.Child("status")
	if !ok || status == nil {
		return
	}
	for _, observer := range append(o.Children("status", "conditions"), status) {
		if observed, ok := observer["observedGeneration"].(int64); ok && observed > generation {
			observer["observedGeneration"] = generation
		}
	}
}

// errorReferral matches a message that only refers to the errors next to it, such as "see Errors for details".
var errorReferral = regexp.MustCompile(`(?i)\bsee (?:the )?errors\b`)

// quoteErrors replaces texts that only refer to the list of errors in a condition, as those of Contour, by the first of
// these errors.
func (o Object) quoteErrors() {
	status := o.Child("status")
	for _, c := range o.Children("status", "conditions") {
		errors := c.Children("errors")
		if len(errors) == 0 || errors[0].Text("message") == "" || !errorReferral.MatchString(c.Text("message")) {
			continue
		}
		c["message"], c["reason"] = errors[0]["message"], cmp.Or(errors[0].Text("reason"), c.Text("reason"))
		if errorReferral.MatchString(status.Text("description")) {
			status["description"] = errors[0]["message"]
		}
	}
}

func (o Object) value(path ...string) any {
	var value any = map[string]any(o)
	for _, name := range path {
		members, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = members[name]
	}
	return value
}

// Text returns the text at a path of member names.
func (o Object) Text(path ...string) string {
	text, _ := o.value(path...).(string)
	return text
}

// Flag returns the boolean at a path.
func (o Object) Flag(path ...string) bool {
	flag, _ := o.value(path...).(bool)
	return flag
}

// Time returns the time at a path, and the zero Time for text that is not a time.
func (o Object) Time(path ...string) time.Time {
	at, _ := time.Parse(time.RFC3339, o.Text(path...))
	return at
}

// Created returns when the object was created.
func (o Object) Created() time.Time { return o.Time("metadata", "creationTimestamp") }

// Has reports whether the path leads to a value that is not null.
func (o Object) Has(path ...string) bool { return o.value(path...) != nil }

// Count returns the integer at a path.
func (o Object) Count(path ...string) int64 { return o.CountOr(0, path...) }

// CountOr returns the integer at a path, or fallback if there is none.
func (o Object) CountOr(fallback int64, path ...string) int64 {
	if count, ok := o.value(path...).(int64); ok {
		return count
	}
	return fallback
}

// Seconds returns the duration at a path, which is a number of seconds. It is 0 if there is none.
func (o Object) Seconds(path ...string) time.Duration {
	return time.Duration(o.Count(path...)) * time.Second
}

// Child returns the object at a path, or nil.
func (o Object) Child(path ...string) Object {
	members, _ := o.value(path...).(map[string]any)
	return members
}

// Children returns the objects of the array at a path.
func (o Object) Children(path ...string) (children []Object) {
	items, _ := o.value(path...).([]any)
	for _, item := range items {
		if members, ok := item.(map[string]any); ok {
			children = append(children, members)
		}
	}
	return children
}

// Texts returns the texts of the array at a path.
func (o Object) Texts(path ...string) (texts []string) {
	items, _ := o.value(path...).([]any)
	for _, item := range items {
		if text, ok := item.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// Group returns the API group, "" for the core group.
func (o Object) Group() string {
	group, _, ok := strings.Cut(o.Text("apiVersion"), "/")
	if !ok {
		return ""
	}
	return group
}

// IsNeverObserved reports whether the controller of the object has not yet written the object's status. The result can
// be true only for the kinds in this method, whose controllers always set status.observedGeneration.
func (o Object) IsNeverObserved() bool {
	switch o.Group() + "/" + o.Text("kind") {
	case "apps/Deployment", "apps/ReplicaSet", "apps/StatefulSet", "apps/DaemonSet", "/ReplicationController",
		"policy/PodDisruptionBudget":
		return o.Has("metadata", "generation") && !o.Has("status", "observedGeneration")
	}
	return false
}

// Addresses returns the addresses of a Service or an Ingress in status.loadBalancer.
func (o Object) Addresses() (found []string) {
	for _, entry := range o.Children("status", "loadBalancer", "ingress") {
		if address := entry.Text("ip") + entry.Text("hostname"); address != "" {
			found = append(found, address)
		}
	}
	return found
}
