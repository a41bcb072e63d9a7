package status

import "fmt"

// Problem is an error in a request or in the cluster's response, with a text on how to correct it.
type Problem struct { //nolint:errname // Named after the problem document of RFC 9457.
	Cause  Cause
	Title  string // same text for all Problems of one type, such as "Unknown resource"
	Detail string
	// PublicDetail replaces Detail for guests and unknown viewers, unless it is empty. It omits the API server's
	// messages and address.
	PublicDetail string
}

// Cause classifies a Problem, so that an HTTP handler can select a status code.
type Cause int

// The causes of problems.
const (
	Invalid Cause = iota
	Unknown
	Refused
	Unavailable
	Unauthenticated
)

func (p *Problem) Error() string { return p.Title + ": " + p.Detail }

// Invalidf returns a Problem with the cause Invalid and a formatted detail.
func Invalidf(title, format string, args ...any) *Problem {
	return &Problem{Cause: Invalid, Title: title, Detail: fmt.Sprintf(format, args...)}
}

// Unknownf returns a Problem with the cause Unknown and a formatted detail.
func Unknownf(title, format string, args ...any) *Problem {
	return &Problem{Cause: Unknown, Title: title, Detail: fmt.Sprintf(format, args...)}
}
