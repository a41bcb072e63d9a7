package operator

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// unavailable matches a message that something which runs for the resource is not available.
var unavailable = regexp.MustCompile(`(?i)\b(?:unavailable|offline|unreachable|` +
	`not (?:yet )?(?:available|ready|online|running|connected|reachable)|no (?:ready|available|running))\b`)

// OfWorkload explains a custom resource that is not available by the problem of a workload that its controller created
// for it without an owner reference. Labels of the workload contain the name and the kind of the resource. For example,
// the label "gateway.networking.k8s.io/gateway-name: web" names a Gateway.
func OfWorkload(s *subject.Subject) *verdict.Verdict {
	// The pattern would match this prefix, with which the program replaces the name of a condition.
	message := strings.TrimPrefix(s.Own.Sentence, "Not ready: ")
	if !s.Own.Severity.IsProblem() || !unavailable.MatchString(message) {
		return nil
	}
	all, ok := subject.AllWorkloads(s, "Deployment", "StatefulSet", "DaemonSet")
	if !ok {
		return nil
	}
	var found []neighbor.Neighbor
	for n := range all {
		if !all[n].Object.Verdict().Severity().IsProblem() {
			continue // Most workloads have no problem.
		}
		if text, _ := all[n].Object.JSON(); !bytes.Contains(text, []byte(`"`+s.ID.Name()+`"`)) {
			continue
		}
		own := neighbor.Decode[metav1.PartialObjectMetadata](all[n].Object).Labels
		if isFor(s, &all[n], own) || isFor(s, &all[n], subject.Template(&all[n]).Labels) {
			subject.Follow(s, &all[n])
			found = append(found, all[n])
		}
	}
	worst := s.Worst(found)
	if worst == nil {
		s.RevisitAt(s.Now().Add(recheckInterval)) // A workload can fail later than the resource.
		return nil
	}
	v := s.Inherit(worst, verdict.Degraded, subject.Sentences(s.Own.Sentence, s.Name(worst)+": "))
	v.Reason = s.Own.Reason
	return v
}

// recheckInterval is the time after which a resource that is not available is evaluated again.
const recheckInterval = time.Minute

// isFor reports whether labels of a workload name the subject and its kind. Without a label for the namespace of the
// subject, the workload must be in this namespace, unless the subject has none.
func isFor(s *subject.Subject, n *neighbor.Neighbor, labels map[string]string) bool {
	isNamed, isOfKind := false, false
	isHere := s.ID.Namespace() == "" || s.ID.Namespace() == n.ID.Namespace()
	for key, value := range labels {
		member := key[strings.LastIndexByte(key, '/')+1:]
		if member == key || strings.HasPrefix(key, "app.kubernetes.io/") {
			member = "" // Words such as app and instance in usual keys are no kinds.
		}
		if strings.HasSuffix(member, "namespace") && namesKind(member, s.ID.Kind.Kind) {
			if value != s.ID.Namespace() {
				return false
			}
			isHere = true
			continue
		}
		isNamed = isNamed || value == s.ID.Name()
		isOfKind = isOfKind || value == s.ID.Name() && namesKind(member, s.ID.Kind.Kind) ||
			value == s.ID.Kind.Kind || value == hyphenated(s.ID.Kind.Kind) || value == strings.ToLower(s.ID.Kind.Kind)
	}
	return isNamed && isOfKind && isHere
}

// namesKind reports whether a key such as owning-gateway-name contains a kind.
func namesKind(key, kind string) bool {
	return slices.ContainsFunc([]string{strings.ToLower(kind), hyphenated(kind)}, func(word string) bool {
		return strings.Contains("-"+key+"-", "-"+word+"-")
	})
}

// hyphenated returns a kind in lower case, with hyphens: storage-agent for StorageAgent.
func hyphenated(kind string) string {
	return strings.ToLower(strings.Join(words.FindAllString(kind, maxLists), "-"))
}
