package message

import (
	"fmt"
	"slices"
	"strings"
)

// Admission returns the cause, such as an exceeded quota, of an error about an object that was rejected.
func Admission(text string) string {
	if before, after, ok := strings.Cut(text, " is forbidden: "); ok && strings.HasPrefix(before, "pods ") {
		text = after
	}
	const internalError = "Internal error occurred: "
	text = strings.TrimPrefix(text, internalError)
	if quota, ok := strings.CutPrefix(text, "exceeded quota: "); ok {
		return quotaText(quota)
	}
	if violation, ok := strings.CutPrefix(text, "violates PodSecurity "); ok {
		return podSecurityText(violation)
	}
	if lookup, ok := strings.CutPrefix(text, "error looking up service account "); ok {
		if account, problem, ok := strings.Cut(lookup, ": "); ok && strings.HasSuffix(problem, " not found") {
			return "ServiceAccount " + account + " does not exist"
		}
	}
	if call, ok := strings.CutPrefix(text, "failed calling webhook "); ok {
		return webhookText(call)
	}
	return text
}

// quotaText rewords a text such as "small, requested: cpu=1,pods=1, used: cpu=4,pods=3, limited: cpu=4,pods=9". Such a
// text names only the resources whose limits are exceeded.
func quotaText(text string) string {
	name, amounts, ok := strings.Cut(text, ", requested: ")
	requested, amounts, okUsed := strings.Cut(amounts, ", used: ")
	used, limited, okLimited := strings.Cut(amounts, ", limited: ")
	if !ok || !okUsed || !okLimited {
		return "exceeded quota: " + text
	}
	parts := []string{}
	for pair := range strings.SplitSeq(requested, ",") {
		resource, amount, _ := strings.Cut(pair, "=")
		parts = append(parts, fmt.Sprintf("%s %s of %s used, %s requested",
			resource, amountOf(used, resource), amountOf(limited, resource), amount))
	}
	return "quota " + name + " would be exceeded: " + strings.Join(parts, "; ")
}

// amountOf returns the amount of a resource in a text such as "cpu=4,pods=3".
func amountOf(amounts, resource string) string {
	for pair := range strings.SplitSeq(amounts, ",") {
		if name, amount, _ := strings.Cut(pair, "="); name == resource {
			return amount
		}
	}
	return "?"
}

// podSecurityText omits the explanation in parentheses after each violated rule.
func podSecurityText(violation string) string {
	level, rules, ok := strings.Cut(violation, ": ")
	if !ok {
		return "violates PodSecurity " + violation
	}
	short := strings.Builder{}
	depth, isQuoted := 0, false
	for _, r := range strings.ReplaceAll(rules, " (", "(") {
		switch {
		case r == '"':
			isQuoted = !isQuoted
		case r == '(' && !isQuoted:
			depth++
		}
		if depth == 0 {
			short.WriteRune(r)
		}
		if r == ')' && !isQuoted && depth > 0 {
			depth--
		}
	}
	return "violates PodSecurity " + strings.Trim(level, `"`) + ": " + short.String()
}

// webhookText describes the failed call of a webhook, without the URL that the API server called.
func webhookText(call string) string {
	name, problem, ok := strings.Cut(call, ": ")
	if !ok {
		return "cannot call webhook " + call
	}
	problem = strings.TrimPrefix(problem, "failed to call webhook: ")
	if verb, after, ok := strings.Cut(problem, ` "`); ok && slices.Contains([]string{"Post", "Get"}, verb) {
		if _, cause, ok := strings.Cut(after, `": `); ok {
			problem = cause
		}
	}
	return "cannot call webhook " + strings.Trim(name, `"`) + ": " + problem
}
