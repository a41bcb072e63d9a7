package api

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	flowcontrol "k8s.io/api/flowcontrol/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// rejectedRequest matches the error of a Kubernetes client after the API server has rejected a request because of a
// concurrency limit. The error often ends with the verb of HTTP and the resource, such as "(get deployments.apps)".
var rejectedRequest = regexp.MustCompile(`\bserver has received too many requests and has asked us to try again later` +
	`(?: \([a-z]+ ([a-z]+)(?:\.([a-z0-9.-]+))?[ )])?`)

//nolint:gochecknoglobals // Constants.
var (
	schemaKind = graph.Kind{Group: flowcontrol.GroupName, Kind: "FlowSchema"}
	levelKind  = graph.Kind{Group: flowcontrol.GroupName, Kind: "PriorityLevelConfiguration"}
)

// apiRequest is a request of the service account of a pod to the API server.
type apiRequest struct {
	namespace, account string
	group, resource    string // The resource is empty if it is unknown.
}

// IsRejected reports whether a text is about a request that the API server has rejected because of a concurrency limit.
func IsRejected(text string) bool { return rejectedRequest.MatchString(text) }

// Rejected explains a pod by a FlowSchema, if IsRejected(text). The FlowSchema assigns the pod's requests to a priority
// level that rejects them. If several FlowSchemas match a request, the API server uses the one with the lowest
// precedence number.
func Rejected(s *subject.Subject, p *corev1.Pod, text string) *verdict.Verdict {
	all, isComplete := subject.AllOf(s, schemaKind, "", neighbor.Limit)
	if !isComplete {
		return nil
	}
	found := rejectedRequest.FindStringSubmatch(text)
	r := &apiRequest{s.ID.Namespace(), cmp.Or(p.Spec.ServiceAccountName, "default"), found[2], found[1]}
	schemas := make(map[graph.ID]flowcontrol.FlowSchema, len(all))
	for n := range all {
		schemas[all[n].ID] = neighbor.Decode[flowcontrol.FlowSchema](all[n].Object)
	}
	slices.SortFunc(all, func(a, b neighbor.Neighbor) int {
		return cmp.Or(
			cmp.Compare(schemas[a.ID].Spec.MatchingPrecedence, schemas[b.ID].Spec.MatchingPrecedence),
			cmp.Compare(a.ID.Name(), b.ID.Name()),
		)
	})
	isCertain := true // Whether no schema so far is only a possible match.
	for n := range all {
		schema := schemas[all[n].ID]
		m := r.matchOf(&schema)
		if m == noMatch {
			continue
		}
		isCertain = isCertain && m != possibleMatch
		level := s.Find(graph.NewID(levelKind, "", schema.Spec.PriorityLevelConfiguration.Name))
		isDedicated := isCertain && isForAccounts(&schema)
		if limit := limitOf(&level, isDedicated); limit != "" {
			subject.Follow(s, &all[n])
			s.AddSource(level.Resource, "")
			return s.ExplainBy(&all[n], s.Own.Severity, s.Own.Reason, subject.Sentences(s.Own.Sentence, fmt.Sprintf(
				"%s assigns the requests of service account %s to %s, %s", all[n].String(), r.account, level.String(), limit)))
		}
		if m == certainMatch {
			return nil
		}
	}
	return nil
}

// limitOf describes the limit of a priority level. It returns "" if the limit is possibly not the reason for a
// rejection. A level that permits no concurrent requests rejects all requests. The limit of any other level can be
// correct, so it counts only if the level is for the requests of certain accounts (isDedicated).
func limitOf(n *neighbor.Neighbor, isDedicated bool) string {
	level := neighbor.Decode[flowcontrol.PriorityLevelConfiguration](n.Object)
	limited := level.Spec.Limited
	switch {
	case level.Spec.Type != flowcontrol.PriorityLevelEnablementLimited || limited == nil:
	case isZero(limited.NominalConcurrencyShares) && limited.BorrowingLimitPercent != nil:
		return "which permits no concurrent requests (nominalConcurrencyShares 0)"
	case isDedicated && !isMaintained(level.Annotations):
		return "whose limit of concurrent requests is exceeded"
	}
	return ""
}

func isZero(number *int32) bool { return number != nil && *number == 0 }

// isMaintained reports whether the API server itself maintains a FlowSchema or a PriorityLevelConfiguration.
func isMaintained(annotations map[string]string) bool {
	return annotations[flowcontrol.AutoUpdateAnnotationKey] == "true"
}

// match is whether a FlowSchema matches a request.
type match uint8

const (
	noMatch       match = iota
	possibleMatch       // Some requests of the account match, but it is unknown whether this request does.
	certainMatch
)

func (r *apiRequest) matchOf(schema *flowcontrol.FlowSchema) (best match) {
	for n := range schema.Spec.Rules {
		rule := &schema.Spec.Rules[n]
		if !slices.ContainsFunc(rule.Subjects, r.isFrom) {
			continue
		}
		for i := range rule.ResourceRules {
			best = max(best, r.matchOfRule(&rule.ResourceRules[i]))
		}
	}
	return best
}

func (r *apiRequest) matchOfRule(rule *flowcontrol.ResourcePolicyRule) match {
	isAny := func(list []string) bool { return slices.Contains(list, "*") }
	isResource := (isAny(rule.APIGroups) || slices.Contains(rule.APIGroups, r.group)) &&
		(isAny(rule.Resources) || slices.Contains(rule.Resources, r.resource))
	switch isKnown := r.resource != "" || isAny(rule.APIGroups) && isAny(rule.Resources); {
	case !isKnown:
		return possibleMatch
	case !isResource:
		return noMatch
	case isAny(rule.Verbs) && isAny(rule.Namespaces) && rule.ClusterScope:
		return certainMatch
	}
	return possibleMatch
}

func (r *apiRequest) user() string { return "system:serviceaccount:" + r.namespace + ":" + r.account }

// isFrom reports whether a subject of a FlowSchema includes the account of the request.
func (r *apiRequest) isFrom(of flowcontrol.Subject) bool {
	switch {
	case of.ServiceAccount != nil:
		return of.ServiceAccount.Namespace == r.namespace &&
			(of.ServiceAccount.Name == r.account || of.ServiceAccount.Name == "*")
	case of.User != nil:
		return of.User.Name == r.user() || of.User.Name == "*"
	case of.Group != nil:
		return slices.Contains([]string{
			"*", "system:authenticated", "system:serviceaccounts", "system:serviceaccounts:" + r.namespace,
		}, of.Group.Name)
	}
	return false
}

// isForAccounts reports whether a FlowSchema is only for requests of certain accounts.
func isForAccounts(schema *flowcontrol.FlowSchema) bool {
	for n := range schema.Spec.Rules {
		for _, of := range schema.Spec.Rules[n].Subjects {
			isOne := of.ServiceAccount != nil && of.ServiceAccount.Name != "*" || of.User != nil && of.User.Name != "*"
			if !isOne {
				return false
			}
		}
	}
	return !isMaintained(schema.Annotations)
}
