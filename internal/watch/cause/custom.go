package cause

import (
	"bytes"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/admission"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/api"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/mention"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/mesh"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/node"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/operator"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/operator/rival"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/placement"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/storage/backend"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// custom explains the problem of a custom resource by a missing object, or by an object that it uses or owns.
func custom(s *subject.Subject) *verdict.Verdict {
	if s.Own.Reason == subject.Terminating {
		if v := waitsFor(s, s.OwnedObjects()); v != nil {
			return v
		}
		if v := api.BlockedDrain(s); v != nil {
			return v
		}
		if v := operator.Dependent(s); v != nil {
			return v
		}
		return mention.MissingAtDeletion(s)
	}
	if v := superseded(s); v != nil {
		return v
	}
	if v := missing(s); v != nil {
		return v
	}
	if s.Own.Severity > verdict.OK {
		if worst := s.Worst(slices.DeleteFunc(slices.Collect(s.Used(nil)), s.IsDependent)); worst != nil {
			return subject.InheritWithError(s, worst)
		}
	}
	worst := s.Worst(s.OwnedObjects())
	if worst != nil && (s.Own.Severity != verdict.OK || !subject.IsComplete(&s.Neighbor)) {
		if v := operator.OfReference(s, worst); v != nil {
			return v
		}
		return subject.InheritWithError(s, worst)
	}
	return explained(s)
}

// missing explains a custom resource by a missing object to which it refers. Of several missing objects, it prefers an
// object whose name is in a message of the custom resource.
func missing(s *subject.Subject) *verdict.Verdict {
	target := mention.MissingUse(s)
	if target != nil && mention.IsNamed(s, target) {
		return reportMissing(s, target)
	}
	if v := mention.MissingObject(s); v != nil {
		return v
	}
	if v := mention.MissingReference(s, target != nil); v != nil || target == nil {
		return v
	}
	v := reportMissing(s, target)
	if target.Resource == "" && s.Own.Sentence != "" { // Keep the resource's own error: it can have another reason.
		v.Reason, v.Sentence = s.Own.Reason, subject.Sentences(s.Own.Sentence, v.Sentence)
	}
	return v
}

func reportMissing(s *subject.Subject, target *neighbor.Neighbor) *verdict.Verdict {
	severity := verdict.Degraded
	if s.Own.Severity == verdict.Progressing {
		severity = verdict.Failed
	}
	return s.ReportMissing(target, severity)
}

// virtualService explains a VirtualService of Istio. If custom finds no cause, it checks for a subset that is missing,
// and for a failed Gateway.
func virtualService(s *subject.Subject) *verdict.Verdict {
	if v := custom(s); v != nil {
		return v
	}
	if v := mesh.Subset(s); v != nil {
		return v
	}
	return mesh.Entry(s)
}

// istioGateway explains a Gateway of Istio. It first checks for a missing certificate, and then calls custom. If both
// find no cause, it checks whether the Gateway selects a pod.
func istioGateway(s *subject.Subject) *verdict.Verdict {
	if v := mesh.Credential(s); v != nil {
		return v
	}
	if v := custom(s); v != nil {
		return v
	}
	return mesh.Gateway(s)
}

// explained tries the rules for a custom resource whose used and owned objects have no problem: its messages, the
// objects that its status or a message names, its controller, and its events.
func explained(s *subject.Subject) *verdict.Verdict {
	for _, rule := range []rule{
		workingJob, node.Guest, mention.Object, mention.MissingPart, mention.ReferenceProblem, statusProblem,
		mention.Selecting, placement.UnselectedNamespace, backend.BucketStore, unhandled, operator.Waiting,
		operator.OfLabeled, operator.OfWorkload, operator.OfNamedWorkload, operator.OfNamespace, operator.Unreached,
		operator.Unhandled,
	} {
		if v := rule(s); v != nil {
			return v
		}
	}
	switch {
	case s.Own.Severity.IsProblem():
		return admission.Failure(s, subject.CompleteSentence(s))
	case s.Own.Severity == verdict.None:
		return mention.RepeatedWarning(s)
	}
	return nil
}

// workingJob explains a custom resource by the problem of the Job that does its work. By convention, status.jobName
// contains the name of this Job, for example in a HelmChart of K3s.
func workingJob(s *subject.Subject) *verdict.Verdict {
	if s.Own.Severity == verdict.OK || !bytes.Contains(s.Text(), []byte(`"jobName":`)) {
		return nil
	}
	name := neighbor.Decode[struct {
		Status struct {
			JobName string `json:"jobName"`
		} `json:"status"`
	}](s.Object).Status.JobName
	if name == "" || subject.IsComplete(&s.Neighbor) {
		return nil
	}
	jobs := s.Named(s.ID, &neighbor.Mention{Kind: "Job", Group: "batch", Name: name})
	if worst := s.Worst(jobs); worst != nil {
		return subject.InheritWithError(s, worst)
	}
	return nil
}

// unhandled explains a class, such as a GatewayClass, by the workload of the controller that its spec names, if this
// controller does not run. All conditions of such a class are Unknown, because only its controller changes them.
func unhandled(s *subject.Subject) *verdict.Verdict {
	isWaiting := s.Own.Severity.IsProblem() && bytes.Contains(s.Text(), []byte(`"controllerName":`)) &&
		len(neighbor.Conditions(s.Object, metav1.ConditionUnknown)) > 0
	if !isWaiting || len(neighbor.Conditions(s.Object, metav1.ConditionTrue)) > 0 ||
		len(neighbor.Conditions(s.Object, metav1.ConditionFalse)) > 0 {
		return nil
	}
	return subject.StoppedController(s, "", neighbor.Decode[struct {
		Spec struct {
			ControllerName string `json:"controllerName"`
		} `json:"spec"`
	}](s.Object).Spec.ControllerName)
}

// application explains an Application of Argo CD by the repository server of Argo CD, by the worst problem of the
// resources that it manages, by a sync that does not end, or by another Application with the same resources.
func application(s *subject.Subject) *verdict.Verdict {
	if s.Own.Severity <= verdict.OK {
		if v := runningSync(s); v != nil {
			return v
		}
		return rival.SharedResource(s)
	}
	if v := notCompared(s); v != nil {
		return v
	}
	if subject.IsRemote(s) {
		return custom(s)
	}
	o := neighbor.Decode[struct {
		Status struct {
			Resources []struct {
				Group     string `json:"group"`
				Kind      string `json:"kind"`
				Namespace string `json:"namespace"`
				Name      string `json:"name"`
			} `json:"resources"`
		} `json:"status"`
	}](s.Object)
	var managed []neighbor.Neighbor
	for _, r := range o.Status.Resources[:min(neighbor.Limit, len(o.Status.Resources))] {
		managed = append(managed, s.Find(graph.NewID(graph.Kind{Group: r.Group, Kind: r.Kind}, r.Namespace, r.Name)))
	}
	if worst := s.Worst(managed); worst != nil {
		return s.Inherit(worst, s.Own.Severity, worst.String()+": ")
	}
	if v := runningSync(s); v != nil {
		return v
	}
	return custom(s)
}
