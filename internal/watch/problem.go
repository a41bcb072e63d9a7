package watch

import "fmt"

// A Problem is an error of whoever asked, or of the cluster towards them, in
// words that say what is wrong and what would be right.
type Problem struct { //nolint:errname // The name of the wire and of RFC 9457.
	Cause  Cause
	Title  string // The same for every Problem of its kind: "Unknown resource".
	Detail string // This one: what is wrong, and what would be right.
	// Brief is the same without what the API server says, and where it is; empty where
	// Detail has nothing of these.
	Brief string
}

// Words are the detail as the viewer may be told it: guests, and who is nobody, are not
// told what the API server says to this program, nor where it is.
func (v *Viewer) Words(p *Problem) string {
	if p.Brief != "" && (v.Scope != nil || !v.Program && v.User == nil) {
		return p.Brief
	}
	return p.Detail
}

// Words are a Problem's detail as the viewer may be told it.
func (a *Access) Words(p *Problem) string { return a.viewer.Words(p) }

// Cause says whose the error is, for whoever turns it into a status code.
type Cause int

// Causes of a Problem.
const (
	Invalid         Cause = iota // The request makes no sense.
	Unknown                      // What it names is not there.
	Refused                      // The API server forbids it.
	Unavailable                  // The cluster cannot answer now.
	Unauthenticated              // It is not known who asks.
)

func (p *Problem) Error() string { return p.Title + ": " + p.Detail }

func invalid(title, format string, args ...any) *Problem {
	return &Problem{Cause: Invalid, Title: title, Detail: fmt.Sprintf(format, args...)}
}

func unknown(title, format string, args ...any) *Problem {
	return &Problem{Cause: Unknown, Title: title, Detail: fmt.Sprintf(format, args...)}
}
