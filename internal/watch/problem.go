package watch

import "fmt"

// A Problem is an error that is caused by the caller's request, or by the cluster when it answers the request. Its text
// explains what is wrong and how to correct it.
type Problem struct { //nolint:errname // Named after the problem document of RFC 9457.
	Cause  Cause
	Title  string // The same for all Problems of this type, such as "Unknown resource".
	Detail string // What is wrong in this case, and how to correct it.
	// PublicDetail is the part of the Detail that unknown viewers and guests may read: without messages of the API server and
	// without its address. It is empty if the Detail contains neither.
	PublicDetail string
}

// PublicDetail returns the detail of the problem that the viewer may read. Guests and unknown viewers must not see what the
// API server sends to this program, or the server's address.
func (v *Viewer) PublicDetail(p *Problem) string {
	if p.PublicDetail != "" && (v.Scope != nil || !v.Program && v.User == nil) {
		return p.PublicDetail
	}
	return p.Detail
}

// PublicDetail returns the detail of the problem that the viewer of this access may read.
func (a *Access) PublicDetail(p *Problem) string { return a.viewer.PublicDetail(p) }

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

func invalid(title, format string, args ...any) *Problem {
	return &Problem{Cause: Invalid, Title: title, Detail: fmt.Sprintf(format, args...)}
}

func unknown(title, format string, args ...any) *Problem {
	return &Problem{Cause: Unknown, Title: title, Detail: fmt.Sprintf(format, args...)}
}
