package cause

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"

	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// service explains why nothing answers a Service.
func service(s *subject) *verdict.Verdict {
	o := neighbor.Decode[corev1.Service](s.Object)
	selector := s.Selector(s.ID)
	if o.Spec.Type == corev1.ServiceTypeExternalName || selector == nil || o.Spec.PublishNotReadyAddresses {
		return nil
	}
	s.readsIn(podsRef, s.ID.Namespace())
	ids := s.Selected(s.ID.Namespace(), selector, neighbor.Limit)
	if len(ids) == 0 {
		if scaled := s.scaledToZero(&o); scaled != nil {
			sentence := fmt.Sprintf("Nothing answers: %s %s is scaled to zero", scaled.ID.Kind.Kind, scaled.ID.Name())
			return &verdict.Verdict{
				Severity: s.own.Severity, Reason: "ScaledToZero", Sentence: sentence,
				Cause: &verdict.Cause{Object: neighbor.ObjectOf(scaled), Sentence: sentence},
			}
		}
		if s.Find(graph.NewID(podKind, s.ID.Namespace(), "")).Presence != neighbor.Missing {
			return nil // The pods are not known completely.
		}
		return s.inherit(verdict.Failed, "NoPods",
			"Nothing answers: the selector "+selector.String()+" matches no pod", nil)
	}
	pods, ready := s.find(ids), 0
	var first *corev1.Pod
	var unready []neighbor.Neighbor
	isStarting := false
	for n := range pods {
		p := neighbor.Decode[corev1.Pod](pods[n].Object)
		if isReady(&p) {
			if ready++; first == nil {
				first = &p
			}
			continue
		}
		unready = append(unready, pods[n])
		isStarting = isStarting || pods[n].Object.Verdict().Severity() == verdict.Progressing
	}
	if ready > 0 {
		return s.portProblem(&o, first)
	}
	if len(pods) == 0 {
		return nil
	}
	sentence := fmt.Sprintf("Nothing answers: none of %d pods is ready", len(ids))
	if len(ids) == 1 {
		sentence = "Nothing answers: its pod is not ready"
	}
	if worst := s.worst(unready); worst != nil {
		return s.because(verdict.Failed, worst, sentence+". ")
	}
	severity := verdict.Failed
	if isStarting {
		severity = verdict.Progressing
	}
	return s.inherit(severity, "NoReadyPods", sentence, &verdict.Cause{
		Object: neighbor.ObjectOf(&unready[0]), Sentence: unready[0].Object.Verdict().Unpack().Sentence,
	})
}

func isReady(p *corev1.Pod) bool {
	for n := range p.Status.Conditions {
		if p.Status.Conditions[n].Type == corev1.PodReady {
			return p.Status.Conditions[n].Status == corev1.ConditionTrue
		}
	}
	return false
}

// scaledToZero returns a workload that is scaled to zero, and whose pods the Service would select, or nil.
func (s *subject) scaledToZero(o *corev1.Service) *neighbor.Neighbor {
	for _, kind := range []graph.Kind{
		{Group: "apps", Kind: "Deployment"},
		{Group: "apps", Kind: "StatefulSet"},
		{Kind: "ReplicationController"},
		{Group: "apps", Kind: "ReplicaSet"},
		{Group: "argoproj.io", Kind: "Rollout"},
	} {
		workloads := s.All(kind, s.ID.Namespace(), neighbor.Limit)
		for n := range workloads {
			w := neighbor.Decode[struct {
				Spec struct {
					Replicas *int64                 `json:"replicas"`
					Template corev1.PodTemplateSpec `json:"template"`
				} `json:"spec"`
			}](workloads[n].Object)
			if w.Spec.Replicas == nil || *w.Spec.Replicas != 0 {
				continue
			}
			matches := true
			for name, value := range o.Spec.Selector {
				matches = matches && w.Spec.Template.Labels[name] == value
			}
			if matches {
				return &workloads[n]
			}
		}
	}
	return nil
}

// portProblem reports a named target port that the pod does not have.
func (s *subject) portProblem(o *corev1.Service, p *corev1.Pod) *verdict.Verdict {
	for n := range o.Spec.Ports {
		target := o.Spec.Ports[n].TargetPort
		if target.Type != intstr.String || hasPort(p, target.StrVal) {
			continue
		}
		sentence := fmt.Sprintf("Nothing answers on port %s: no container has a port named %q",
			portText(&o.Spec.Ports[n]), target.StrVal)
		severity := verdict.Degraded
		if len(o.Spec.Ports) == 1 {
			severity = verdict.Failed
		}
		return s.inherit(severity, "NoSuchPort", sentence, nil)
	}
	return nil
}

func portText(p *corev1.ServicePort) string {
	if p.Name != "" {
		return p.Name
	}
	return strconv.Itoa(int(p.Port))
}

func hasPort(p *corev1.Pod, name string) bool {
	for _, containers := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for n := range containers {
			for _, port := range containers[n].Ports {
				if port.Name == name {
					return true
				}
			}
		}
	}
	return false
}
