package wording

import (
	"regexp"
	"strings"
)

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
	// failover matches words such as "failed over", which name no error.
	failover     = regexp.MustCompile(`(?i)\bfail(ed|ing|s)?[ -]?over\b`)
	referralText = regexp.MustCompile(`(?i)\bsee (the )?(other conditions?\b|[a-z.]+ for (more )?(details|information))`)
)

// NamesMissing reports whether a text states that an object does not exist.
func NamesMissing(text string) bool { return missingText.MatchString(text) }

// NamesError reports whether a text names an error.
func NamesError(text string) bool {
	text = noErrorText.ReplaceAllString(text, "")
	return errorText.MatchString(text) || missingText.MatchString(text)
}

// NamesNoError reports whether a text contains a phrase such as "no errors", which NamesError ignores.
func NamesNoError(text string) bool { return noErrorText.MatchString(text) }

// IsBadSentence reports whether a state is a sentence that names an error.
func IsBadSentence(state string) bool {
	return strings.Contains(state, " ") && NamesError(failover.ReplaceAllString(state, ""))
}

// IsReferral reports whether a text only refers to another part of the status, such as "see Errors for details".
func IsReferral(text string) bool { return referralText.MatchString(text) }
