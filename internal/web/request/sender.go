package request

import (
	"context"
	"net/http"

	"github.com/glasshouse-project/glasshouse/internal/web/auth"
	"github.com/glasshouse-project/glasshouse/internal/web/listen"
	"github.com/glasshouse-project/glasshouse/internal/web/share"
)

// Sender identifies who sent a request. If the sender is unknown, Err is the reason.
type Sender struct {
	Identity   auth.Identity
	Guest      *share.Guest
	Err        error
	ShareEnded bool // The share link has expired, was revoked, or belongs to another cluster.
}

type senderKey struct{}

// WithSender stores the sender in the context of a request.
func WithSender(r *http.Request, from Sender) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), senderKey{}, from))
}

// IdentityOf returns the identity of a request's sender. An unknown sender has the zero Identity, without
// permissions.
func IdentityOf(r *http.Request) auth.Identity {
	from, _ := r.Context().Value(senderKey{}).(Sender)
	return from.Identity
}

// IsIdentified reports whether the sender of a request is known. Unknown senders get no cluster data.
func IsIdentified(r *http.Request) bool {
	v := IdentityOf(r).Viewer
	return v.Program || v.User != nil
}

// HasEndedShare reports whether a request has a guest cookie, but no valid share link for the active cluster.
func HasEndedShare(r *http.Request) bool {
	from, _ := r.Context().Value(senderKey{}).(Sender)
	return from.ShareEnded
}

// GuestOf returns the guest that sent a request, or nil.
func GuestOf(r *http.Request) *share.Guest {
	from, _ := r.Context().Value(senderKey{}).(Sender)
	return from.Guest
}

// ActorOf returns the user and address of a request for the audit log.
func ActorOf(r *http.Request, trusted listen.Peers) share.Actor {
	actor := share.Actor{}
	if GuestOf(r) == nil {
		actor.User = IdentityOf(r).Viewer.User
	}
	if address, known := trusted.ClientAddr(r); known {
		actor.Address = address.String()
	}
	return actor
}

// ShareEnded returns the error for guests whose share link has expired or was revoked.
func ShareEnded() error {
	return &Problem{
		Title: "Link expired", Status: http.StatusUnauthorized,
		Detail: "This link was revoked or has expired. Ask for another link, or leave the shared view to log in " +
			"yourself.",
	}
}
