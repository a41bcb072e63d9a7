package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	authentication "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WhoIs asks the API server whose a bearer token is, by a TokenReview, of which
// nothing is kept here. The token must be for one of the audiences, and where
// there are none for the API server itself. The error has a *Problem in it:
// Unauthenticated where the token is not accepted, Unavailable where that cannot
// be found out. It never has the token in it.
func (c *Cluster) WhoIs(ctx context.Context, token string, audiences []string) (*User, error) {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	review, err := c.tokens.Create(ctx, &authentication.TokenReview{
		Spec: authentication.TokenReviewSpec{Token: token, Audiences: audiences},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, unreviewed(err, token)
	}
	is := review.Status
	if !is.Authenticated || is.User.Username == "" || is.User.Username == "system:anonymous" {
		return nil, NotLoggedIn("The API server does not accept the token: it may have expired, be of another cluster, or be for another audience.")
	}
	// A server that does not know audiences leaves them out, whatever was asked.
	if len(audiences) > 0 && !slices.ContainsFunc(is.Audiences, func(of string) bool { return slices.Contains(audiences, of) }) {
		return nil, NotLoggedIn("The token is for another audience than this program's.")
	}
	user := &User{Name: is.User.Username, UID: is.User.UID, Groups: is.User.Groups}
	if len(is.User.Extra) > 0 {
		user.Extra = make(map[string][]string, len(is.User.Extra))
	}
	for name, values := range is.User.Extra {
		user.Extra[name] = values
	}
	return user, nil
}

// NotLoggedIn is the Problem of a request of which it is not known who sends it.
func NotLoggedIn(format string, args ...any) *Problem {
	return &Problem{Cause: Unauthenticated, Title: "Not logged in", Detail: fmt.Sprintf(format, args...)}
}

// unreviewed tells why a token could not be reviewed. Where the API server is,
// and what it says, is not for who is not known: it is the Problem's cause.
func unreviewed(err error, token string) error {
	p := &Problem{Cause: Unavailable, Title: "Login cannot be checked", Detail: "The API server could not be asked whose the token is; try again in a moment."}
	if apierrors.IsForbidden(err) {
		p.Detail = "The API server does not let this program ask whose the token is: it needs the right to create tokenreviews, as the ClusterRole system:auth-delegator has it."
	}
	if token != "" && strings.Contains(err.Error(), token) {
		err = errors.New("it answers with an error that has the token in it")
	}
	return fmt.Errorf("review a token: %w: %w", p, err)
}

// Same reports whether all is the same of two users by which it is decided what
// they may do.
func (u *User) Same(other *User) bool { return u.key() == other.key() }
