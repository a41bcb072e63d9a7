package apitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	authorization "k8s.io/api/authorization/v1"
)

// Reviews is the path for access reviews of the client itself. A path that is broken here is also broken for Rules.
const Reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

// review responds according to Refuse and NoWatches for a kind, and according to RefuseGet for its objects.
func (s *Server) review(w http.ResponseWriter, r *http.Request) {
	var review authorization.SelfSubjectAccessReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Spec.ResourceAttributes == nil {
		fail(w, http.StatusBadRequest, fmt.Sprintf("not a review: %v", err))
		return
	}
	asked := review.Spec.ResourceAttributes
	s.mu.Lock()
	defer s.mu.Unlock()
	review.Status.Allowed = true
	for _, k := range s.kinds {
		if k.Ref != strings.Join([]string{groupOf(asked.Group), asked.Version, asked.Resource}, "/") {
			continue
		}
		status := k.refused[""]
		if given, ok := k.refused[asked.Namespace]; ok {
			status = given
		}
		review.Status.Allowed = status != http.StatusForbidden &&
			(asked.Verb != "watch" || k.noWatch != http.StatusForbidden)
		review.Status.Reason = k.reason
		if asked.Verb == "get" && asked.Subresource == "" {
			review.Status.Allowed = s.mayGetLocked(asked)
		}
	}
	write(w, "application/json", review)
}

// Rules is the path for reviews of all rules of the client in a namespace.
const Rules = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"

// Incomplete makes rules reviews allow everything, and report that they are incomplete.
func (s *Server) Incomplete() { s.change(func() { s.incomplete = true }) }

// resolve responds like review does for list and watch.
func (s *Server) resolve(w http.ResponseWriter, r *http.Request) {
	var review authorization.SelfSubjectRulesReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		fail(w, http.StatusBadRequest, fmt.Sprintf("not a review: %v", err))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if review.Status.Incomplete = s.incomplete; s.incomplete {
		all := []string{"*"}
		review.Status.ResourceRules = []authorization.ResourceRule{{Verbs: all, APIGroups: all, Resources: all}}
	}
	for _, k := range s.kinds {
		status := k.refused[""]
		if given, ok := k.refused[review.Spec.Namespace]; ok {
			status = given
		}
		if status == http.StatusForbidden {
			continue
		}
		verbs := []string{"list", "watch"}
		if k.noWatch == http.StatusForbidden {
			verbs = verbs[:1]
		}
		parts := strings.Split(k.Ref, "/")
		if parts[0] == "core" {
			parts[0] = ""
		}
		review.Status.ResourceRules = append(review.Status.ResourceRules, authorization.ResourceRule{
			Verbs: verbs, APIGroups: parts[:1], Resources: parts[2:],
		})
	}
	write(w, "application/json", review)
}

// mayGetLocked reports whether none of the requested objects is forbidden.
func (s *Server) mayGetLocked(asked *authorization.ResourceAttributes) bool {
	path := "/apis/" + asked.Group + "/" + asked.Version + "/"
	if asked.Group == "" {
		path = "/api/" + asked.Version + "/"
	}
	if asked.Namespace != "" {
		path += "namespaces/" + asked.Namespace + "/"
	}
	path += asked.Resource + "/" + asked.Name
	for refused, how := range s.broken {
		if how.code == http.StatusForbidden &&
			(refused == path || asked.Name == "" && strings.HasPrefix(refused, path)) {
			return false
		}
	}
	return true
}

// UserReviews is the path for access reviews of other users.
const UserReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

// Allow makes the function decide what users may do. Before the first call, users may do nothing.
func (s *Server) Allow(allowed func(authorization.SubjectAccessReviewSpec) bool) {
	s.change(func() { s.allowed = allowed })
}

// userReview responds according to Allow.
func (s *Server) userReview(w http.ResponseWriter, r *http.Request) {
	var review authorization.SubjectAccessReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Spec.ResourceAttributes == nil {
		fail(w, http.StatusBadRequest, fmt.Sprintf("not a review: %v", err))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	review.Status.Allowed = s.allowed != nil && s.allowed(review.Spec)
	write(w, "application/json", review)
}

func groupOf(group string) string {
	if group == "" {
		return "core"
	}
	return group
}
