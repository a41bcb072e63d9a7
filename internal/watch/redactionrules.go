package watch

import (
	"slices"
	"strings"
	"sync"

	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/status"

	"k8s.io/apimachinery/pkg/fields"

	"glasshouse/internal/watch/redact"
)

// redactionRules are the rules of --redact, by which sensitive values are masked before they are cached.
type redactionRules struct {
	redact.Rules

	mu     sync.Mutex
	warned map[string]bool
}

// warnOfUnservedRules logs a warning for each --redact rule whose resource is not served: its name may be misspelled.
func (c *Cluster) warnOfUnservedRules() {
	resources, groupErrors, err := c.catalog.All()
	if err != nil || len(groupErrors) > 0 {
		return
	}
	served := make(map[string]bool, len(resources))
	for n := range resources {
		group, _, _ := strings.Cut(resources[n].Ref(), "/")
		served[group+"/"+resources[n].Resource] = true
	}
	c.redactionRules.mu.Lock()
	defer c.redactionRules.mu.Unlock()
	for _, kind := range c.redactionRules.Resources() {
		if !served[kind] && !c.redactionRules.warned[kind] {
			if c.redactionRules.warned == nil {
				c.redactionRules.warned = make(map[string]bool)
			}
			c.redactionRules.warned[kind] = true
			c.log.Warn("--redact has a rule for a resource that the cluster does not serve", "kind", kind)
		}
	}
}

// checkMasked returns an error for a field selector on a masked field, with which a user could guess the value.
func (a *Access) checkMasked(selector string, r *resource.Resource) error {
	rules := a.cluster.redactionRules.Rules
	if a.viewer.isMasked() {
		rules = append(slices.Clone(rules), redact.GuestRules()...)
	}
	parsed, err := fields.ParseSelector(selector)
	if err != nil {
		return nil //nolint:nilerr // Ignore this error: NewFilter returns it.
	}
	for _, requirement := range parsed.Requirements() {
		if rules.MayMask(r.Group, r.Resource, strings.Split(strings.TrimPrefix(requirement.Field, "."), ".")) {
			return &status.Problem{
				Cause: status.Refused,
				Title: "Masked field",
				Detail: "The field " + requirement.Field + " of " + r.Ref() + " is masked, so field selectors cannot " +
					"use it.",
			}
		}
	}
	return nil
}
