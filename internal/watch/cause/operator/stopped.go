package operator

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	all, ok := subject.AllWorkloads(s, "Deployment", "StatefulSet")
	if !ok {
		return nil
	}
	found := slices.DeleteFunc(all, func(n neighbor.Neighbor) bool {
		named := operatorName.FindStringSubmatch(n.ID.Name())
		return named == nil || named[1] != product
	})
	return subject.StoppedWorkload(s, found, s.Own.Sentence) // It follows the workloads.
}

var (
	// canceled matches the phase of a run that was canceled. Without another rule, such a run has no problem.
	canceled = regexp.MustCompile(`(?i)^(?:canceled|cancelled|aborted)$`)
	// onPurpose matches a message about a run that a person or a newer run canceled.
	onPurpose = regexp.MustCompile(`(?i)\b(?:user|admin\w*|superseded|newer|replaced|manual\w*|requested)\b`)
)

// maxCanceled is the time after which a canceled run is no longer a problem.
const maxCanceled = 24 * time.Hour

// OfNamedWorkload explains a custom resource by the problem of the only workload of its namespace that its message
// names. The name must contain a hyphen, because another name is possibly an ordinary word. The name must differ from
// that of the resource, which messages often contain. A run that was canceled in the last day has a problem because of
// such a workload, although it reports no error.
func OfNamedWorkload(s *subject.Subject) *verdict.Verdict {
	status := neighbor.Decode[struct {
		Status struct {
			Phase               string      `json:"phase"`
			Message             string      `json:"message"`
			CompletionTimestamp metav1.Time `json:"completionTimestamp"`
		} `json:"status"`
	}](s.Object).Status
	isCanceled := canceled.MatchString(status.Phase)
	if isCanceled && (onPurpose.MatchString(status.Message) ||
		s.Now().Sub(status.CompletionTimestamp.Time) > maxCanceled) {
		return nil
	}
	text, severity := s.Own.Sentence, s.Own.Severity
	if isCanceled {
		text, severity = status.Message, verdict.Degraded
	}
	if !resource.IsCustom(s.ID.Group) || !severity.IsProblem() || !strings.Contains(text, "-") || subject.IsRemote(s) {
		return nil
	}
	var found []neighbor.Neighbor
	for _, name := range []string{"Deployment", "StatefulSet", "DaemonSet"} {
		kind := graph.Kind{Group: "apps", Kind: name}
		all, isComplete := subject.AllOf(s, kind, s.ID.Namespace(), maxObjects)
		if s.ID.Namespace() == "" || !isComplete {
			return nil
		}
		for n := range all {
			name := all[n].ID.Name()
			if name != s.ID.Name() && strings.Contains(name, "-") && subject.ContainsName(text, name) {
				subject.Follow(s, &all[n])
				found = append(found, all[n])
			}
		}
	}
	if len(found) != 1 || !s.HasProblem(&found[0]) {
		return nil
	}
	if cause := found[0].Object.Verdict().Unpack().Cause; cause != nil && cause.Missing {
		return nil // The resource is possibly the one that should create the missing object.
	}
	return s.Inherit(&found[0], verdict.Degraded, subject.Sentences(text, s.Name(&found[0])+": "))
}
