package quota

import (
	"fmt"
	"net/http"
	"slices"

	"golang.org/x/time/rate"

	"github.com/glasshouse-project/glasshouse/internal/limit"
	"github.com/glasshouse-project/glasshouse/internal/web/auth"
	"github.com/glasshouse-project/glasshouse/internal/web/listen"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/share"
)

// MessageLimiters returns two rate limiters for the messages of a new WebSocket. One is for this WebSocket, and the
// other one for all WebSockets of its IP address.
func (q *Limits) MessageLimiters(r *http.Request) []*rate.Limiter {
	return q.rateLimitersFor(r, rate.NewLimiter(messageRate, messageBurst), q.addressRates)
}

// FrameLimiters returns two rate limiters for the frames of a new WebSocket. One is for this WebSocket, and the other
// one for all WebSockets of its IP address.
func (q *Limits) FrameLimiters(r *http.Request) []*rate.Limiter {
	return q.rateLimitersFor(r, rate.NewLimiter(frameRate, frameBurst), q.frameRates)
}

func (q *Limits) rateLimitersFor(r *http.Request, own *rate.Limiter, addresses *limit.Rates) []*rate.Limiter {
	if address, known := q.peers.ClientAddr(r); known {
		return []*rate.Limiter{own, addresses.For(listen.AddressKey(address))}
	}
	return []*rate.Limiter{own}
}

// ForSocket returns the limits for a new WebSocket: that of its IP address, and those of its user or share link.
func (q *Limits) ForSocket(r *http.Request) []limit.Limit {
	var quotas []limit.Limit
	if address, known := q.peers.ClientAddr(r); known {
		quotas = append(quotas, limit.Limit{Key: "sockets of " + listen.AddressKey(address), Max: addressSockets})
	}
	guest, identity := request.GuestOf(r), request.IdentityOf(r)
	return append(quotas, quotasFor("sockets", guest, identity, linkSockets, guestSockets, viewerSockets)...)
}

// ForSubscription multiplies the limits of a WebSocket by SocketSubscriptions.
func ForSubscription(socket []limit.Limit) []limit.Limit {
	quotas := make([]limit.Limit, len(socket))
	for i, l := range socket {
		quotas[i] = limit.Limit{Key: "subscriptions by " + l.Key, Max: l.Max * SocketSubscriptions}
	}
	return quotas
}

// AcquireSocket counts a WebSocket toward its limits until leave is called. If a limit is reached, leave is nil.
func (q *Limits) AcquireSocket(quotas []limit.Limit) (leave func()) {
	lease := q.Limiter.TryAcquire(1, append(slices.Clip(quotas), limit.Limit{Key: "sockets", Max: maxSockets})...)
	if lease == nil {
		return nil
	}
	q.openSockets.Add(1)
	return func() {
		q.openSockets.Add(-1)
		lease.Release()
	}
}

// AcquireLog counts an open log until release is called. At a limit, the error is a request.Problem.
func (q *Limits) AcquireLog(guest *share.Guest, identity auth.Identity) (release func(), err error) {
	quotas := append(quotasFor("logs", guest, identity, linkLogs, guestLogs, viewerLogs), limit.Limit{
		Key: "logs", Max: maxLogs,
	})
	if lease := q.Limiter.TryAcquire(1, quotas...); lease != nil {
		return lease.Release, nil
	}
	return nil, &request.Problem{
		Title: "Too many logs", Status: http.StatusServiceUnavailable,
		Detail: fmt.Sprintf("The maximum number of open logs is reached, which is %d logs in total, %d by one "+
			"user, %d through one link and %d through all links; close one, then retry.", maxLogs, viewerLogs,
			linkLogs, guestLogs),
	}
}

// quotasFor returns the limits of a guest or user. The unit, "sockets" or "logs", names what the limits count.
func quotasFor(
	unit string, guest *share.Guest, identity auth.Identity, maxLink, maxGuests, maxUser int64,
) []limit.Limit {
	switch user := identity.Viewer.User; {
	case guest != nil:
		return []limit.Limit{
			{Key: unit + " of the share " + guest.Share.ID, Max: maxLink}, {Key: unit + " of guests", Max: maxGuests},
		}
	case user != nil:
		return []limit.Limit{{Key: unit + " of the user " + user.Name, Max: maxUser}}
	}
	return nil
}
