package authz

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/status"

	authentication "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
)

// A User is the subject of access reviews. It has every field that an authorizer of the API server can use.
type User struct {
	Name   string              `json:"name"`
	UID    string              `json:"uid,omitempty"`
	Groups []string            `json:"groups,omitempty"`
	Extra  map[string][]string `json:"extra,omitempty"`
}

// Key returns a text that identifies a user by all fields. The text does not depend on the order of groups.
func (u *User) Key() string {
	sorted := User{u.Name, u.UID, slices.Compact(slices.Sorted(slices.Values(u.Groups))), maps.Clone(u.Extra)}
	for name, values := range sorted.Extra {
		sorted.Extra[name] = slices.Sorted(slices.Values(values))
	}
	text, _ := json.Marshal(sorted)
	return string(text)
}

// Same reports whether two users have equal fields, and therefore equal permissions.
func (u *User) Same(other *User) bool { return u.Key() == other.Key() }

// ReviewToken sends a TokenReview and returns the user of the token. If audiences is empty, the token must be valid for
// the API server itself. An error contains a *Problem, but never the token.
func ReviewToken(
	ctx context.Context, client authenticationclient.TokenReviewInterface, token string, audiences []string,
) (*User, error) {
	ctx, cancel := context.WithTimeout(ctx, ReviewTimeout)
	defer cancel()
	review, err := client.Create(ctx, &authentication.TokenReview{
		Spec: authentication.TokenReviewSpec{Token: token, Audiences: audiences},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, errTokenReview(err, token)
	}
	reviewed := review.Status
	if !reviewed.Authenticated || reviewed.User.Username == "" || reviewed.User.Username == "system:anonymous" {
		return nil, status.NotLoggedIn("The API server does not accept the token: it may have expired, or be for another " +
			"cluster or audience.")
	}
	// The list is empty if the API server does not support audiences. The token is then refused, too.
	if len(audiences) > 0 &&
		!slices.ContainsFunc(reviewed.Audiences, func(audience string) bool { return slices.Contains(audiences, audience) }) {
		return nil, status.NotLoggedIn("The token is for another audience than that of this program.")
	}
	user := &User{Name: reviewed.User.Username, UID: reviewed.User.UID, Groups: reviewed.User.Groups}
	if len(reviewed.User.Extra) > 0 {
		user.Extra = make(map[string][]string, len(reviewed.User.Extra))
	}
	for name, values := range reviewed.User.Extra {
		user.Extra[name] = values
	}
	return user, nil
}

// errTokenReview returns the error for a failed token review. The error contains a Problem, which is the only part that
// a caller without a login gets.
func errTokenReview(err error, token string) error {
	p := status.Unavailablef("Login cannot be checked",
		"The API server could not review the token; try again in a moment.")
	if apierrors.IsForbidden(err) {
		p.Detail = "This program is not allowed to review tokens: it needs the permission to create tokenreviews, " +
			"for example through the ClusterRole system:auth-delegator."
	}
	if token != "" && strings.Contains(err.Error(), token) {
		err = errors.New("the error of the API server is omitted, because it contains the token")
	}
	return fmt.Errorf("review a token: %w: %w", p, err)
}
