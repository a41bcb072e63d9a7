package apitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	authorization "k8s.io/api/authorization/v1"
)

// Reviews is where a client asks what it may do. Rules are not to be had either where
// these are not.
const Reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

// review answers by what Refuse and NoWatches have said of a kind, and RefuseGet of
// its objects.
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
		review.Status.Allowed = status != http.StatusForbidden && (asked.Verb != "watch" || k.noWatch != http.StatusForbidden)
		review.Status.Reason = k.reason
		if asked.Verb == "get" && asked.Subresource == "" {
			review.Status.Allowed = s.mayGetLocked(asked)
		}
	}
	write(w, "application/json", review)
}

// Rules is where a client asks for all that it may do in a namespace.
const Rules = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"

// Incomplete has rules allow anything, and say that they are not all that decides.
func (s *Server) Incomplete() { s.change(func() { s.incomplete = true }) }

// resolve answers as review does of list and watch.
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

// mayGetLocked reports that none of the objects that are meant is forbidden.
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
		if how.code == http.StatusForbidden && (refused == path || asked.Name == "" && strings.HasPrefix(refused, path)) {
			return false
		}
	}
	return true
}

// UserReviews is where a client asks what somebody else may do.
const UserReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

// Allow lets users do what allowed says; before it is called, nobody may do
// anything.
func (s *Server) Allow(allowed func(authorization.SubjectAccessReviewSpec) bool) {
	s.change(func() { s.allowed = allowed })
}

// userReview answers by what Allow was given.
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
