package message

import "regexp"

var (
	// impossibleText matches a message about a request that can never be satisfied ("request > maximum capacity").
	impossibleText = regexp.MustCompile(`(?i)\brequest(s|ed)? *>=? *(the )?(maximum|max|total|nominal) |` +
		`\b(can|could|will|would) never (be )?(fit|satisf|schedul|admit|placed|met)|` +
		`\b(exceeds?|(larger|greater|more) than) (the |its )?(maximum|max|total) ([a-z]+ )?(capacity|quota)\b|` +
		`\bresources? \S+ (is |are )?unavailable in [a-z]|` +
		`\bflavor \S+ (doesn't|does not) match|\buntolerated taint .{1,100} in flavor\b|` +
		`\bnamespace (doesn't|does not) match (the )?[a-z]*queue ([a-z]+ )?selector\b`)
	// temporaryText matches a message about capacity that is in use only at present, so the object can get it later.
	temporaryText = regexp.MustCompile(`(?i)\b(unused|more needed|preempt(ion|ed|ing)?|currently|waiting)\b`)
)

// IsImpossible reports whether a message states that an object can never get what it requests.
func IsImpossible(message string) bool {
	return impossibleText.MatchString(message) && !temporaryText.MatchString(message)
}
