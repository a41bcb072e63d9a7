package environment

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const (
	// open and closed match punctuation before and after a name, such as quotation marks.
	open, closed = `["'` + "`" + `$({\[]*`, `["'` + "`" + `)}\]]*`
	// other matches another name in a list, which ends with a comma or "and".
	other = open + `[A-Z][A-Z0-9_]*` + closed + `(?:,? and |, ?)`
	// needed matches words which state that the variables whose names follow are missing.
	needed = `\b(?i:missing|require[sd]?|specify|define|declare|provide|needs?|(?:must|please) set(?: the)?)`
	// variables matches words between these words and the names.
	variables = `(?i:(?: the| an?| required| mandatory| following)* (?:environment|env) ?(?:variables?|vars?)(?:\(s\))?)`
	// ended matches the end of a sentence.
	ended = closed + `(?:[.;!]?$|[.;!] )`
	// verb matches words which state that the variable before them is missing, and verbs those about several variables.
	verb  = `(?:(?:is|was|has) )?not ` + state + `|(?:(?:is|was) )?` + lacking + `|` + must
	verbs = `(?:(?:are|were|have) )?not ` + state + `|(?:are|were) ` + lacking + `|` + must

	state   = `(?:been )?(?:set|found|defined|provided|present|specified|configured)\b`
	lacking = `(?:missing|unset|undefined|required|empty)` + closed + `(?:[.,;:!(]|$| (?:in|from|but|and|at) )`
	must    = `(?:must|should|has to|needs to|have to|need to) be (?:set|defined|provided|specified|present|configured|` +
		`non-?empty)\b|(?:must not|cannot|can't) be (?:empty|blank|null|nil|None)\b`
)

// harmless matches a line about something other than environment variables, or about something that does not end the
// program. It also matches the description of a program's options.
var harmless = regexp.MustCompile(`(?i)\b(?:warn(?:ing)?|info|debug|notice|trace|deprecated|optional|either|` +
	`vault|path|column|relation|header|` +
	`skip(?:ped|ping)?|ignored|ignoring|disabled|disabling|continue|continuing|` +
	`using (?:the |a )?default|defaulting|defaults? to|fall(?:ing|s)? ?back|not (?:require[sd]?|need(?:ed)?)|` +
	`no longer)\b|n't (?:require|need)|\b(?:usage|flags|options):|(?:^|\s)--[a-z]|(?-i:[A-Z]["'` + "`" + `]? or )`)

// ofPython matches what the message of a KeyError contains if the dictionary is the environment.
var ofPython = regexp.MustCompile(`\bos\.environ\b|<frozen os>|/os\.py\b`)

// ofSettings matches the message of a library for Python that reads settings from the environment. It writes the names
// of variables in lower case. The group captures the lines about the settings.
var ofSettings = regexp.MustCompile(`\bvalidation errors? for \w*(?:Settings|Config|Env)\w*\n` +
	`((?:\w+\n(?:[ \t]+.*\n?)+)+)$`)

// missingField matches the name of a missing variable in this message.
var missingField = regexp.MustCompile(`(?m)^(\w+)\n[ \t]+Field required\b`)

// trailer matches a line after the error that ends a program: a part of a stack trace, or a message of another program
// that runs the program.
var trailer = regexp.MustCompile(`^(?:at (?:async |\S+(?: \(|$|:\d))|from |File "|goroutine \d|created by |` +
	`exit status \d|[\w./*()\[\]-]+\((?:[0-9a-fx?{}, ]|\.\.\.)*\)$|Node\.js v\d|Stack trace:|#\d+ |thrown in |` +
	`npm (?:ERR!|error)|error Command failed|info Visit |note: run with|\.\.\. \d+ more|\W*$)`)

// signaled is the lowest exit code of a container that was ended by a signal. Some programs end with the code maxCode
// because of an error of their own.
const signaled, maxCode = 128, 255

// lastWords is the error with which a container ended.
type lastWords struct {
	line     string   // Without stack traces.
	fields   []string // The missing variables according to a library for Python.
	isPython bool     // Whether the message refers to os.environ, Python's environment.
}

// lastError returns the error with which a container ended. It is empty if the container did not end because of an
// error of its own, or if the error is about something other than environment variables.
func lastError(p *corev1.Pod, container string) (of lastWords) {
	end := endOf(p, container)
	if end == nil || end.Reason == "OOMKilled" || end.Signal != 0 || end.ExitCode == 0 ||
		end.ExitCode >= signaled && end.ExitCode != maxCode {
		return of
	}
	if found := ofSettings.FindStringSubmatch(strings.TrimSpace(end.Message)); found != nil {
		for _, field := range missingField.FindAllStringSubmatch(found[1], maxNames) {
			of.fields = append(of.fields, field[1])
		}
		return of
	}
	details := "" // The indented lines after the last line, which belong to it.
	for line := range strings.Lines(end.Message) {
		text := strings.TrimSpace(line)
		switch isIndented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"); {
		case trailer.MatchString(text):
		case isIndented:
			details += " " + text
		default:
			of.line, details = text, ""
		}
	}
	if harmless.MatchString(of.line + details) {
		return lastWords{}
	}
	of.isPython = ofPython.MatchString(end.Message)
	return of
}

// lacks reports whether the error states that an environment variable is missing.
func (of lastWords) lacks(name string) bool {
	if slices.ContainsFunc(of.fields, func(field string) bool { return strings.EqualFold(field, name) }) {
		return true
	}
	if strings.ToLower(name) == name || !strings.Contains(of.line, name) {
		return false
	}
	quoted := regexp.QuoteMeta(name)
	// Another name can be between the name and the words only in a list of names.
	isMatch := func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(of.line) }
	return isMatch(needed+variables+`:? (?:`+other+`)*`+open+quoted+closed+`(?:[,.;:!]? |[,.;!]?$)`) ||
		isMatch(needed+`:? `+open+quoted+ended) ||
		isMatch(`\b(?i:could) not resolve placeholder `+open+quoted+`["':]`) ||
		of.isPython && isMatch(`\bKeyError: ["']`+quoted+`["']$`) ||
		isMatch(`(?:^|[^\w./-])`+quoted+closed+`(?: (?i:(?:(?:environment|env) )?(?:variable|var)))?:? (?i:`+verb+`)`) ||
		isMatch(`(?:^|[^\w./-])`+quoted+`: (?:unbound variable|parameter (?:null or )?not set)\b`) ||
		isMatch(`(?:^|[^\w./-])`+quoted+closed+`(?:, ?`+open+`[A-Z][A-Z0-9_]*`+closed+`)*,? and `+
			open+`[A-Z][A-Z0-9_]*`+closed+` (?i:`+verbs+`)`)
}

// anyName matches a word in an error that can be the name of an environment variable.
var anyName = regexp.MustCompile(`\b[A-Z][A-Z0-9_]+\b`)

// names returns the variables that are missing according to the error.
func (of lastWords) names() (found []string) {
	for _, name := range anyName.FindAllString(of.line, maxNames) {
		if of.lacks(name) {
			found = append(found, name)
		}
	}
	return append(found, of.fields...)
}

// endOf returns how a container last ended, or nil.
func endOf(p *corev1.Pod, container string) *corev1.ContainerStateTerminated {
	for _, status := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if status.Name == container {
			return cmp.Or(status.State.Terminated, status.LastTerminationState.Terminated)
		}
	}
	return nil
}
