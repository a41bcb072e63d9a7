package symptom

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// unanswered finds a CertificateSigningRequest that is not approved, or that no signer signs. A client then waits
// without a certificate.
func unanswered(o members) *Symptom {
	if o.text("apiVersion") != "certificates.k8s.io/v1" || o.text("kind") != "CertificateSigningRequest" {
		return nil
	}
	signer := o.text("spec", "signerName")
	s := &Symptom{Reason: "NotApproved", Sentence: "The request to signer " + signer + " is not approved"}
	for _, c := range conditionsOf(o.child("status"), "", 0) {
		switch c.kind {
		case "Denied":
			return nil // A denial is a decision, and not a problem.
		case "Failed":
			return &Symptom{Reason: c.reason, Sentence: c.text(), Since: c.since}
		case "Approved":
			s = &Symptom{Reason: "NotSigned", Sentence: "Approved, but signer " + signer + " has not signed it", Since: c.since}
		}
	}
	if o.text("status", "certificate") != "" {
		return nil
	}
	return s
}

// wrongExpression finds an expression of an admission policy that does not fit the type of the objects.
//
// For the core group, the API server checks the types with the same resource name in all groups:
// https://pkg.go.dev/k8s.io/apiserver/pkg/admission/plugin/policy/validating. A policy for Services then has a warning
// about the Services of Knative, to which the policy does not apply. Such a warning does not count.
func wrongExpression(o members) *Symptom {
	warnings := o.child("status").child("typeChecking").children("expressionWarnings")
	for n := range warnings {
		// An expression has one warning for each type, such as "apps/v1, Kind=Deployment: ERROR: ...".
		for text := range strings.SplitSeq(warnings[n].text("warning"), "\n\n") {
			group, _, _ := strings.Cut(text, "/")
			if text != "" && appliesTo(o, group) {
				return &Symptom{Reason: "TypeCheckFailed", Sentence: warnings[n].text("fieldRef") + ": " + strings.TrimSpace(text)}
			}
		}
	}
	return nil
}

// appliesTo reports whether an admission policy possibly applies to objects of an API group.
func appliesTo(policy members, group string) bool {
	rules := policy.child("spec").child("matchConstraints").children("resourceRules")
	return len(rules) == 0 || slices.ContainsFunc(rules, func(rule members) bool {
		groups, _ := rule["apiGroups"].([]any)
		return slices.Contains(groups, any(group)) || slices.Contains(groups, any("*"))
	})
}

// resizes are the conditions of a pod whose resources are being changed.
var resizes = []string{"PodResizePending", "PodResizeInProgress"} //nolint:gochecknoglobals // Constant.

// Resize finds a requested change of a running pod's resources that the node has not completed.
func Resize(o map[string]any) (s Symptom, ok bool) {
	for _, c := range conditionsOf(members(o).child("status"), "", generationOf(o)) {
		if c.is("True") && slices.Contains(resizes, c.kind) {
			return *symptomOf(&c), true
		}
	}
	return Symptom{}, false
}

// messageIn returns the message in a text that is a JSON object. It returns other texts unchanged.
func messageIn(text string) string {
	decoded := members{}
	if json.Unmarshal([]byte(text), &decoded) != nil || textOf(decoded) == "" {
		return text
	}
	return textOf(decoded)
}

// maxRegistration is shortly before Karpenter gives up: after 15 minutes, because large machines start slowly.
const maxRegistration = 14 * time.Minute

// ProgressTimeout returns how long an object may be in progress. It returns normal, or less if the controller gives up
// earlier. Karpenter replaces a NodeClaim whose node does not register, so none is in progress for longer.
func ProgressTimeout(o map[string]any, normal time.Duration) time.Duration {
	group, _, _ := strings.Cut(members(o).text("apiVersion"), "/")
	isDone := func(c condition) bool { return c.kind == "Registered" && c.is("True") }
	if group != "karpenter.sh" || members(o).text("kind") != "NodeClaim" ||
		slices.ContainsFunc(conditionsOf(members(o).child("status"), "", 0), isDone) {
		return normal
	}
	return maxRegistration
}
