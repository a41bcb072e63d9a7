package connection

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// FailedServer returns a Service that has failed, or the pod with the worst problem among the pods of the Service, if
// none of these pods is ready. Otherwise, it returns nil.
func FailedServer(s *subject.Subject, service graph.ID) *neighbor.Neighbor {
	n := s.Find(service)
	subject.Follow(s, &n)
	if subject.IsDown(s, &n) {
		return &n
	}
	return unreadyServer(s, &n)
}

// unreadyServer returns the pod with the worst problem among the pods of a Service, if none of these pods is ready.
// Otherwise, it returns nil. A Service with publishNotReadyAddresses has no problem although its pods do not work.
func unreadyServer(s *subject.Subject, service *neighbor.Neighbor) *neighbor.Neighbor {
	selector := s.Selector(service.ID)
	if service.Object == nil || selector == nil {
		return nil
	}
	pods, isComplete := subject.PodsOf(s, service.ID.Namespace(), selector, neighbor.Limit)
	for n := range pods {
		p := neighbor.Decode[corev1.Pod](pods[n].Object)
		if neighbor.IsReady(&p) {
			return nil
		}
		subject.Follow(s, &pods[n])
	}
	if !isComplete {
		return nil
	}
	s.AddSource(service.Resource, service.ID.Namespace())
	return s.Worst(pods)
}
