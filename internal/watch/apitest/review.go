package apitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	authorization "k8s.io/api/authorization/v1"
)

// SelfReviewsPath is the URL path of SelfSubjectAccessReviews. FailPath and Hang with this path also affect requests
// for RulesReviewsPath.
const SelfReviewsPath = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

func (s *Server) selfReview(w http.ResponseWriter, r *http.Request) {
	var review authorization.SelfSubjectAccessReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Spec.ResourceAttributes == nil {
		fail(w, http.StatusBadRequest, fmt.Sprintf("invalid review: %v", err))
		return
	}
	attributes := review.Spec.ResourceAttributes
	s.mu.Lock()
	defer s.mu.Unlock()
	review.Status.Allowed = true
	for _, k := range s.kinds {
		if k.Ref != strings.Join([]string{groupOf(attributes.Group), attributes.Version, attributes.Resource}, "/") {
			continue
		}
		status := k.refused[""]
		if namespaceStatus, ok := k.refused[attributes.Namespace]; ok {
			status = namespaceStatus
		}
		review.Status.Allowed = status != http.StatusForbidden &&
			(attributes.Verb != "watch" || k.watchStatus != http.StatusForbidden)
		review.Status.Reason = k.reason
		if attributes.Verb == "get" && attributes.Subresource == "" {
			review.Status.Allowed = s.mayGetLocked(attributes)
		}
	}
	write(w, "application/json", review)
}

// RulesReviewsPath is the URL path of SelfSubjectRulesReviews.
const RulesReviewsPath = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"

// ReportIncompleteRules makes each SelfSubjectRulesReview return a rule that allows everything. The review also reports
// that its rules are incomplete, so that clients must ignore them.
func (s *Server) ReportIncompleteRules() { s.change(func() { s.incompleteRules = true }) }

func (s *Server) rulesReview(w http.ResponseWriter, r *http.Request) {
	var review authorization.SelfSubjectRulesReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		fail(w, http.StatusBadRequest, fmt.Sprintf("invalid review: %v", err))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if review.Status.Incomplete = s.incompleteRules; s.incompleteRules {
		all := []string{"*"}
		review.Status.ResourceRules = []authorization.ResourceRule{{Verbs: all, APIGroups: all, Resources: all}}
	}
	for _, k := range s.kinds {
		status := k.refused[""]
		if namespaceStatus, ok := k.refused[review.Spec.Namespace]; ok {
			status = namespaceStatus
		}
		if status == http.StatusForbidden {
			continue
		}
		verbs := []string{"list", "watch"}
		if k.watchStatus == http.StatusForbidden {
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

// mayGetLocked reports whether the server allows a get of the named object, or of every object if the name is empty.
func (s *Server) mayGetLocked(attributes *authorization.ResourceAttributes) bool {
	path := "/apis/" + attributes.Group + "/" + attributes.Version + "/"
	if attributes.Group == "" {
		path = "/api/" + attributes.Version + "/"
	}
	if attributes.Namespace != "" {
		path += "namespaces/" + attributes.Namespace + "/"
	}
	path += attributes.Resource + "/" + attributes.Name
	for refused, failure := range s.failures {
		if failure.code == http.StatusForbidden &&
			(refused == path || attributes.Name == "" && strings.HasPrefix(refused, path)) {
			return false
		}
	}
	return true
}

// UserReviewsPath is the URL path of SubjectAccessReviews, which check the permissions of users other than the client.
const UserReviewsPath = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

// Allow sets the function that decides SubjectAccessReviews. Without the function, the server denies each review.
func (s *Server) Allow(allowed func(authorization.SubjectAccessReviewSpec) bool) {
	s.change(func() { s.allowed = allowed })
}

func (s *Server) userReview(w http.ResponseWriter, r *http.Request) {
	var review authorization.SubjectAccessReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Spec.ResourceAttributes == nil {
		fail(w, http.StatusBadRequest, fmt.Sprintf("invalid review: %v", err))
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
