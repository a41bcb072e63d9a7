package cause

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/api"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

//nolint:gochecknoglobals // Constant.
var apiServiceKind = graph.Kind{Group: "apiregistration.k8s.io", Kind: "APIService"}

// maxAPIServices limits the APIServices that are read. There is one for each version of each API group.
const maxAPIServices = 20 * neighbor.Limit

// apiService explains why an APIService is not available, if the Service that serves the API is the cause.
func apiService(s *subject.Subject) *verdict.Verdict {
	if s.Own.Severity <= verdict.OK {
		return nil
	}
	called := neighbor.Decode[struct {
		Spec calledService `json:"spec"`
	}](s.Object).Spec
	if called.Service == nil {
		return nil
	}
	target := called.find(s)
	if s.HasProblem(&target) {
		return s.Inherit(&target, verdict.Failed, "Service "+called.Service.Namespace+"/"+called.Service.Name+": ")
	}
	v := called.serviceDown(s, &target, verdict.Failed)
	if v == nil {
		return unanswered(s, &target)
	}
	v.Sentence = "Not available: " + v.Sentence
	return v
}

// checkTime is the time in which the API server has checked a new APIService at least twice.
const checkTime = time.Minute

// unanswered reports a new APIService whose Service does not answer the API server, although its pods have been ready
// for a long time. If one of its pods is new, the APIService is possibly not available because of a rollout.
func unanswered(s *subject.Subject, service *neighbor.Neighbor) *verdict.Verdict {
	selector := s.Selector(service.ID)
	if s.Own.Severity != verdict.Progressing || s.Own.Reason != "FailedDiscoveryCheck" || selector == nil {
		return nil
	}
	subject.Follow(s, service)
	pods, isComplete := subject.PodsOf(s, service.ID.Namespace(), selector, neighbor.Limit)
	isOld := func(n neighbor.Neighbor) bool {
		pod := neighbor.Decode[corev1.Pod](n.Object)
		since := neighbor.ReadySince(&pod)
		return !since.IsZero() && subject.HasPassed(s, since.Add(subject.SettleTime))
	}
	isNew := func(n neighbor.Neighbor) bool { return !isOld(n) }
	if len(pods) == 0 || !isComplete || slices.ContainsFunc(pods, isNew) ||
		!subject.HasPassed(s, s.Object.Created().Add(checkTime)) {
		return nil
	}
	// ExplainAlone requires no permission for pods. The sentence is only about the APIService.
	return subject.ExplainAlone(s, verdict.Failed, s.Own.Reason, s.Own.Sentence)
}

// autoscaler explains an autoscaler's problem by its target, by an object in its metrics, or by the metrics API.
func autoscaler(s *subject.Subject) *verdict.Verdict {
	if s.Own.Severity <= verdict.OK {
		return nil
	}
	if target := s.FirstMissing(subject.In("spec.scaleTargetRef")); target != nil {
		return s.ReportMissing(target, verdict.Failed)
	}
	if target := s.FirstMissing(subject.In("spec.metrics")); target != nil {
		return s.ReportMissing(target, verdict.Degraded) // The other metrics of the autoscaler possibly work.
	}
	if v := api.WithoutSelector(s); v != nil {
		return v
	}
	for _, c := range neighbor.Conditions(s.Object, metav1.ConditionFalse) {
		group := api.MetricsAPI(c.Message)
		if group == "" {
			continue
		}
		services, isComplete := subject.AllOf(s, apiServiceKind, "", maxAPIServices)
		servesGroup := func(n neighbor.Neighbor) bool {
			_, of, _ := strings.Cut(n.ID.Name(), ".")
			return of == group
		}
		if at := slices.IndexFunc(services, servesGroup); at >= 0 {
			if !s.HasProblem(&services[at]) {
				return nil
			}
			return s.Inherit(&services[at], verdict.Failed, services[at].String()+": ")
		}
		n := s.Find(graph.NewID(apiServiceKind, "", "v1beta1."+group))
		if n.Presence == neighbor.Missing && isComplete {
			v := s.ReportMissing(&n, verdict.Failed)
			v.Sentence = fmt.Sprintf(
				"The cluster does not serve the API %s: no metrics server or metrics adapter is registered for it", group)
			v.Cause.Sentence = v.Sentence
			return v
		}
	}
	return nil
}
