package pull

import (
	"regexp"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// denied matches the message of a registry that received no credentials, or not the required ones.
var denied = regexp.MustCompile(`(?i)\b(denied|unauthorized|authorization|authentication|credentials|401|403)\b`)

// unusedSecret explains a denied image pull: the kubelet ignores a pull Secret because of its type. It returns nil if
// the pod also has a pull Secret of a usable type.
func unusedSecret(s *subject.Subject) *verdict.Verdict {
	if !denied.MatchString(s.Own.Sentence) {
		return nil
	}
	var unused *neighbor.Neighbor
	var unusedType string
	for n := range s.Used(isPullSecret) {
		secretType := neighbor.Cell(n.Object, secretTypeColumn)
		switch isPrinted := secretType == "Opaque" || strings.HasPrefix(secretType, "kubernetes.io/"); {
		case !isPrinted, secretType == "kubernetes.io/dockerconfigjson", secretType == "kubernetes.io/dockercfg":
			return nil
		case unused == nil:
			unused, unusedType = &n, secretType
		}
	}
	if unused == nil {
		return nil
	}
	return s.ExplainBy(unused, s.Own.Severity, s.Own.Reason, s.Own.Sentence+". "+unused.String()+" has the type "+
		unusedType+", but the kubelet pulls images only with kubernetes.io/dockerconfigjson or kubernetes.io/dockercfg")
}

func isPullSecret(u *graph.Use) bool { return strings.HasSuffix(u.Via, "imagePullSecrets") }

// secretTypeColumn is the index of the column TYPE in the table of Secrets. The rules read the type there, because it
// is not part of the metadata of a Secret.
const secretTypeColumn = 1
