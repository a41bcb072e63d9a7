package apitest

import (
	"encoding/json"
	"fmt"
	"net/http"

	authentication "k8s.io/api/authentication/v1"
)

// TokenReviewsPath is the URL path of token reviews.
const TokenReviewsPath = "/apis/authentication.k8s.io/v1/tokenreviews"

// SetTokenReviews sets the result of the token review for each token. Other tokens are not authenticated.
func (s *Server) SetTokenReviews(statuses map[string]authentication.TokenReviewStatus) {
	s.Handle(TokenReviewsPath, func(w http.ResponseWriter, r *http.Request) {
		var review authentication.TokenReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil || r.Method != http.MethodPost {
			fail(w, http.StatusBadRequest, fmt.Sprintf("invalid token review: %s, %v", r.Method, err))
			return
		}
		review.Status = statuses[review.Spec.Token]
		write(w, "application/json", review)
	})
}
