package environment

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// withoutSource explains a pod whose container ended because it lacks an environment variable: the variable is from a
// ConfigMap or a Secret that is optional and does not exist, so the kubelet starts the container without the variable.
// The last line of the container's message must state that the variable is missing. If the line names several variables
// from different missing objects, none of them is the cause.
func withoutSource(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	var found *neighbor.Neighbor
	var detail string
	for _, c := range reported(s, p) {
		line := lastLine(p, c.Name)
		if line == "" || harmless.MatchString(line) {
			continue
		}
		for _, v := range append(keysOf(&c), keysOfSource(&c, line)...) {
			if !lacks(line, v.name) {
				continue
			}
			n := s.Find(graph.NewID(graph.Kind{Kind: v.kind}, s.ID.Namespace(), v.object))
			if n.Presence != neighbor.Missing {
				continue
			}
			if found != nil && found.ID != n.ID {
				return nil
			}
			found, detail = &n, ", so container "+c.Name+" does not get the variable "+v.name
		}
	}
	if found == nil {
		return nil
	}
	subject.Follow(s, found)
	cause := s.MissingCause(found)
	cause.Sentence = subject.Sentences(s.Own.Sentence, cause.Sentence+detail)
	return s.Explain(s.Own.Severity, s.Own.Reason, cause.Sentence, cause)
}

// variable is an environment variable from an object that is optional.
type variable struct{ name, kind, object string }

// keysOf returns the variables that a container gets from keys of optional objects. It omits names that occur twice.
func keysOf(c *corev1.Container) (found []variable) {
	names := make(map[string]int, len(c.Env))
	for n := range c.Env {
		names[c.Env[n].Name]++
	}
	for n := range c.Env {
		e := &c.Env[n]
		if e.ValueFrom == nil || names[e.Name] > 1 {
			continue
		}
		if ref := e.ValueFrom.SecretKeyRef; ref != nil && ptr.Deref(ref.Optional, false) {
			found = append(found, variable{e.Name, "Secret", ref.Name})
		}
		if ref := e.ValueFrom.ConfigMapKeyRef; ref != nil && ptr.Deref(ref.Optional, false) {
			found = append(found, variable{e.Name, "ConfigMap", ref.Name})
		}
	}
	return found
}

// upperCase matches a name that programs often use for environment variables, such as API_KEY.
var upperCase = regexp.MustCompile(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b`)

// maxNames limits how many names in a line are tried.
const maxNames = 10

// keysOfSource returns the variables in a line that a container can only get from all keys of an optional object,
// because the pod has no other setting for the environment of the container.
func keysOfSource(c *corev1.Container, line string) (found []variable) {
	isSetting := func(e corev1.EnvVar) bool {
		return e.ValueFrom == nil || e.ValueFrom.FieldRef == nil && e.ValueFrom.ResourceFieldRef == nil
	}
	if len(c.EnvFrom) != 1 || slices.ContainsFunc(c.Env, isSetting) {
		return nil
	}
	from := &c.EnvFrom[0]
	var of variable
	switch {
	case from.SecretRef != nil && ptr.Deref(from.SecretRef.Optional, false):
		of = variable{kind: "Secret", object: from.SecretRef.Name}
	case from.ConfigMapRef != nil && ptr.Deref(from.ConfigMapRef.Optional, false):
		of = variable{kind: "ConfigMap", object: from.ConfigMapRef.Name}
	default:
		return nil
	}
	for _, name := range upperCase.FindAllString(line, maxNames) {
		if strings.HasPrefix(name, from.Prefix) {
			found = append(found, variable{name, of.kind, of.object})
		}
	}
	return found
}

const (
	// beforeName and afterName match words which state that a variable is missing, before and after its name.
	beforeName = `(?i:\b(?:missing|require[sd]?|undefined|unset|specify|define|declare|provide|needs?|KeyError|` +
		`placeholder|no value for|(?:must|please) set|set the|` +
		`not (?:set|found|defined|provided|present|specified|configured))\b)`
	afterName = `(?i:\b(?:(?:is |was |are |has |have )?not (?:been )?(?:set|found|defined|provided|present|specified|` +
		`configured)|(?:is |are |was )?(?:missing|unset|undefined|required)|(?:must|should|has to|needs to|have to) be ` +
		`(?:set|defined|provided|specified|present|configured|non-?empty)|(?:is|was|must not be|cannot be|can't be) ` +
		`(?:empty|blank|null|nil|None)|unbound variable|parameter (?:null or )?not set|does not exist|NotPresent)\b)`
	// between matches what can be between these words and the name: punctuation, words about variables, and other names.
	between = `(?:[\s:="'(){}\[\],$-` + "`" + `]|\b(?:(?i:the|an?|required|mandatory|environment|env|variables?|vars?|` +
		`parameters?|settings?|secrets?|keys?|values?|config|configuration|options?|named|called|message|for|of|in|from|` +
		`following|and|or)|[A-Z][A-Z0-9_]*)\b)*`
)

// harmless matches a line that is about something which does not end the program.
var harmless = regexp.MustCompile(`(?i)\b(?:warn(?:ing)?|info|debug|notice|trace|deprecated|optional|` +
	`skip(?:ped|ping)?|ignored|ignoring|disabled|disabling|continue|continuing|` +
	`using (?:the |a )?default|defaulting|defaults? to|fall(?:ing|s)? ?back|not (?:require[sd]?|need(?:ed)?)|no longer)\b`)

// lacks reports whether a line states that an environment variable is missing.
func lacks(line, name string) bool {
	if !strings.Contains(strings.ToLower(line), strings.ToLower(name)) {
		return false
	}
	quoted := regexp.QuoteMeta(name)
	word := `(?:^|[^\w./-])` + quoted + `(?:[^\w/-]|$)`
	// The last form is that of a library for Python, which writes the names of variables in lower case.
	return regexp.MustCompile(beforeName + between + word + `|` + word + between + afterName +
		`|(?:^|\s)(?i:` + quoted + `) Field required`).MatchString(line)
}

// trailer matches a line after the error that ends a program: a part of a stack trace, or a message of another program
// that runs the program.
var trailer = regexp.MustCompile(`^(?:at |from |File "|goroutine \d|created by |exit status \d|` +
	`[\w./*()\[\]-]+\(.*\)$|Node\.js v\d|Stack trace:|#\d+ |thrown in |npm (?:ERR!|error)|error Command failed|` +
	`info Visit |note: run with|\.\.\. \d+ more|\W*$)`)

// signaled is the first exit code of a container that ended because of a signal. maxCode is a code of some programs.
const signaled, maxCode = 128, 255

// lastLine returns the last line of the message with which a container ended, without stack traces, or "" if the
// container did not end because of an error of its own. Lines that are indented belong to the line before them.
func lastLine(p *corev1.Pod, container string) (last string) {
	end := endOf(p, container)
	if end == nil || end.Reason == "OOMKilled" || end.Signal != 0 || end.ExitCode == 0 ||
		end.ExitCode >= signaled && end.ExitCode != maxCode {
		return ""
	}
	for line := range strings.Lines(end.Message) {
		text := strings.TrimSpace(line)
		switch isIndented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"); {
		case isIndented && last != "":
			last += " " + text
		case !trailer.MatchString(text):
			last = text
		}
	}
	return last
}

// endOf returns how a container last ended, or nil.
func endOf(p *corev1.Pod, container string) *corev1.ContainerStateTerminated {
	for _, status := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		switch {
		case status.Name != container:
		case status.State.Terminated != nil:
			return status.State.Terminated
		default:
			return status.LastTerminationState.Terminated
		}
	}
	return nil
}
