package backend

import (
	"regexp"
	"slices"
	"strings"

	storage "k8s.io/api/storage/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// unanswered matches an error of a provisioner whose request to the storage takes too long. The provisioner repeats the
// request, but waits until the earlier one ends.
var unanswered = regexp.MustCompile(
	`(?i)\bdeadline ?exceeded\b|\ban operation with the given volume id \S+ already exists\b`)

// brokenCeph returns the object of Rook because of which Ceph creates no volume for a claim: the pool or the file
// system of the storage class, if the message of an event names it, or the CephCluster, if it cannot write data, and
// does not answer. Rook uses the namespace of a CephCluster as its ID.
func brokenCeph(s *subject.Subject, class *storage.StorageClass, message string) *neighbor.Neighbor {
	namespace := class.Parameters["clusterID"]
	if !strings.HasSuffix(class.Provisioner, "csi.ceph.com") || namespace == "" {
		return nil
	}
	for _, part := range [][2]string{{"pool", "CephBlockPool"}, {"fsName", "CephFilesystem"}} {
		name := class.Parameters[part[0]]
		if name == "" || !subject.ContainsName(message, name) {
			continue
		}
		of := s.Find(graph.NewID(cephKind(part[1]), namespace, name))
		subject.Follow(s, &of)
		if s.HasProblem(&of) {
			return &of
		}
	}
	clusters := s.All(cephKind("CephCluster"), namespace, neighbor.Limit)
	if !unanswered.MatchString(message) || len(clusters) != 1 {
		return nil
	}
	subject.Follow(s, &clusters[0])
	if !s.HasProblem(&clusters[0]) || !isBlocked(&clusters[0]) {
		return nil
	}
	return &clusters[0]
}

// BucketStore explains a claim for a bucket that Rook does not create: the object store of the storage class is
// missing, or has a problem. Rook reports this only in its log.
func BucketStore(s *subject.Subject) *verdict.Verdict {
	if s.ID.Kind != (graph.Kind{Group: "objectbucket.io", Kind: "ObjectBucketClaim"}) || s.Own.Severity <= verdict.OK {
		return nil
	}
	for n := range s.Used(subject.In("spec.storageClassName")) {
		class := neighbor.Decode[storage.StorageClass](n.Object)
		namespace, name := class.Parameters["objectStoreNamespace"], class.Parameters["objectStoreName"]
		if !strings.HasSuffix(class.Provisioner, ".ceph.rook.io/bucket") || namespace == "" || name == "" {
			continue
		}
		store := s.Find(graph.NewID(cephKind("CephObjectStore"), namespace, name))
		subject.Follow(s, &store)
		s.AddSource(n.Resource, "")
		effect := subject.Sentences(s.Own.Sentence, n.String()+" uses "+s.Name(&store))
		switch {
		case s.HasProblem(&store):
			return s.Inherit(&store, verdict.Degraded, effect+": ")
		case store.Presence == neighbor.Missing && store.Resource != "":
			cause := s.MissingCause(&store)
			return s.Explain(verdict.Degraded, s.Own.Reason, effect+", which does not exist", cause)
		}
	}
	return nil
}

func cephKind(kind string) graph.Kind { return graph.Kind{Group: "ceph.rook.io", Kind: kind} }

// isBlocked reports whether a CephCluster cannot write data: placement groups are not available, or the disks are
// full. See https://docs.ceph.com/en/latest/rados/operations/health-checks/.
func isBlocked(cluster *neighbor.Neighbor) bool {
	details := neighbor.Decode[struct {
		Status struct {
			Ceph struct {
				Details map[string]any `json:"details"`
			} `json:"ceph"`
		} `json:"status"`
	}](cluster.Object).Status.Ceph.Details
	return slices.ContainsFunc([]string{"PG_AVAILABILITY", "OSD_FULL"}, func(check string) bool {
		return details[check] != nil
	})
}
