package connection

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// noSharedMemory matches an error about too little shared memory.
var noSharedMemory = regexp.MustCompile(`(?i)\bshared memory segment\b.{0,100}\bno space left on device\b|` +
	`/dev/shm\b.{0,200}\bno space left on device\b|\bno space left on device\b.{0,100}/dev/shm\b|` +
	`\bout of shared memory\b.{0,100}\bshared memory limit\b|\b(?:shm)\b.{0,60}\bno space left on device\b`)

// serverSegment matches the name of a segment of PostgreSQL. The clients of the server also report errors about it.
var serverSegment = regexp.MustCompile(`"/PostgreSQL\.\d+"`)

const (
	sharedMemory = "/dev/shm"
	// sizeAnnotation is the annotation of a pod with which CRI-O changes the size of its shared memory.
	sizeAnnotation = "io.kubernetes.cri-o.ShmSize"
)

// sharedMemoryFailure explains a pod whose container, or whose server, has too little shared memory. If a pod mounts no
// volume at /dev/shm, container runtimes give each container only 64 MiB of it.
func sharedMemoryFailure(c *client, text string) *verdict.Verdict {
	if !noSharedMemory.MatchString(text) {
		return nil
	}
	if !serverSegment.MatchString(text) {
		if hasSharedMemory(&c.pod) {
			return nil
		}
		return subject.ExplainAlone(c.Subject, c.Own.Severity, c.Own.Reason,
			subject.Sentences(c.Own.Sentence, defaultSize("The pod")))
	}
	found, _ := hosts(text)
	for _, host := range found {
		for _, n := range c.services(host) {
			if n.ID.Kind != serviceKind || n.Object == nil || subject.IsSelectedBy(c.Subject, n.ID) {
				continue
			}
			subject.Follow(c.Subject, &n)
			server := limited(c, &n)
			if server == nil {
				return nil // The server has a volume for its shared memory, or its pods are unknown.
			}
			subject.Follow(c.Subject, server)
			return c.ExplainBy(server, c.Own.Severity, c.Own.Reason,
				subject.Sentences(c.Own.Sentence, defaultSize(c.Name(server))))
		}
	}
	return nil
}

func defaultSize(pod string) string {
	return pod + " mounts no volume at " + sharedMemory + ", so its shared memory has the default size (64 MiB)"
}

// limited returns the first pod of a Service, if all its pods have the default size of shared memory. Otherwise, it
// returns nil.
func limited(c *client, n *neighbor.Neighbor) *neighbor.Neighbor {
	pods, ok := podsOf(c, n.ID)
	if !ok {
		return nil
	}
	slices.SortFunc(pods, func(a, b neighbor.Neighbor) int { return strings.Compare(a.ID.Key, b.ID.Key) })
	if len(pods) == 0 || slices.ContainsFunc(pods, func(server neighbor.Neighbor) bool {
		p := neighbor.Decode[corev1.Pod](server.Object)
		return hasSharedMemory(&p)
	}) {
		return nil
	}
	return &pods[0]
}

// hasSharedMemory reports whether a pod can have more shared memory than the default size.
func hasSharedMemory(p *corev1.Pod) bool {
	isMount := func(m corev1.VolumeMount) bool {
		path := strings.TrimRight(m.MountPath, "/")
		return path == sharedMemory || path == "/dev"
	}
	containers := slices.Concat(p.Spec.InitContainers, p.Spec.Containers)
	return p.Spec.HostIPC || p.Annotations[sizeAnnotation] != "" ||
		slices.ContainsFunc(containers, func(of corev1.Container) bool {
			return slices.ContainsFunc(of.VolumeMounts, isMount)
		})
}
