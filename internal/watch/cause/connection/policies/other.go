package policies

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// otherKinds are kinds of policies that also permit or block connections. Their rules are not read.
var otherKinds = []graph.Kind{ //nolint:gochecknoglobals // Constant.
	{Group: "cilium.io", Kind: "CiliumNetworkPolicy"},
	{Group: "cilium.io", Kind: "CiliumClusterwideNetworkPolicy"},
	{Group: "crd.projectcalico.org", Kind: "NetworkPolicy"},
	{Group: "crd.projectcalico.org", Kind: "GlobalNetworkPolicy"},
	{Group: "projectcalico.org", Kind: "NetworkPolicy"},
	{Group: "projectcalico.org", Kind: "GlobalNetworkPolicy"},
	{Group: "policy.networking.k8s.io", Kind: "AdminNetworkPolicy"},
	{Group: "policy.networking.k8s.io", Kind: "BaselineAdminNetworkPolicy"},
	{Group: "policy.networking.k8s.io", Kind: "ClusterNetworkPolicy"},
}

// otherPolicy is a policy of one of otherKinds. Each kind has another field for the pods to which it applies.
type otherPolicy struct {
	Spec  *podFilter  `json:"spec"`
	Specs []podFilter `json:"specs"` // Only in policies of Cilium.
}

// podFilter contains the fields that select the pods to which a policy applies. Conditions in further fields exclude
// some of these pods.
type podFilter struct {
	EndpointSelector *metav1.LabelSelector `json:"endpointSelector"` // Cilium.
	NodeSelector     *metav1.LabelSelector `json:"nodeSelector"`     // Cilium, for nodes instead of pods.
	Selector         string                `json:"selector"`         // Calico.
	Subject          struct {
		Namespaces *metav1.LabelSelector `json:"namespaces"`
		Pods       *struct {
			NamespaceSelector metav1.LabelSelector `json:"namespaceSelector"`
			PodSelector       metav1.LabelSelector `json:"podSelector"`
		} `json:"pods"`
	} `json:"subject"` // The group policy.networking.k8s.io.
}

// HasOthers reports whether policies of other kinds than NetworkPolicy possibly apply to one of the pods of a
// namespace. Such policies can permit or block connections.
func HasOthers(s *subject.Subject, namespace string, pods []corev1.Pod) bool {
	n := s.Find(graph.NewID(graph.Kind{Kind: "Namespace"}, "", namespace))
	subject.Follow(s, &n)
	namespaceLabels := neighbor.Decode[metav1.PartialObjectMetadata](n.Object).Labels
	for _, kind := range otherKinds {
		for _, scope := range []string{namespace, ""} { // The empty namespace is for policies of the complete cluster.
			all, isComplete := subject.AllOf(s, kind, scope, neighbor.Limit)
			if !isComplete {
				return true
			}
			for n := range all {
				of := neighbor.Decode[otherPolicy](all[n].Object)
				if slices.ContainsFunc(pods, func(p corev1.Pod) bool {
					return of.canSelect(&selectable{p.Labels, namespaceLabels})
				}) {
					return true
				}
			}
		}
	}
	return false
}

// selectable contains the labels of a pod to which a policy can apply.
type selectable struct {
	labels          map[string]string
	namespaceLabels map[string]string // Nil if the labels of the namespace are unknown.
}

// canSelect reports whether a policy possibly applies to a pod.
func (p *otherPolicy) canSelect(at *selectable) bool {
	canSelect := func(f podFilter) bool { return f.canSelect(at) }
	isEmpty := p.Spec == nil && len(p.Specs) == 0
	return isEmpty || p.Spec != nil && canSelect(*p.Spec) || slices.ContainsFunc(p.Specs, canSelect)
}

func (f *podFilter) canSelect(at *selectable) bool {
	canMatch := func(selector *metav1.LabelSelector, set map[string]string) bool {
		_, err := metav1.LabelSelectorAsSelector(selector)
		return err != nil || set == nil || matches(selector, set)
	}
	switch pods := f.Subject.Pods; {
	case f.EndpointSelector != nil:
		return canMatch(plainLabels(f.EndpointSelector), at.labels)
	case f.NodeSelector != nil:
		return false
	case f.Subject.Namespaces != nil:
		return canMatch(f.Subject.Namespaces, at.namespaceLabels)
	case pods != nil:
		return canMatch(&pods.NamespaceSelector, at.namespaceLabels) && canMatch(&pods.PodSelector, at.labels)
	}
	return canSelect(f.Selector, at.labels)
}

// plainLabels returns a selector of Cilium with only those conditions that require a label of pods, so that it selects
// at least the same pods. It omits conditions that a pod without the label can meet, because Cilium ignores some labels
// of pods.
func plainLabels(of *metav1.LabelSelector) *metav1.LabelSelector {
	plain := &metav1.LabelSelector{MatchLabels: make(map[string]string)}
	for key, value := range of.MatchLabels {
		if name, ok := plainLabel(key); ok {
			plain.MatchLabels[name] = value
		}
	}
	for _, e := range of.MatchExpressions {
		isPositive := e.Operator == metav1.LabelSelectorOpIn || e.Operator == metav1.LabelSelectorOpExists
		if name, ok := plainLabel(e.Key); ok && isPositive {
			e.Key = name
			plain.MatchExpressions = append(plain.MatchExpressions, e)
		}
	}
	return plain
}

// plainLabel converts the name of a label in a selector of Cilium into the name of the label of pods. The name in the
// selector can begin with the source of the label, such as "k8s:". ok is false for labels that are not labels of pods.
func plainLabel(key string) (name string, ok bool) {
	name = strings.TrimPrefix(strings.TrimPrefix(key, "k8s:"), "any:")
	isOther := strings.Contains(name, ":") || strings.HasPrefix(name, "io.kubernetes.pod.") ||
		strings.HasPrefix(name, "io.cilium.k8s.")
	return name, !isOther
}

// labelEquals matches a condition on a label in a selector of Calico, such as app == 'db'.
var labelEquals = regexp.MustCompile(`^([A-Za-z0-9_./-]+) ?== ?(?:'([^']*)'|"([^"]*)")$`)

// derivedLabel matches the name of a label that Calico adds to pods: from the namespace or the service account.
var derivedLabel = regexp.MustCompile(`^(?:projectcalico\.org/|pcns\.|pcsa\.)`)

// canSelect reports whether a selector of Calico possibly selects a pod. It understands only conditions of the form
// labelEquals. If the selector combines several conditions by "&&", and the pod does not meet one of this form, the
// result is false.
func canSelect(selector string, set labels.Set) bool {
	if strings.ContainsAny(selector, "|()!") {
		return true
	}
	for condition := range strings.SplitSeq(selector, "&&") {
		found := labelEquals.FindStringSubmatch(strings.TrimSpace(condition))
		if found != nil && !derivedLabel.MatchString(found[1]) && set[found[1]] != found[2]+found[3] {
			return false
		}
	}
	return true
}
