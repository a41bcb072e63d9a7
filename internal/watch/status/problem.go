package status

import "fmt"

// A Problem is an error that is caused by the caller's request, or by the cluster when it responds to the request. Its
// text explains what is wrong and how to correct it.
type Problem struct { //nolint:errname // Named after the problem document of RFC 9457.
	Cause  Cause
	Title  string // The title, which is the same for all Problems of this type, such as "Unknown resource".
	Detail string // The description of this problem, and how to correct it.
	// PublicDetail is the part of the Detail that unknown viewers and guests may read: without messages of the API server
	// and without its address. It is empty if the Detail contains neither.
	PublicDetail string
}

// Cause classifies an error, so that the caller can choose a status code.
type Cause int

// Causes of a Problem.
const (
	Invalid         Cause = iota // The request is invalid.
	Unknown                      // The object or resource in the request does not exist.
	Refused                      // The API server forbids the request.
	Unavailable                  // The cluster cannot answer now.
	Unauthenticated              // The caller is unknown.
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
