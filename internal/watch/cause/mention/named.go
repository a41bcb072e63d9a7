package mention

import (
	"regexp"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/admission"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/api"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/connection"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Named finds the object that the sentence of the verdict v names, and adds it to v as the cause, unless v has one. If
// v is nil, Named uses the sentence of the subject's own verdict, and returns a new verdict with the cause, or nil.
func Named(s *subject.Subject, v *verdict.Verdict) *verdict.Verdict {
	if v == nil || v.Cause == nil {
		if w := protected(s); w != nil {
			return w
		}
	}
	switch {
	case s.ID.Kind.Kind == "Event":
		return v
	case v != nil:
		if v.Cause == nil && v.Severity.IsProblem() {
			if w := admission.WebhookFailure(s, v.Sentence); w != nil {
				v.Cause, v.Via = w.Cause, w.Via
				return v
			}
			v.Cause = namedCause(s, v.Sentence)
		}
		return v
	case !s.Own.Severity.IsProblem():
		return nil
	}
	text := subject.CompleteSentence(s)
	if v := admission.WebhookFailure(s, text); v != nil {
		v.Severity = s.Own.Severity
		return v
	}
	c := namedCause(s, text)
	if c != nil {
		c.Sentence = strings.Replace(c.Sentence, strings.TrimRight(text, "."), strings.TrimRight(s.Own.Sentence, "."), 1)
	}
	if c == nil && s.ID.Kind == (graph.Kind{Kind: "Pod"}) {
		if v := connection.Failure(s, text); v != nil {
			return v
		}
		if !connection.IsUnresolved(text) {
			c = crashCause(s)
		}
	}
	if c == nil {
		return nil
	}
	return s.Explain(s.Own.Severity, s.Own.Reason, c.Sentence, c)
}

// withMessage adds a message to the sentence about a missing object, because the object alone does not show what fails.
func withMessage(text string, c *verdict.Cause) *verdict.Cause {
	c.Sentence = subject.Sentences(text, c.Sentence)
	return c
}

// namedCause returns the object whose permissions or content a sentence calls wrong, or nil. The object's own verdict
// can be OK, because no rule checks its content.
func namedCause(s *subject.Subject, sentence string) *verdict.Cause {
	if _, rbac, ok := strings.Cut(sentence, "RBAC: "); ok { // The rest is about a missing role in a binding.
		if c := MissingCause(s, rbac); c != nil {
			return withMessage(sentence, c)
		}
	}
	for _, explain := range []func(*subject.Subject, string) *verdict.Cause{
		api.Permission, api.Unserved, api.Immutable, admission.Denial, notGranted,
	} {
		if c := explain(s, sentence); c != nil {
			return c
		}
	}
	if !contentError.MatchString(sentence) || elsewhereError.MatchString(sentence) {
		return nil
	}
	for n := range s.Used(func(u *graph.Use) bool { return !u.Optional }) {
		if isContent(&n) && namesContent(sentence, &n) {
			return &verdict.Cause{Object: neighbor.ObjectOf(&n), Sentence: sentence}
		}
	}
	if !resource.IsCustom(s.ID.Group) {
		return nil
	}
	for _, t := range targets(s, nil) {
		if isContent(&t.Neighbor) && namesContent(sentence, &t.Neighbor) {
			return &verdict.Cause{Object: neighbor.ObjectOf(&t.Neighbor), Sentence: sentence}
		}
	}
	return nil
}

// notGranted returns the object of another namespace that the subject may not use, according to a sentence, or nil. The
// sentence names it as NAMESPACE/NAME. The owner of that namespace has to grant the use.
func notGranted(s *subject.Subject, sentence string) *verdict.Cause {
	if !grantError.MatchString(sentence) {
		return nil
	}
	for n := range s.Used(nil) {
		namespace := n.ID.Namespace()
		isElsewhere := namespace != "" && namespace != s.ID.Namespace()
		if isElsewhere && n.Object != nil && strings.Contains(sentence, namespace+"/"+n.ID.Name()) &&
			namesContent(sentence, &n) {
			return &verdict.Cause{Object: neighbor.ObjectOf(&n), Sentence: sentence}
		}
	}
	return nil
}

var (
	// grantError matches an error which states that the use of an object in another namespace is not granted.
	grantError = regexp.MustCompile(
		`(?i)\b(?:not (?:permitted|allowed|granted|delegated)|ReferenceGrant|cross-namespace)\b`)
	// contentError matches an error about the content of an object.
	contentError = regexp.MustCompile(`(?i)\b(keys?|fields?|entry|type|ports?|protocol|annotations?|invalid|malformed|` +
		`empty|unsupported|unexpected|expected|parse|parsing|decod(?:e|ing)|unmarshal(?:ing|ling)?|contain|missing|` +
		`PEM|expired)\b`)
	// elsewhereError matches an error about a server or about permissions, which the content of an object rarely causes.
	elsewhereError = regexp.MustCompile(`(?i)\b(connection|connect|timeout|timed out|deadline|no such host|unreachable|` +
		`dial|lookup|resolv(?:e|ing) (?:host|address|server)|permission|denied|forbidden|not permitted|read-only|no space|` +
		`quota|out of memory|status code|temporar(?:y|ily)|x509|TLS handshake)\b`)
)

// isContent reports whether n exists and is of a kind whose content no controller checks. The content of such an object
// can be wrong although its verdict shows no problem.
func isContent(n *neighbor.Neighbor) bool {
	switch n.ID.Kind {
	case graph.Kind{Kind: "ConfigMap"}, graph.Kind{Kind: "Secret"}, graph.Kind{Kind: "Service"},
		graph.Kind{Group: "storage.k8s.io", Kind: "StorageClass"}:
		return n.Object != nil
	}
	return n.Object != nil && resource.IsCustom(n.ID.Group) && n.Object.Verdict().Severity() == verdict.None
}

// namesContent reports whether a sentence contains the kind of an object and then its name, with at most three words
// between them. A name without a hyphen is possibly an ordinary word, so it must directly follow the kind or be in
// quotation marks. If the sentence calls the object missing, the result is false: the object was created later, so its
// content is not the problem.
func namesContent(sentence string, n *neighbor.Neighbor) bool {
	name := n.ID.Name()
	if !strings.Contains(sentence, name) {
		return false
	}
	before := `(?: [A-Za-z-]+){0,3}[ :/=]+` + connection.Quote
	if !strings.Contains(name, "-") {
		before = `(?:[ :/=]+` + connection.Quote + `|(?: [A-Za-z-]+){1,3}[ :=]+["'` + "`" + `])`
	}
	pattern := regexp.MustCompile(`(?i:\b` + regexp.QuoteMeta(n.ID.Kind.Kind) + `s?)` + before +
		`(?:([a-z0-9-]+)/)?` + regexp.QuoteMeta(name) + `(?:[^a-z0-9/.-]|\.?$|\.[^a-z0-9])`)
	found := pattern.FindStringSubmatch(sentence)
	if found == nil || found[1] != "" && found[1] != n.ID.Namespace() {
		return false
	}
	for _, missing := range missingPattern.FindAllStringSubmatch(sentence, maxMentions) {
		if strings.TrimRight(missing[6], ".-") == n.ID.Name() {
			return false
		}
	}
	return true
}
