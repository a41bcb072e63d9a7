// Package storage explains why PersistentVolumeClaims are not bound, and why pods wait for their volumes.
package storage

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/storage/backend"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Claim explains why a PersistentVolumeClaim is not bound.
func Claim(s *subject.Subject) *verdict.Verdict {
	o := neighbor.Decode[corev1.PersistentVolumeClaim](s.Object)
	switch {
	case s.Own.Reason == subject.Terminating:
		return claimInUse(s, &o)
	case s.Own.Severity == verdict.None:
		return nil
	}
	if o.Status.Phase == corev1.ClaimBound {
		return boundClaim(s, &o)
	}
	target := s.FirstMissing(func(u *graph.Use) bool {
		return slices.Contains([]string{"StorageClass", "VolumeAttributesClass", "PersistentVolume"}, u.Target.Kind.Kind)
	})
	unfit, hasVolumes := unfitVolume(s, &o)
	// A missing class is not a problem if an administrator has created volumes of this class.
	isStatic := hasVolumes && (o.Spec.VolumeName != "" || target != nil && target.ID.Kind.Kind == "StorageClass")
	if target != nil && !isStatic {
		return s.ReportMissing(target, verdict.Failed)
	}
	if v := unfilled(s); v != nil {
		return v
	}
	if v := claimedVolume(s, &o); v != nil {
		return v
	}
	if unfit != nil && isStatic {
		return unfit
	}
	className, isClassUnknown := o.Spec.StorageClassName, false
	if className != nil && *className != "" && o.Spec.VolumeName == "" {
		n := s.Find(graph.NewID(graph.Kind{Group: "storage.k8s.io", Kind: "StorageClass"}, "", *className))
		class := neighbor.Decode[storage.StorageClass](n.Object)
		if class.VolumeBindingMode != nil && *class.VolumeBindingMode == storage.VolumeBindingWaitForFirstConsumer {
			return waitingClaim(s, &o, &n)
		}
		isClassUnknown = n.Presence == neighbor.Unknown
		s.AddSource(n.Resource, n.ID.Namespace())
	}
	if v := provisioningFailure(s, "ProvisioningFailed", "FailedBinding", "VolumeMismatch"); v != nil {
		return v
	}
	if v := withoutProvisioner(s, &o); v != nil {
		return v
	}
	if isClassUnknown {
		return nil // This is possibly no problem: the class can delay the volume until a pod uses the claim.
	}
	return overdueClaim(s, whyUnbound(s, &o))
}

// unfilled explains a claim that is not bound because it waits for data from another object, such as a VolumeSnapshot.
func unfilled(s *subject.Subject) *verdict.Verdict {
	isSource := subject.In("spec.dataSource")
	if source := s.FirstMissing(isSource); source != nil && source.Resource != "" {
		return s.ReportMissing(source, verdict.Failed)
	}
	if source := s.Worst(slices.Collect(s.Used(isSource))); source != nil {
		return s.Inherit(source, verdict.Degraded, "Waits for data from "+source.String()+": ")
	}
	return nil
}

// withoutProvisioner explains a claim by the workload that should create its volume, but does not run.
func withoutProvisioner(s *subject.Subject, o *corev1.PersistentVolumeClaim) *verdict.Verdict {
	return subject.StoppedController(s, "provisioner", provisionerOf(o))
}

// provisionerOf returns the name of the provisioner that should create the volume of a claim, or "".
func provisionerOf(o *corev1.PersistentVolumeClaim) string {
	const annotation = "volume.kubernetes.io/storage-provisioner"
	return cmp.Or(o.Annotations[annotation], o.Annotations["volume.beta.kubernetes.io/storage-provisioner"])
}

// whyUnbound returns the likely reason why no volume is bound to a claim.
func whyUnbound(s *subject.Subject, o *corev1.PersistentVolumeClaim) string {
	switch {
	case o.Spec.Selector != nil:
		return "no volume has the labels of its selector, or its provisioner does not support selectors"
	case o.Spec.StorageClassName == nil && o.Spec.VolumeName == "" && !hasDefaultClass(s):
		return "it names no storage class, and the cluster has no default storage class"
	}
	return likelyUnbound
}

const likelyUnbound = "no volume matches it, or its provisioner does not run"

// hasDefaultClass reports whether the cluster has a default storage class. It also returns true if that is not known.
func hasDefaultClass(s *subject.Subject) bool {
	kind := graph.Kind{Group: "storage.k8s.io", Kind: "StorageClass"}
	all, isComplete := subject.AllOf(s, kind, "", neighbor.Limit)
	if !isComplete {
		return true // Not all classes are known. An unknown one is possibly the default.
	}
	s.AddSource("storage.k8s.io/v1/storageclasses", "")
	return slices.ContainsFunc(all, func(n neighbor.Neighbor) bool {
		class := neighbor.Decode[storage.StorageClass](n.Object)
		return class.Annotations["storageclass.kubernetes.io/is-default-class"] == "true"
	})
}

// provisioningFailure explains a claim by the newest event with one of the reasons.
func provisioningFailure(s *subject.Subject, reasons ...string) *verdict.Verdict {
	message := s.EventMessage(reasons...)
	if message == "" {
		return nil
	}
	if v := unregisteredProvisioner(s, message); v != nil {
		return v
	}
	cause := cmp.Or(requestedVolume(s, message), refusedOption(s, message), unfitSource(s, message), settings(s, message))
	if cause == nil {
		if n := backend.Broken(s, message); n != nil {
			v := s.Inherit(n, verdict.Failed, subject.Sentences(message, s.Name(n)+": "))
			v.Reason = "ProvisioningFailed"
			return v
		}
	}
	return s.Explain(verdict.Failed, "ProvisioningFailed", message, cause)
}

// requestedPattern matches the name of the volume that a claim requests, in an event which states why the volume does
// not fit.
var requestedPattern = regexp.MustCompile(`requested volume "([a-z0-9.-]+)"`)

// requestedVolume returns the volume that does not fit according to the message of an event, or nil.
func requestedVolume(s *subject.Subject, message string) *verdict.Cause {
	found := requestedPattern.FindStringSubmatch(message)
	if found == nil {
		return nil
	}
	n := s.Find(graph.NewID(graph.Kind{Kind: "PersistentVolume"}, "", found[1]))
	if n.Object == nil {
		return nil
	}
	return &verdict.Cause{Object: neighbor.ObjectOf(&n), Sentence: message}
}

// unfitPattern matches an error about the content or the type of a source of data.
var unfitPattern = regexp.MustCompile(`(?i)\b(?:not (?:bound|valid|ready|supported)|invalid|unsupported|smaller|` +
	`larger|less|greater|mismatch|match|different|incompatible)\b`)

// elsewherePattern matches an error of a server, which the source of data does not cause.
var elsewherePattern = regexp.MustCompile(`(?i)\b(?:timed out|timeout|deadline|connection|connect|dial|unavailable|` +
	`forbidden|denied|unauthorized|credentials?)\b`)

// sourcePattern matches words that name the source of data of a claim.
var sourcePattern = regexp.MustCompile(`(?i)\b(?:data ?source|source|clone|snapshot|restore)\b`)

// unfitSource returns the object from which a claim gets its data, if the message of an event names this object, and
// states that it does not fit. Otherwise, it returns nil. The object itself can be in order.
func unfitSource(s *subject.Subject, message string) *verdict.Cause {
	if !sourcePattern.MatchString(message) || !unfitPattern.MatchString(message) || elsewherePattern.MatchString(message) {
		return nil
	}
	for n := range s.Used(subject.In("spec.dataSource")) {
		if n.Object != nil && subject.ContainsName(message, n.ID.Name()) {
			return &verdict.Cause{Object: neighbor.ObjectOf(&n), Sentence: message}
		}
	}
	return nil
}

// overdueClaim returns the verdict on a claim that should be bound by now; likely is the likely reason. The claim's own
// verdict is not always a problem, because a storage class can delay the volume until a pod uses the claim.
func overdueClaim(s *subject.Subject, likely string) *verdict.Verdict {
	if s.Own.Reason != "NotBound" || s.Own.Severity.IsProblem() && likely == likelyUnbound {
		return nil
	}
	problem, _, _ := strings.Cut(s.Own.Sentence, ": ")
	return subject.ExplainAlone(s, verdict.Failed, s.Own.Reason, problem+": "+likely)
}

// claimedVolume explains a claim that names a volume which has a claimRef to another claim, or to a deleted one.
func claimedVolume(s *subject.Subject, o *corev1.PersistentVolumeClaim) *verdict.Verdict {
	if o.Spec.VolumeName == "" {
		return nil
	}
	n := s.Find(graph.NewID(graph.Kind{Kind: "PersistentVolume"}, "", o.Spec.VolumeName))
	owner := neighbor.Decode[corev1.PersistentVolume](n.Object).Spec.ClaimRef
	if owner == nil {
		return nil
	}
	var sentence string
	switch {
	case owner.Namespace != o.Namespace || owner.Name != o.Name:
		sentence = n.String() + " has a claimRef to another claim, " + owner.Namespace + "/" + owner.Name
	case owner.UID != "" && owner.UID != o.UID:
		sentence = n.String() + " still has a claimRef to a deleted claim with this name"
	default:
		return nil
	}
	return s.ExplainBy(&n, verdict.Failed, "VolumeClaimed", sentence)
}

// selectedNode is the annotation with the node that the scheduler has selected for the volume of a claim.
const selectedNode = "volume.kubernetes.io/selected-node"

// unselectedNode explains a claim that waits for the scheduler without success: the pod was created with a node name,
// so the scheduler ignores the pod, or the scheduler has selected a node that does not exist.
func unselectedNode(
	s *subject.Subject, o *corev1.PersistentVolumeClaim, pod *neighbor.Neighbor,
) *verdict.Verdict {
	if selected := o.Annotations[selectedNode]; selected != "" {
		node := s.Find(graph.NewID(graph.Kind{Kind: "Node"}, "", selected))
		if node.Presence != neighbor.Missing {
			return nil
		}
		v := s.ReportMissing(&node, verdict.Degraded)
		v.Sentence = "The scheduler selected " + node.String() + " for the volume, but this node does not exist"
		return v
	}
	p := neighbor.Decode[corev1.Pod](pod.Object)
	if p.Spec.NodeName == "" {
		return nil
	}
	return s.Explain(verdict.Failed, s.Own.Reason, "Not bound: the scheduler selects the node for the volume, but "+
		pod.String()+" was created with spec.nodeName, and bypasses the scheduler", nil)
}

// waitingClaim returns the verdict on a claim whose storage class delays the volume until a pod uses the claim.
func waitingClaim(
	s *subject.Subject, o *corev1.PersistentVolumeClaim, class *neighbor.Neighbor,
) *verdict.Verdict {
	pods := usersOf(s)
	if len(pods) == 0 {
		return &verdict.Verdict{
			Severity: verdict.OK, Reason: "WaitForFirstConsumer",
			Sentence: "Waits for the first pod that uses it, as " + class.String() + " requires",
			Cause:    &verdict.Cause{Object: neighbor.ObjectOf(class)},
		}
	}
	if v := waitingForPod(s, o, class, pods); v != nil {
		return v
	}
	if v := provisioningFailure(s, "ProvisioningFailed"); v != nil {
		return v
	}
	if v := withoutProvisioner(s, o); v != nil {
		return v
	}
	for n := range pods {
		if !pods[n].Object.Verdict().Own().Severity().IsProblem() {
			continue
		}
		if v := unselectedNode(s, o, &pods[n]); v != nil {
			return v
		}
		return overdueClaim(s, whyUnbound(s, o)) // The pod has a problem, so its claim should be bound by now.
	}
	return nil
}

// waitingForPod explains a claim by a pod that has no node yet, or by the class that keeps the pod from all nodes. If
// the scheduler has selected a node, but the volume cannot be created, the pod is the cause only if the scheduler then
// rejected the pod.
func waitingForPod(
	s *subject.Subject, o *corev1.PersistentVolumeClaim, class *neighbor.Neighbor, pods []neighbor.Neighbor,
) *verdict.Verdict {
	for n := range pods {
		p := neighbor.Decode[corev1.Pod](pods[n].Object)
		own := pods[n].Object.Verdict().Own().Unpack()
		if p.Spec.NodeName != "" || !own.Severity.IsProblem() {
			continue
		}
		if o.Annotations[selectedNode] != "" && own.Reason != corev1.PodReasonUnschedulable &&
			s.NewestEvent(isProvisioningFailure) != nil {
			continue
		}
		if v := outsideTopologies(s, o, class, &p); v != nil {
			return v
		}
		return s.Explain(verdict.Degraded, own.Reason, "Waiting for pod "+p.Name+": "+own.Why(),
			&verdict.Cause{Object: neighbor.ObjectOf(&pods[n]), Sentence: own.Why()})
	}
	return nil
}

func isProvisioningFailure(e *corev1.Event) bool {
	return e.Reason == "ProvisioningFailed" && e.Message != ""
}
