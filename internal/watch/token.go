package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/status"

	authentication "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReviewToken sends a TokenReview, and returns the user of the token. Without audiences, the token must be valid for
// the API server. The error contains a *Problem, but never the token.
func (c *Cluster) ReviewToken(ctx context.Context, token string, audiences []string) (*authz.User, error) {
	ctx, cancel := context.WithTimeout(ctx, authz.ReviewTimeout)
	defer cancel()
	review, err := c.tokens.Create(ctx, &authentication.TokenReview{
		Spec: authentication.TokenReviewSpec{Token: token, Audiences: audiences},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, errTokenReview(err, token)
	}
	status := review.Status
	if !status.Authenticated || status.User.Username == "" || status.User.Username == "system:anonymous" {
		return nil, NotLoggedIn("The API server does not accept the token: it may have expired, or be for another " +
			"cluster or audience.")
	}
	// An API server that does not support audiences returns none; the token is then refused.
	if len(audiences) > 0 &&
		!slices.ContainsFunc(status.Audiences, func(audience string) bool { return slices.Contains(audiences, audience) }) {
		return nil, NotLoggedIn("The token is for another audience than that of this program.")
	}
	user := &authz.User{Name: status.User.Username, UID: status.User.UID, Groups: status.User.Groups}
	if len(status.User.Extra) > 0 {
		user.Extra = make(map[string][]string, len(status.User.Extra))
	}
	for name, values := range status.User.Extra {
		user.Extra[name] = values
	}
	return user, nil
}

// NotLoggedIn returns the Problem for a request whose user is unknown.
func NotLoggedIn(format string, args ...any) *status.Problem {
	return &status.Problem{Cause: status.Unauthenticated, Title: "Not logged in", Detail: fmt.Sprintf(format, args...)}
}

// errTokenReview returns the error for an not reviewed token. Unknown callers can read its Problem, but not the wrapped
// error.
func errTokenReview(err error, token string) error {
	p := &status.Problem{
		Cause:  status.Unavailable,
		Title:  "Login cannot be checked",
		Detail: "The API server could not review the token; try again in a moment.",
	}
	if apierrors.IsForbidden(err) {
		p.Detail = "This program is not allowed to review tokens: it needs the permission to create tokenreviews, " +
			"for example through the ClusterRole system:auth-delegator."
	}
	if token != "" && strings.Contains(err.Error(), token) {
		err = errors.New("the error of the API server contains the token")
	}
	return fmt.Errorf("review a token: %w: %w", p, err)
}
