package operator

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

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
	if !unauthenticated.MatchString(sentence) || strings.Contains(strings.ToLower(sentence), "proxy authentication") {
		return nil
	}
	users := []neighbor.Neighbor{s.Neighbor}
	for n := range s.Used(func(u *graph.Use) bool { return u.Via == "spec.sourceRef" && u.Target.Group == s.ID.Group }) {
		users = append(users, n)
	}
	for n := range users {
		uses, _ := s.References(users[n].ID)
		at := slices.IndexFunc(uses, func(u graph.Use) bool { return u.Via == "spec.secretRef" && !u.Optional })
		if at < 0 || n > 0 && !isAbout(&users[n], sentence) {
			continue
		}
		s.AddSource(users[n].Resource, users[n].ID.Namespace())
		secret := s.Find(uses[at].Target)
		subject.Follow(s, &secret)
		if secret.Object == nil || secret.IsOwnedBy(s.Object.UID()) {
			return nil // The controller of the subject writes a Secret that the subject owns.
		}
		return &secret
	}
	return nil
}

// isAbout reports whether a sentence contains the host of a source's URL. A source can refer to files on another host,
// to which its controller sends no credentials.
func isAbout(source *neighbor.Neighbor, sentence string) bool {
	address, err := url.Parse(neighbor.Decode[struct {
		Spec struct {
			URL string `json:"url"`
		} `json:"spec"`
	}](source.Object).Spec.URL)
	return err == nil && address.Host != "" && strings.Contains(sentence, address.Host)
}
