package request

import (
	"errors"
	"net/http"
)

// Class defines which clients are allowed to call a route.
type Class int

// The values of Class.
const (
	Public    Class = iota // Anyone. The route reveals nothing about the cluster.
	AnyViewer              // Users and guests (viewers of a share link).
	NotGuests
)

// Check returns an error if the class does not allow the sender of a request.
func (c Class) Check(r *http.Request) error {
	from, known := r.Context().Value(senderKey{}).(Sender)
	switch {
	case c == Public:
	case !known:
		return errors.New("the sender of the request was not identified, which is a bug of this route")
	case from.Err != nil:
		return from.Err
	case c == NotGuests && from.Identity.Viewer.Scope != nil:
		return &Problem{
			Title: "Not shared", Status: http.StatusForbidden, Detail: "This page is not shared with you.",
		}
	}
	return nil
}
