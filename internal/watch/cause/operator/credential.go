package operator

import (
	"regexp"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// unauthenticated matches the error of a client whose credentials a server does not accept, or that does not know the
// host key of the server.
var unauthenticated = regexp.MustCompile(`(?i)\bknownhosts: key\b|\bhost key (?:verification failed|mismatch)\b|` +
	`\bauthentication (?:is )?(?:required|failed)\b|\bunable to authenticate\b|` +
	`\b(?:invalid|incorrect|wrong|bad) (?:credentials?|username or password)\b|` +
	`\b401:? unauthorized\b|\bpermission denied \(publickey\b`)

// refusedSecret returns the Secret with the credentials of the subject, if authentication failed according to a
// sentence, or nil. By convention, spec.secretRef of the subject refers to this Secret, or that of its source: a
// HelmChart uses the credentials of the HelmRepository in its spec.sourceRef.
func refusedSecret(s *subject.Subject, sentence string) *neighbor.Neighbor {
	if !unauthenticated.MatchString(sentence) {
		return nil
	}
	users := []neighbor.Neighbor{s.Neighbor}
	for n := range s.Used(func(u *graph.Use) bool { return u.Via == "spec.sourceRef" && u.Target.Group == s.ID.Group }) {
		users = append(users, n)
	}
	for n := range users {
		uses, _ := s.References(users[n].ID)
		at := slices.IndexFunc(uses, func(u graph.Use) bool { return u.Via == "spec.secretRef" })
		if at < 0 {
			continue
		}
		s.AddSource(users[n].Resource, users[n].ID.Namespace())
		if secret := s.Find(uses[at].Target); secret.Object != nil {
			return &secret
		}
		return nil
	}
	return nil
}
