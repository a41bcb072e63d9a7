package cause

import (
	"fmt"
	"strings"

	admission "k8s.io/api/admissionregistration/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// binding reports a binding that grants nothing, because its role does not exist.
func binding(s *subject.Subject) *verdict.Verdict {
	return withoutTarget(s, "roleRef", "Grants nothing: ")
}

// withoutTarget reports a missing object to which the member refers. The sentence begins with the text in effect.
func withoutTarget(s *subject.Subject, member, effect string) *verdict.Verdict {
	target := s.FirstMissing(subject.In(member))
	if target == nil {
		return nil
	}
	v := s.ReportMissing(target, verdict.Degraded)
	v.Sentence = effect + v.Sentence
	return v
}

// policyBinding reports a binding of an admission policy whose policy or whose parameters do not exist.
func policyBinding(s *subject.Subject) *verdict.Verdict {
	if v := withoutTarget(s, "spec.policyName", "Enforces nothing: "); v != nil {
		return v
	}
	o := neighbor.Decode[admission.ValidatingAdmissionPolicyBinding](s.Object)
	ref := o.Spec.ParamRef
	denies := ref != nil && ref.ParameterNotFoundAction != nil && *ref.ParameterNotFoundAction == admission.DenyAction
	if !denies || ref.Name == "" {
		return nil
	}
	kind := graph.Kind{Group: admissionGroup, Kind: strings.TrimSuffix(s.ID.Kind.Kind, "Binding")}
	policy := s.Find(graph.NewID(kind, "", o.Spec.PolicyName))
	s.AddSource(policy.Resource, "")
	paramKind := neighbor.Decode[admission.ValidatingAdmissionPolicy](policy.Object).Spec.ParamKind
	if paramKind == nil {
		return nil
	}
	group, _, ok := strings.Cut(paramKind.APIVersion, "/")
	if !ok {
		group = ""
	}
	// If paramRef has no namespace, each request uses parameters in its own namespace. Named then omits namespaced kinds.
	for _, n := range s.Named(s.ID, &neighbor.Mention{
		Kind: paramKind.Kind, Group: group, Namespace: ref.Namespace, Name: ref.Name,
	}) {
		if n.ID.Group == group && n.Presence == neighbor.Missing && n.ID.Namespace() == ref.Namespace {
			severity, effect := effectOf(&policy)
			v := s.ReportMissing(&n, severity)
			v.Sentence = effect + v.Sentence
			return v
		}
	}
	return nil
}

// effectOf returns the severity of an error in a policy, and its effect as text. The default failure policy is Fail.
func effectOf(policy *neighbor.Neighbor) (severity verdict.Severity, effect string) {
	failure := neighbor.Decode[admission.ValidatingAdmissionPolicy](policy.Object).Spec.FailurePolicy
	if failure != nil && *failure == admission.Ignore {
		return verdict.Degraded, "Ignores all matching requests: "
	}
	return verdict.Failed, "Denies all matching requests: "
}

// policy reports an admission policy whose parameters have a kind that the cluster does not have.
func policy(s *subject.Subject) *verdict.Verdict {
	kind := neighbor.Decode[admission.ValidatingAdmissionPolicy](s.Object).Spec.ParamKind
	if kind == nil {
		return nil
	}
	group, _, ok := strings.Cut(kind.APIVersion, "/")
	if !ok {
		return nil // An API version without a slash is of the core group, which each cluster serves.
	}
	n := s.Find(graph.NewID(graph.Kind{Group: group, Kind: kind.Kind}, "", "-"))
	if n.Presence != neighbor.Missing || n.Resource != "" {
		return nil
	}
	severity, effect := verdict.Degraded, "Has no binding, and cannot be used: "
	if len(s.Users(s.ID, 1)) > 0 {
		severity, effect = effectOf(&s.Neighbor)
	}
	sentence := fmt.Sprintf("the cluster does not serve %s, the kind of its parameters (%s)", kind.Kind, kind.APIVersion)
	// ExplainAlone requires no permission for bindings. The sentence reveals only whether a binding exists, and each
	// viewer already sees this from the severity.
	return subject.ExplainAlone(s, severity, "ParamKindNotFound", effect+sentence)
}

// ingressClass reports an IngressClass whose parameters do not exist. It returns nil if the cluster does not serve the
// kind of the parameters, because some controllers use parameters for which no kind is defined.
func ingressClass(s *subject.Subject) *verdict.Verdict {
	if target := s.FirstMissing(subject.In("spec.parameters")); target != nil && target.Resource != "" {
		return s.ReportMissing(target, verdict.Degraded)
	}
	return nil
}
