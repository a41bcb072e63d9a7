// Package wording determines the meaning of the words and sentences with which controllers describe an object: the
// names and reasons of conditions, the names of members of a status, words for a state, and messages. Several rules
// share these meanings. All functions are pure. They depend only on their texts, and not on the rest of the object.
package wording

import (
	"slices"
	"strings"
	"unicode"
)

// Split returns the words of a name in CamelCase, in lower case.
func Split(name string) (words []string) {
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

// negations are words that make the name of a condition harmless. For example, NoErrors reports a good state, and
// PreviouslyFailed reports a failure that is over.
var negations = []string{ //nolint:gochecknoglobals // Constant.
	"no", "non", "without", "never", "on", "ignore", "ignored", "allow", "inject", "simulated", "previously", "was", "if",
}

// IsState reports whether the name of a member ends with the word phase, state, status or health, as in jobState.
func IsState(name string) bool {
	words := Split(name)
	return len(words) > 1 && (!IsHistory(name) || slices.Contains(words, "observed")) &&
		slices.Contains([]string{"phase", "state", "status", "health"}, words[len(words)-1])
}

// IsHistory reports whether a member lists errors that are over or that do not matter, such as ignoredErrors.
func IsHistory(name string) bool {
	return slices.ContainsFunc(Split(name), func(word string) bool {
		return slices.Contains(negations, word) || slices.Contains([]string{
			"history", "past", "previous", "last", "old", "resolved", "recovered", "recent", "allowed", "expected", "transient",
			"retries", "attempts",
		}, word)
	})
}

// IsRecord reports whether a member describes what an object has done, such as the runs of a schedule. A run can fail
// although the object is in order.
func IsRecord(name string) bool {
	words := Split(name)
	return len(words) > 0 && slices.Contains([]string{
		"runs", "jobs", "executions", "backups", "builds", "results", "operations", "events", "records", "snapshots",
		"revisions", "tests",
	}, words[len(words)-1])
}
