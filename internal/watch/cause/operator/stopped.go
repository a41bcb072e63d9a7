package operator

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// operatorName matches the usual names of the workloads of operators, such as zookeeper-operator.
var operatorName = regexp.MustCompile(`^([a-z0-9-]+?)-(?:operator|controller)(?:-controller)?(?:-manager)?$`)

// Unhandled explains a custom resource that has no status, and is not ready according to its health script: the
// workload of its operator does not run. The name of the workload starts with the word with which the API group and the
// kind start, as zookeeper-operator does for a ZookeeperCluster of zookeeper.example.com. If one of several workloads
// with such a name runs, Unhandled returns nil.
func Unhandled(s *subject.Subject) *verdict.Verdict {
	product, _, _ := strings.Cut(s.ID.Group, ".")
	isProduct := len(s.ID.Kind.Kind) > len(product) && strings.EqualFold(s.ID.Kind.Kind[:len(product)], product)
	hasStatus := bytes.Contains(s.Text(), []byte(`"status":{"`))
	if s.Own.Severity <= verdict.OK || !isProduct || hasStatus || !s.IsSettled() || isPaused(s) {
		return nil
	}
	var found []neighbor.Neighbor
	for _, name := range []string{"Deployment", "StatefulSet"} {
		kind := graph.Kind{Group: "apps", Kind: name}
		all := s.All(kind, neighbor.AnyNamespace, maxObjects)
		if len(all) == maxObjects || !subject.KnowsAll(s, kind, "") {
			return nil
		}
		for n := range all {
			named := operatorName.FindStringSubmatch(all[n].ID.Name())
			if named != nil && named[1] == product {
				found = append(found, all[n])
			}
		}
	}
	return subject.StoppedWorkload(s, found, s.Own.Sentence) // It follows the workloads.
}

// canceled matches the phase of a run that was canceled. Without another rule, such a run has no problem.
var canceled = regexp.MustCompile(`(?i)^(?:canceled|cancelled|aborted)$`)

// OfNamedWorkload explains a custom resource by the problem of the only workload of its namespace that its message
// names. The name must contain a hyphen, because another name is possibly an ordinary word. A run that was canceled has
// a problem because of such a workload, although it reports no error.
func OfNamedWorkload(s *subject.Subject) *verdict.Verdict {
	status := neighbor.Decode[struct {
		Status struct {
			Phase   string `json:"phase"`
			Message string `json:"message"`
		} `json:"status"`
	}](s.Object).Status
	isCanceled := canceled.MatchString(status.Phase)
	text, severity := s.Own.Sentence, s.Own.Severity
	if isCanceled {
		text, severity = status.Message, verdict.Degraded
	}
	isPerson := isCanceled && strings.Contains(strings.ToLower(text), "user")
	if !resource.IsCustom(s.ID.Group) || !severity.IsProblem() || isPerson || !strings.Contains(text, "-") {
		return nil
	}
	var found []neighbor.Neighbor
	for _, name := range []string{"Deployment", "StatefulSet", "DaemonSet"} {
		kind := graph.Kind{Group: "apps", Kind: name}
		all := s.All(kind, s.ID.Namespace(), maxObjects)
		if s.ID.Namespace() == "" || len(all) == maxObjects || !subject.KnowsAll(s, kind, s.ID.Namespace()) {
			return nil
		}
		for n := range all {
			if strings.Contains(all[n].ID.Name(), "-") && subject.ContainsName(text, all[n].ID.Name()) {
				subject.Follow(s, &all[n])
				found = append(found, all[n])
			}
		}
	}
	if len(found) != 1 || !s.HasProblem(&found[0]) {
		return nil
	}
	return s.Inherit(&found[0], verdict.Degraded, subject.Sentences(text, s.Name(&found[0])+": "))
}
