package symptom

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// badWords are the last words of names of conditions that are bad if they are True, such as ResolutionFailed.
var badWords = []string{ //nolint:gochecknoglobals // Constant.
	"failed", "failure", "failing", "error", "errors", "errored", "stalled", "degraded", "dangling", "unsupported",
	"conflict", "conflicted", "unhealthy", "invalid", "deadlock", "deadlocked", "stuck", "unreachable", "unresponsive",
	"misconfigured", "incompatible", "corrupted", "corrupt", "crashed", "crashing", "broken", "faulted", "mismatched",
	"unavailable", "unresolved", "readonly", "lost", "unschedulable", "terminal", "expired", "rejected", "infeasible",
	"exhausted", "inconsistent", "violated", "irreconcilable",
}

// badStarts are the beginnings of names of conditions that are bad if they are True, such as ErrorOccurred and
// MissingPeerConfigs.
var badStarts = []string{ //nolint:gochecknoglobals // Constant.
	"Failed", "Invalid", "Corrupt", "Readonly", "ReadOnly", "Unresolved", "ErrorOccurred", "NotReady", "NotHealthy",
	"NotAvailable", "Missing", "Conflicting",
}

// negations are words that make the name of a condition harmless. For example, NoErrors reports a good state, and
// PreviouslyFailed reports a failure that is over.
var negations = []string{ //nolint:gochecknoglobals // Constant.
	"no", "non", "without", "never", "on", "ignore", "ignored", "allow", "inject", "simulated", "previously", "was", "if",
}

// neededWords follow "No" in the names of conditions that are bad if they are True, such as NoMatchingInstance.
var neededWords = []string{ //nolint:gochecknoglobals // Constant.
	"matching", "available", "valid", "ready", "healthy", "suitable", "compatible", "endpoints", "backends",
}

// IsBadIfTrue reports whether the name of a condition means a bad state, so that True is bad. The name can have a
// prefix, as in "ACK.Terminal" and "example.com/Stalled".
func IsBadIfTrue(name string) bool {
	name = name[strings.LastIndexAny(name, "./")+1:]
	words := split(name)
	if len(words) > 1 && words[0] == "no" && slices.Contains(neededWords, words[1]) {
		return true
	}
	if len(words) == 0 || slices.ContainsFunc(words, func(word string) bool { return slices.Contains(negations, word) }) {
		return false
	}
	isNegated := words[0] == "not"
	for _, start := range badStarts {
		if rest, ok := strings.CutPrefix(name, start); ok && (rest == "" || unicode.IsUpper(rune(rest[0]))) {
			return true
		}
	}
	last := words[len(words)-1]
	return slices.Contains(badWords, last) && !isNegated ||
		last == "exceeded" && slices.Contains([]string{"deadline", "quota", "limit", "retries"}, words[max(0, len(words)-2)])
}

// IsNodeProblem reports whether a condition of a Node is bad if it is True (DiskPressure). It also recognizes the
// conditions of the node problem detector.
func IsNodeProblem(name string) bool {
	words := split(name)
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	return IsBadIfTrue(name) || last == "problem" || last == "pressure" || name == "NetworkUnavailable" ||
		words[0] == "frequent"
}

// split returns the words of a name in CamelCase, in lower case.
func split(name string) (words []string) {
	start := 0
	runes := []rune(name)
	for n := 1; n <= len(runes); n++ {
		isEnd := n == len(runes) || unicode.IsUpper(runes[n]) &&
			(!unicode.IsUpper(runes[n-1]) || n+1 < len(runes) && unicode.IsLower(runes[n+1]))
		if isEnd {
			words = append(words, strings.ToLower(string(runes[start:n])))
			start = n
		}
	}
	return words
}

var (
	missingText = regexp.MustCompile(`(?i)\b(not found|(does not|doesn't|do not|don't) exist|no such|` +
		`no matches for kind|none of the [^.,]{1,60} match(es|ed)?|could not find|cannot find|can't find|couldn't find|` +
		`non-existent|not exist)\b`)
	errorText = regexp.MustCompile(`(?i)\b(errors?|fail(ed|s|ing|ures?)?|cannot|can't|could not|couldn't|unable|` +
		`denied|refused|forbidden|rejected|timed out|timeout|deadline exceeded|invalid|wrong|unauthorized|unreachable|` +
		`insufficient|exceeded|unsupported|unsatisfiable|not (satisfiable|permitted|allowed|accepted|valid|supported)|` +
		`not enough ([a-z]+ ){0,2}(space|disk|memory|cpu|storage|capacity|resources?|quota)|` +
		`no (valid|suitable|eligible|usable) [a-z]+ (were |was )?found|` +
		`panic|missing|conflict(s|ed|ing)?|expired|mismatch|bad request)\b`)
	noErrorText = regexp.MustCompile(`(?i)\b(no|0|zero|without( any)?) (errors?|failures?|failed|conflicts?)\b|` +
		`\((errors?|failures?|failed)[:=] ?0[,;)]|` +
		`the object has been modified`)
	// badReason matches the reason of a condition that is False because of an error.
	badReason = regexp.MustCompile(`(Failed|Failure|Failing|Errors?|NotFound|NotExist|Invalid|Rejected|Unauthorized|` +
		`Forbidden|Conflict|Conflicted|Unreachable|TimedOut|Timeout|Misconfigured|Unsupported|(Deadline|Limit)Exceeded)$|` +
		`^(Failed|Invalid|Error|Unresolved|Unsupported)[A-Z]`)
	failedReason = regexp.MustCompile(`(Failed|Failure|Failing|Error|DeadlineExceeded)$`)
	// absentReason matches the reason of a condition that is False because an object does not exist.
	absentReason = regexp.MustCompile(`(NotFound|NotExist|Missing|UnresolvedReference)$`)
	// lostText matches the message of a condition that is Unknown because a remote agent no longer reports its state.
	lostText = regexp.MustCompile(`(?i)\b((stopped|ceased) (updating|posting|reporting|sending|renewing)|` +
		`lost (the )?(contact|connection|heartbeats?)|(missed|no) heartbeats?)\b`)
	// calmReason matches the reason of a condition that is False as expected, such as PodCompleted.
	calmReason = regexp.MustCompile(`Completed|Skipped|Deleting|Terminating`)
)

// NamesMissing reports whether a text states that an object does not exist.
func NamesMissing(text string) bool { return missingText.MatchString(text) }

// NamesError reports whether a text names an error.
func NamesError(text string) bool {
	text = noErrorText.ReplaceAllString(text, "")
	return errorText.MatchString(text) || missingText.MatchString(text)
}
