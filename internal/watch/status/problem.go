package status

import "fmt"

// Problem is an error in the caller's request, or in the cluster's response to the request. Its text explains the
// error and how to correct it.
type Problem struct { //nolint:errname // Named after the problem document of RFC 9457.
	Cause  Cause
	Title  string // Same text for all Problems of one type, such as "Unknown resource".
	Detail string // Explains this Problem, and how to correct it.
	// PublicDetail replaces Detail for guests (viewers of a share link) and unknown viewers. It contains neither
	// messages of the API server nor its address. If it is empty, they can read Detail.
	PublicDetail string
}

// Cause classifies a Problem, so that an HTTP handler can select a status code.
type Cause int

// The causes of problems.
const (
	Invalid         Cause = iota // The request is invalid.
	Unknown                      // The requested object or resource does not exist.
	Refused                      // The API server forbids the request.
	Unavailable                  // The cluster cannot answer the request now.
	Unauthenticated              // The viewer is not logged in.
)

func (p *Problem) Error() string { return p.Title + ": " + p.Detail }

// Invalidf returns a Problem with the cause Invalid. It formats the detail like fmt.Sprintf.
func Invalidf(title, format string, args ...any) *Problem {
	return &Problem{Cause: Invalid, Title: title, Detail: fmt.Sprintf(format, args...)}
}

// Unknownf returns a Problem with the cause Unknown. It formats the detail like fmt.Sprintf.
func Unknownf(title, format string, args ...any) *Problem {
	return &Problem{Cause: Unknown, Title: title, Detail: fmt.Sprintf(format, args...)}
}
