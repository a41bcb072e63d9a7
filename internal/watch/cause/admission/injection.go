package admission

import (
	"encoding/pem"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

const (
	// injection is the start of the annotations with which an object requests its caBundle from cert-manager.
	injection = "cert-manager.io/inject-"
	// injector is the program of cert-manager that writes the caBundle.
	injector = "cainjector"
)

var injectorName = regexp.MustCompile(`\b` + injector + `\b`)

// NotInjected explains why the API server trusts no certificate of a webhook in the subject: the caBundle is empty,
// because the program of cert-manager that should write it does not run.
func NotInjected(s *subject.Subject, bundle []byte, severity verdict.Severity) *verdict.Verdict {
	if block, _ := pem.Decode(bundle); block != nil || !requestsInjection(s) {
		return nil
	}
	all, ok := subject.Workloads(s, func(containers []corev1.Container) bool {
		return slices.ContainsFunc(containers, func(c corev1.Container) bool {
			names := slices.Concat([]string{c.Name, path.Base(c.Image)}, c.Command)
			return slices.ContainsFunc(names, injectorName.MatchString)
		})
	}, injector)
	if !ok {
		return nil
	}
	v := subject.StoppedWorkload(s, all, "cert-manager has not written the caBundle")
	if v != nil {
		v.Severity = severity
	}
	return v
}

func requestsInjection(s *subject.Subject) bool {
	for key := range neighbor.Decode[metav1.PartialObjectMetadata](s.Object).Annotations {
		if strings.HasPrefix(key, injection) {
			return true
		}
	}
	return false
}
