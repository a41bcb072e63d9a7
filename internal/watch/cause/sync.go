package cause

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/connection"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

type argoApplication struct {
	Status struct {
		ControllerNamespace string `json:"controllerNamespace"`
		OperationState      struct {
			Phase      string      `json:"phase"`
			Message    string      `json:"message"`
			StartedAt  metav1.Time `json:"startedAt"`
			SyncResult struct {
				Resources []synced `json:"resources"`
			} `json:"syncResult"`
		} `json:"operationState"`
	} `json:"status"`
}

// synced is an object that a sync of an Argo CD Application applies.
type synced struct {
	Group     string `json:"group"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	HookType  string `json:"hookType"`  // Set for a hook: an object that exists only for the sync, such as a Job.
	HookPhase string `json:"hookPhase"` // The progress of the object in the sync, even if it is not a hook.
}

// runningSync explains a sync of an Argo CD Application that does not end: an object that it waits for has a problem or
// was deleted, or Argo CD repeats the sync after errors. Until the sync ends, the health of the Application does not
// change.
func runningSync(s *subject.Subject) *verdict.Verdict {
	if !bytes.Contains(s.Text(), []byte(`"phase":"Running"`)) {
		return nil
	}
	o := neighbor.Decode[argoApplication](s.Object)
	operation := &o.Status.OperationState
	if operation.Phase != "Running" || subject.IsRemote(s) {
		return nil
	}
	const effect = "The sync is waiting for "
	awaited, deleted := awaitedBy(s, operation.SyncResult.Resources)
	if worst := s.Worst(awaited); worst != nil {
		return s.Inherit(worst, verdict.Degraded, effect+worst.String()+": ")
	}
	switch isSlow := subject.HasPassed(s, operation.StartedAt.Add(subject.SettleTime)); {
	case !isSlow:
	case deleted != nil:
		v := s.ReportMissing(deleted, verdict.Degraded)
		v.Sentence = effect + deleted.String() + ", which does not exist"
		return v
	case strings.Contains(operation.Message, "Retrying attempt"):
		return subject.ExplainAlone(s, verdict.Degraded, "SyncFailed", "Argo CD is retrying the sync: "+operation.Message)
	}
	return nil
}

// noRepositoryServer matches an error of Argo CD about the connection to its repository server. While this server
// generates manifests, it calls plugins with gRPC too, but on Unix sockets.
var noRepositoryServer = regexp.MustCompile(`(?i)\b(?:(?:generate|generating) manifests?|load target state)\b.*` +
	`\bcode = Unavailable desc = (?:connection error|name resolver error|dns:|last connection error)`)

// notCompared explains an Application that Argo CD cannot compare with its repository, because its repository
// server does not run. The Service of this server is in the namespace of the controller. Its name depends on the
// installation, but ends with repo-server.
func notCompared(s *subject.Subject) *verdict.Verdict {
	text := subject.CompleteSentence(s)
	if !s.Own.Severity.IsProblem() || s.Own.Reason == subject.Terminating ||
		!noRepositoryServer.MatchString(text) || strings.Contains(text, "dial unix") {
		return nil
	}
	status := neighbor.Decode[argoApplication](s.Object).Status
	namespace := cmp.Or(status.ControllerNamespace, s.ID.Namespace())
	all, isComplete := subject.AllOf(s, graph.Kind{Kind: "Service"}, namespace, maxArgoServices)
	all = slices.DeleteFunc(all, func(n neighbor.Neighbor) bool { return !strings.HasSuffix(n.ID.Name(), "repo-server") })
	if !isComplete || len(all) != 1 {
		return nil // Several installations share the namespace.
	}
	server := connection.FailedServer(s, all[0].ID)
	if server == nil {
		return nil
	}
	return s.Inherit(server, verdict.Degraded, subject.Sentences(s.Own.Sentence, s.Name(server)+": "))
}

// maxArgoServices limits the Services that are searched for a server of Argo CD.
const maxArgoServices = 10 * neighbor.Limit

// awaitedBy returns the objects for which a sync waits, and the first hook that does not exist any more.
func awaitedBy(s *subject.Subject, resources []synced) (awaited []neighbor.Neighbor, deleted *neighbor.Neighbor) {
	for n := range resources {
		r := &resources[n]
		if r.HookPhase != "Running" || len(awaited) == neighbor.Limit {
			continue
		}
		target := s.Find(graph.NewID(graph.Kind{Group: r.Group, Kind: r.Kind}, r.Namespace, r.Name))
		subject.Follow(s, &target)
		awaited = append(awaited, target)
		isMissing := target.Presence == neighbor.Missing && target.Resource != ""
		if r.HookType != "" && isMissing && deleted == nil {
			deleted = &target
		}
	}
	return awaited, deleted
}
