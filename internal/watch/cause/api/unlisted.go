package api

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Unlisted explains a custom resource without a status and without events by the workload of its controller, if this
// workload fails because the API server forbids it to list or watch the resource. Other programs also read custom
// resources, so the workload or one of its containers must have a name, or an image, that contains the project of the
// API group. Unlisted ignores a workload if another workload possibly runs the same program.
func Unlisted(s *subject.Subject) *verdict.Verdict {
	if !isUnhandled(s) {
		return nil
	}
	all, ok := subject.AllWorkloads(s, "Deployment", "StatefulSet", "DaemonSet")
	if !ok {
		return nil
	}
	group, plural := s.ID.Group, path.Base(s.Resource)
	forbidden := regexp.MustCompile(`cannot (?:list|watch) resource \\*"` + regexp.QuoteMeta(plural) +
		`\\*" in API group \\*"` + regexp.QuoteMeta(group) +
		`\\*" (?:at the cluster scope|in the namespace \\*"` + regexp.QuoteMeta(s.ID.Namespace()) + `\\*")`)
	for n := range all {
		w := &all[n]
		if !lacksPermission(w) || !isOfProject(w, projectOf(group)) || !s.HasProblem(w) {
			continue
		}
		subject.Follow(s, w)
		pod := failedPod(s, w)
		if pod == nil || !forbidden.MatchString(subject.CompleteSentence(subject.New(s.Cluster, *pod))) || isTwice(s, w) {
			continue
		}
		return s.Inherit(w, verdict.Degraded, "Not handled: "+s.Name(w)+" may not list "+plural+"."+group+": ")
	}
	return nil
}

// isUnhandled reports whether a custom resource that a person created is older than SettleTime, but has no status, no
// events and no problem. It returns false if the resource has no spec, is paused, or is being deleted.
func isUnhandled(s *subject.Subject) bool {
	if !bytes.Contains(s.Text(), []byte(`"spec":`)) || s.Own.Severity != verdict.None {
		return false // Without a spec, there is nothing for a controller to do.
	}
	o := neighbor.Decode[struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Status   map[string]any    `json:"status"`
	}](s.Object)
	return len(o.Status) == 0 && len(o.Metadata.OwnerReferences) == 0 && o.Metadata.DeletionTimestamp == nil &&
		s.NewestEvent(func(*corev1.Event) bool { return true }) == nil &&
		!symptom.HasPausedController(neighbor.Decode[map[string]any](s.Object)) && s.IsSettled()
}

// lacksPermission reports whether a workload has a problem because its service account lacks a permission.
func lacksPermission(w *neighbor.Neighbor) bool {
	if !w.Object.Verdict().Severity().IsProblem() || !w.Object.Verdict().IsInherited() {
		return false // This is so for most workloads, so do not decode their verdicts.
	}
	kinds := []string{"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ServiceAccount"}
	v := w.Object.Verdict().Unpack()
	return v.Cause != nil && !v.Cause.Missing && slices.Contains(kinds, v.Cause.Kind)
}

// failedPod returns the pod from which a workload inherits its problem, or nil.
func failedPod(s *subject.Subject, w *neighbor.Neighbor) *neighbor.Neighbor {
	n := *w
	for range 2 { // The first step can be a ReplicaSet.
		via := n.Object.Verdict().Unpack().Via
		if via == nil {
			return nil
		}
		n = s.Find(neighbor.IDOf(via))
		switch {
		case n.Object == nil:
			return nil
		case n.ID.Kind.Kind == "Pod":
			return &n
		}
	}
	return nil
}

// projectOf returns the part of an API group that names a project: strimzi in kafka.strimzi.io, and externaldns in
// externaldns.k8s.io.
func projectOf(group string) string {
	labels := strings.Split(strings.TrimSuffix(strings.TrimSuffix(group, ".x-k8s.io"), ".k8s.io"), ".")
	if strings.HasSuffix(group, "k8s.io") {
		return labels[len(labels)-1]
	}
	return labels[max(0, len(labels)-2)]
}

// isOfProject reports whether the name of a workload, or the name or the image of one of its containers, contains the
// name of a project. Hyphens do not count: external-dns is of the project externaldns.
func isOfProject(w *neighbor.Neighbor, project string) bool {
	names := []string{w.ID.Name()}
	for _, c := range subject.Template(w).Spec.Containers {
		names = append(names, c.Name, repository(c.Image))
	}
	plain := func(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", "") }
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(plain(name), plain(project)) })
}

// repository returns the path of an image without its registry, tag and digest.
func repository(image string) string {
	if host, rest, ok := strings.Cut(image, "/"); ok && strings.ContainsAny(host, ".:") {
		image = rest
	}
	image, _, _ = strings.Cut(image, "@")
	image, _, _ = strings.Cut(image, ":")
	return image
}

// isTwice reports whether another workload possibly runs the program of a workload.
func isTwice(s *subject.Subject, w *neighbor.Neighbor) bool {
	containers := subject.Template(w).Spec.Containers
	if len(containers) == 0 {
		return true
	}
	program := repository(containers[0].Image)
	same, ok := subject.Workloads(s, func(all []corev1.Container) bool {
		return slices.ContainsFunc(all, func(c corev1.Container) bool { return repository(c.Image) == program })
	}, program)
	return !ok || len(same) != 1
}
