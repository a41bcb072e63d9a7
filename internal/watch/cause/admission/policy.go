package admission

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

var (
	policyDenied = regexp.MustCompile(
		`ValidatingAdmissionPolicy '([^']+)'(?: with binding '[^']+')? denied request:? ?(.*)`)
	// kyvernoDenied matches the two forms of the messages of Kyverno: `resource Pod/shop/web was blocked due to the
	// following policies require-labels: check-team: ...` and `Policy require-labels failed: ...`.
	kyvernoDenied = regexp.MustCompile(`(?:\bresource [A-Za-z]+/([a-z0-9-]*)/\S* was blocked due to the following ` +
		`policies:? |\bkyverno\.svc\S* denied the request:? Policy )([a-z0-9][a-z0-9.-]*)(?: failed| error)?: (.*)`)
	// gatekeeperDenied matches a message of Gatekeeper. The constraint is in brackets.
	gatekeeperDenied = regexp.MustCompile(
		`\bgatekeeper\.sh\S* denied the request:? \[(?:denied by )?([a-z0-9][a-z0-9.-]*)\] (.*)`)
	// podSecurity matches a message about a Pod Security Standard. The second group captures its level.
	podSecurity = regexp.MustCompile(`is forbidden: (violates PodSecurity "([a-z]+):.*)`)
	// appliedObject matches the object in a message of a deployment tool, such as "Pod/shop/job dry-run failed". The
	// group captures its namespace.
	appliedObject = regexp.MustCompile(`\b[A-Z][A-Za-z]+/([a-z0-9-]+)/[a-z0-9.-]+`)
)

// maxDetail limits the part of a message that explains a denial, in bytes.
const maxDetail = 300

// denied returns a verdict about the object n that denied a request. by is the name of the object in the sentence.
func denied(s *subject.Subject, n *neighbor.Neighbor, by, detail string) *verdict.Verdict {
	return s.ExplainBy(n, verdict.Failed, "Denied", by+" denied a request: "+message.Line(detail, maxDetail))
}

func policyDenial(s *subject.Subject, text string) *verdict.Verdict {
	found := policyDenied.FindStringSubmatch(onOneLine(text))
	if found == nil {
		return nil
	}
	n := s.Find(graph.NewID(graph.Kind{Group: registrationGroup, Kind: "ValidatingAdmissionPolicy"}, "", found[1]))
	subject.Follow(s, &n)
	if n.Presence == neighbor.Missing {
		return nil // The policy was deleted after the failure.
	}
	n.Resource = cmp.Or(n.Resource, registrationGroup+"/v1/validatingadmissionpolicies")
	return denied(s, &n, n.String(), found[2])
}

// engineDenial explains a message of a policy engine by the policy of Kyverno or the constraint of Gatekeeper that it
// names first.
func engineDenial(s *subject.Subject, text string) *verdict.Verdict {
	text = onOneLine(text)
	var domain, namespace, name, detail string
	if found := kyvernoDenied.FindStringSubmatch(text); found != nil {
		domain, namespace, name, detail = "kyverno.io", found[1], found[2], found[3]
	} else if found := gatekeeperDenied.FindStringSubmatch(text); found != nil {
		domain, name, detail = "constraints.gatekeeper.sh", found[1], found[2]
	} else {
		return nil
	}
	isOfEngine := func(group string) bool { return group == domain || strings.HasSuffix(group, "."+domain) }
	candidates := subject.OfAllKinds(s, isOfEngine, namespace, name)
	candidates = slices.DeleteFunc(candidates, func(n neighbor.Neighbor) bool {
		isPolicy := strings.HasSuffix(n.ID.Kind.Kind, "Policy") || n.ID.Group == "constraints.gatekeeper.sh"
		return n.Object == nil || !isPolicy // Kyverno also has kinds such as PolicyException.
	})
	if len(candidates) != 1 {
		return nil // The policy was deleted after the failure, or the name is ambiguous.
	}
	return denied(s, &candidates[0], s.Name(&candidates[0]), detail)
}

// podSecurityDenial explains a message that a pod violates a Pod Security Standard by the namespace whose label
// enforces this standard.
func podSecurityDenial(s *subject.Subject, text string) *verdict.Verdict {
	found := podSecurity.FindStringSubmatch(onOneLine(text))
	if found == nil {
		return nil
	}
	namespace := subject.TargetNamespace(s)
	if applied := appliedObject.FindStringSubmatch(text); applied != nil {
		namespace = applied[1]
	}
	n := s.Find(graph.NewID(graph.Kind{Kind: "Namespace"}, "", namespace))
	subject.Follow(s, &n)
	labels := neighbor.Decode[metav1.PartialObjectMetadata](n.Object).Labels
	if labels["pod-security.kubernetes.io/enforce"] != found[2] {
		return nil // The configuration of the API server enforces the standard, or the label was changed.
	}
	return denied(s, &n, n.String(), message.Admission(found[1]))
}

// Denial returns the policy or the webhook configuration that denied a request of a controller, such as a change of the
// scale by an autoscaler, according to a sentence, or nil.
func Denial(s *subject.Subject, sentence string) *verdict.Cause {
	if subject.IsRemote(s) {
		return nil
	}
	for _, explain := range []func(*subject.Subject, string) *verdict.Verdict{
		engineDenial, policyDenial, webhookDenial, conditionFailure,
	} {
		if v := explain(s, sentence); v != nil {
			return &verdict.Cause{Object: v.Cause.Object, Sentence: sentence}
		}
	}
	return nil
}

func onOneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
