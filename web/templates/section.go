package templates

import (
	"cmp"
	"slices"
	"strings"
)

// sections returns the resources of each section of the resource picker, in order, as "resource.group". The page shows
// rare ones only under "More". /api/v1/resources has the same order.
func sections() []struct{ name, resources, rare string } {
	return []struct{ name, resources, rare string }{
		{
			"Cluster", "nodes.core namespaces.core events.core customresourcedefinitions.apiextensions.k8s.io",
			"events.events.k8s.io leases.coordination.k8s.io leasecandidates.coordination.k8s.io " +
				"componentstatuses.core runtimeclasses.node.k8s.io apiservices.apiregistration.k8s.io " +
				"flowschemas.flowcontrol.apiserver.k8s.io prioritylevelconfigurations.flowcontrol.apiserver.k8s.io " +
				"resourceclaims.resource.k8s.io resourceclaimtemplates.resource.k8s.io deviceclasses.resource.k8s.io " +
				"resourceslices.resource.k8s.io storageversions.internal.apiserver.k8s.io",
		},
		{
			"Workloads", "pods.core deployments.apps statefulsets.apps daemonsets.apps replicasets.apps jobs.batch " +
				"cronjobs.batch horizontalpodautoscalers.autoscaling poddisruptionbudgets.policy",
			"replicationcontrollers.core controllerrevisions.apps podtemplates.core workloads.scheduling.k8s.io " +
				"podgroups.scheduling.k8s.io",
		},
		{
			"Network", "services.core ingresses.networking.k8s.io networkpolicies.networking.k8s.io " +
				"endpointslices.discovery.k8s.io",
			"endpoints.core ingressclasses.networking.k8s.io ipaddresses.networking.k8s.io " +
				"servicecidrs.networking.k8s.io",
		},
		{
			"Config", "configmaps.core secrets.core resourcequotas.core limitranges.core",
			"priorityclasses.scheduling.k8s.io validatingadmissionpolicies.admissionregistration.k8s.io " +
				"validatingadmissionpolicybindings.admissionregistration.k8s.io " +
				"mutatingadmissionpolicies.admissionregistration.k8s.io " +
				"mutatingadmissionpolicybindings.admissionregistration.k8s.io " +
				"validatingwebhookconfigurations.admissionregistration.k8s.io " +
				"mutatingwebhookconfigurations.admissionregistration.k8s.io",
		},
		{
			"Storage", "persistentvolumeclaims.core persistentvolumes.core storageclasses.storage.k8s.io",
			"volumeattachments.storage.k8s.io volumeattributesclasses.storage.k8s.io csidrivers.storage.k8s.io " +
				"csinodes.storage.k8s.io csistoragecapacities.storage.k8s.io " +
				"storageversionmigrations.storagemigration.k8s.io",
		},
		{
			"Access", "serviceaccounts.core roles.rbac.authorization.k8s.io rolebindings.rbac.authorization.k8s.io " +
				"clusterroles.rbac.authorization.k8s.io clusterrolebindings.rbac.authorization.k8s.io",
			"certificatesigningrequests.certificates.k8s.io clustertrustbundles.certificates.k8s.io " +
				"podcertificaterequests.certificates.k8s.io",
		},
	}
}

// Sections sorts resources into the sections of the resource picker.
type Sections struct {
	positions map[string]position // position in the resource picker, by "resource.group"
}

type position struct {
	section string
	rank    int
	isRare  bool
}

// NewSections returns Sections with the built-in resources.
func NewSections() Sections {
	s := Sections{positions: map[string]position{}}
	rank := 0
	for _, section := range sections() {
		for n, resources := range []string{section.resources, section.rare} {
			for resource := range strings.FieldsSeq(resources) {
				s.positions[resource] = position{section.name, rank, n == 1}
				rank++
			}
		}
	}
	return s
}

// Section returns the section of a built-in resource, such as "Workloads". For any other resource, it returns the API
// group.
func (s Sections) Section(group, resource string) string {
	if p, ok := s.positions[resource+"."+group]; ok {
		return p.section
	}
	return group
}

// IsRare reports whether a built-in resource is rarely used, so that the page shows it only under "More".
func (s Sections) IsRare(group, resource string) bool { return s.positions[resource+"."+group].isRare }

// Compare orders resources as the resource picker does: built-in ones first. It returns -1, 0 or 1, like cmp.Compare.
func (s Sections) Compare(groupA, resourceA, groupB, resourceB string) int {
	a, okA := s.positions[resourceA+"."+groupA]
	b, okB := s.positions[resourceB+"."+groupB]
	switch {
	case okA && okB:
		return cmp.Compare(a.rank, b.rank)
	case okA:
		return -1
	case okB:
		return 1
	}
	return cmp.Or(strings.Compare(groupA, groupB), strings.Compare(resourceA, resourceB))
}

// Groups sorts kinds into groups. The keys of problems are API groups whose discovery failed. For each of them without
// kinds, Groups adds an empty group.
func (s Sections) Groups(kinds []Kind, problems map[string]string) []Group {
	kinds = slices.Clone(kinds)
	slices.SortFunc(kinds, func(a, b Kind) int { return s.Compare(a.Group, a.Resource, b.Group, b.Resource) })
	var groups []Group
	for _, kind := range kinds {
		name := s.Section(kind.Group, kind.Resource)
		if n := len(groups); n == 0 || groups[n-1].Name != name {
			groups = append(groups, Group{Name: name, Problem: problems[name]})
		}
		last := &groups[len(groups)-1]
		last.Kinds = append(last.Kinds, kind)
	}
	var failed []Group
	for name, reason := range problems {
		if !slices.ContainsFunc(groups, func(g Group) bool { return g.Name == name }) {
			failed = append(failed, Group{Name: name, Problem: reason})
		}
	}
	slices.SortFunc(failed, func(a, b Group) int { return strings.Compare(a.Name, b.Name) })
	return append(groups, failed...)
}
