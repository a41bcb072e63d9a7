package objectrefs

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Selector selects pods by their labels, in the namespace of the object that contains the selector.
type Selector struct {
	Via string

	selector labels.Selector
}

// Matches reports whether the Selector selects a pod with the labels in set.
func (s *Selector) Matches(set map[string]string) bool { return s.selector.Matches(labels.Set(set)) }

// String returns the selector in the syntax of kubectl's -l option. It is empty if the Selector selects all pods.
func (s *Selector) String() string { return s.selector.String() }

// SelectorOf returns a Selector for pods with all of the given labels. It returns nil if there are none, or if a label
// is invalid.
func SelectorOf(set map[string]string) *Selector {
	selector, err := labels.ValidatedSelectorFromSet(set)
	if err != nil || len(set) == 0 {
		return nil
	}
	return &Selector{selector: selector}
}

func selectorOf(o *Ref, spec []byte) *Selector {
	member := "selector"
	isLabelMap := false // true for a plain map of labels; unlike a LabelSelector, it selects nothing if it is empty
	switch o.Group + "/" + o.Kind {
	case "/Service", "/ReplicationController":
		isLabelMap = true
	case "apps/Deployment", "apps/ReplicaSet", "apps/StatefulSet", "apps/DaemonSet", "batch/Job",
		"policy/PodDisruptionBudget":
	case "networking.k8s.io/NetworkPolicy":
		member = "podSelector"
	default:
		return nil
	}
	var text []byte
	members(spec, func(key string, value []byte) {
		if key == member {
			text = value
		}
	})
	if text == nil {
		return nil
	}
	var labelSelector metav1.LabelSelector
	target := any(&labelSelector)
	if isLabelMap {
		target = &labelSelector.MatchLabels
	}
	if err := json.Unmarshal(text, target); err != nil || string(text) == "null" ||
		isLabelMap && len(labelSelector.MatchLabels) == 0 {
		return nil
	}
	selector, err := metav1.LabelSelectorAsSelector(&labelSelector)
	if err != nil {
		return nil
	}
	return &Selector{Via: "spec." + member, selector: selector}
}

// Required returns the labels that each selected pod has, as "name=value". The Selector can have further conditions.
func (s *Selector) Required() (required []string) {
	requirements, _ := s.selector.Requirements()
	for n := range requirements {
		if values := requirements[n].ValuesUnsorted(); len(values) == 1 &&
			(requirements[n].Operator() == selection.Equals || requirements[n].Operator() == selection.In) {
			required = append(required, requirements[n].Key()+"="+values[0])
		}
	}
	return required
}
