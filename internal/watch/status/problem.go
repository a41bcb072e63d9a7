package status

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Problem is an error in a request or in the cluster's response, with a text on how to correct it.
type Problem struct { //nolint:errname // Named after the problem document of RFC 9457.
	Cause  Cause
	Title  string // same text for all Problems of one type, such as "Unknown resource"
	Detail string
	// PublicDetail is the Detail for guests and unknown viewers, without the API server's messages and address. If it is
	// empty, they get Detail.
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

// Refusedf returns a Problem with the cause Refused and a formatted detail.
func Refusedf(title, format string, args ...any) *Problem {
	return &Problem{Cause: Refused, Title: title, Detail: fmt.Sprintf(format, args...)}
}

// Unavailablef returns a Problem with the cause Unavailable and a formatted detail.
func Unavailablef(title, format string, args ...any) *Problem {
	return &Problem{Cause: Unavailable, Title: title, Detail: fmt.Sprintf(format, args...)}
}

// NotLoggedIn returns the Problem for a request whose user is unknown.
func NotLoggedIn(format string, args ...any) *Problem {
	return &Problem{Cause: Unauthenticated, Title: "Not logged in", Detail: fmt.Sprintf(format, args...)}
}

// FromRequest converts the error of a request for an object into a *Problem. It returns context.Canceled unchanged.
func FromRequest(err error, object string) error {
	p := &Problem{
		Cause: Unavailable, Title: "The API server does not respond",
		Detail:       fmt.Sprintf("%s: %s", object, ReasonOf(err)),
		PublicDetail: object + " cannot be read now.",
	}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case apierrors.IsForbidden(err):
		p.Cause, p.Title, p.PublicDetail = Refused, "Forbidden", "This program is not allowed to read "+object+"."
	case apierrors.IsUnauthorized(err):
		p.Title = "API server rejected the credentials"
	case apierrors.IsNotFound(err):
		p.Cause, p.Title, p.PublicDetail = Unknown, "Not found", object+" does not exist."
	}
	return p
}
