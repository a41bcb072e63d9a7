package admission

import (
	"regexp"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

var (
	accountPattern = regexp.MustCompile(
		`serviceaccounts? "([a-z0-9.-]+)" not found|error looking up service account [a-z0-9-]+/([a-z0-9.-]+)`)
	priorityPattern   = regexp.MustCompile(`no PriorityClass with name ([a-z0-9.-]+) was found`)
	runtimePattern    = regexp.MustCompile(`RuntimeClass "([a-z0-9.-]+)" not found`)
	terminatedPattern = regexp.MustCompile(`in namespace ([a-z0-9-]+) because it is being terminated`)
)

// missingForCreation explains a failed creation whose cause is a missing object that the API server names in message.
func missingForCreation(s *subject.Subject, message string) *verdict.Verdict {
	account := firstGroup(accountPattern, message)
	if s.ID.Namespace() == "" && account != "" {
		return missingInstaller(s, account, message)
	}
	for _, id := range []graph.ID{
		graph.NewID(graph.Kind{Kind: "ServiceAccount"}, s.ID.Namespace(), account),
		graph.NewID(graph.Kind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}, "", firstGroup(priorityPattern, message)),
		graph.NewID(graph.Kind{Group: "node.k8s.io", Kind: "RuntimeClass"}, "", firstGroup(runtimePattern, message)),
	} {
		if id.Name() == "" {
			continue
		}
		if n := s.Find(id); n.Presence != neighbor.Present {
			return s.ReportMissing(&n, verdict.Failed)
		}
	}
	return nil
}

// missingInstaller explains a cluster-scoped object, such as a ClusterExtension, by the missing ServiceAccount with
// which its controller installs objects. The spec must name this ServiceAccount, and its namespace. The message must
// name no other namespace.
func missingInstaller(s *subject.Subject, account, message string) *verdict.Verdict {
	spec := neighbor.Decode[struct {
		Spec struct {
			Namespace      string `json:"namespace"`
			ServiceAccount struct {
				Name string `json:"name"`
			} `json:"serviceAccount"`
		} `json:"spec"`
	}](s.Object).Spec
	if spec.Namespace == "" || spec.ServiceAccount.Name != account {
		return nil
	}
	hasNamespace := subject.HasNamespaceWord(message) || strings.Contains(message, "/"+account)
	isOwn := subject.ContainsName(message, spec.Namespace) || strings.Contains(message, " "+spec.Namespace+"/"+account)
	if hasNamespace && !isOwn {
		return nil
	}
	n := s.Find(graph.NewID(graph.Kind{Kind: "ServiceAccount"}, spec.Namespace, account))
	if subject.Follow(s, &n); n.Presence != neighbor.Missing {
		return nil
	}
	return s.ReportMissing(&n, verdict.Degraded)
}

// deletedNamespace explains a failed creation: the namespace is being deleted, and accepts no new objects.
func deletedNamespace(s *subject.Subject, message string) *verdict.Verdict {
	name := firstGroup(terminatedPattern, message)
	if name == "" {
		return nil
	}
	n := s.Find(graph.NewID(graph.Kind{Kind: "Namespace"}, "", name))
	if n.Object == nil {
		return nil // The namespace was deleted, or it is not known.
	}
	return s.ExplainBy(&n, s.Own.Severity, "NamespaceTerminating",
		n.String()+" is being deleted, and accepts no new objects")
}
