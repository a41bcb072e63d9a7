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

// listedWarning finds a warning of the API server about an expression in the object. Admission policies have such
// warnings in status.typeChecking.expressionWarnings.
func listedWarning(status members, _ []condition, _ bool) *Symptom {
	warnings := status.child("typeChecking").children("expressionWarnings")
	for n := range warnings {
		if text := warnings[n].text("warning"); text != "" {
			return &Symptom{Reason: "TypeCheckFailed", Sentence: warnings[n].text("fieldRef") + ": " + text}
		}
	}
	return nil
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
