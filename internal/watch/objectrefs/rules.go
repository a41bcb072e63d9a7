package objectrefs

import (
	"regexp"
	"slices"
	"strings"
)

// kindOfNameMember returns the kind that a member such as serviceAccountName refers to by name. ok is false if unknown.
func kindOfNameMember(key string) (target Ref, ok bool) {
	switch key {
	case "serviceAccountName":
		return Ref{Kind: "ServiceAccount"}, true
	case "secretName":
		return Ref{Kind: "Secret"}, true
	case "claimName":
		return Ref{Kind: "PersistentVolumeClaim"}, true
	case "persistentVolumeName":
		return Ref{Kind: "PersistentVolume"}, true
	case "storageClassName":
		return Ref{Group: "storage.k8s.io", Kind: "StorageClass"}, true
	case "nodeName":
		return Ref{Kind: "Node"}, true
	case "ingressClassName":
		return Ref{Group: "networking.k8s.io", Kind: "IngressClass"}, true
	case "priorityClassName":
		return Ref{Group: "scheduling.k8s.io", Kind: "PriorityClass"}, true
	case "runtimeClassName":
		return Ref{Group: "node.k8s.io", Kind: "RuntimeClass"}, true
	case "resourceClaimName":
		return Ref{Group: resourceGroup, Kind: "ResourceClaim"}, true
	case "resourceClaimTemplateName":
		return Ref{Group: resourceGroup, Kind: "ResourceClaimTemplate"}, true
	case "deviceClassName":
		return Ref{Group: resourceGroup, Kind: "DeviceClass"}, true
	case "volumeSnapshotClassName":
		return Ref{Group: "snapshot.storage.k8s.io", Kind: "VolumeSnapshotClass"}, true
	case "volumeAttributesClassName":
		return Ref{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}, true
	case "gatewayClassName":
		return Ref{Group: gatewayGroup, Kind: "GatewayClass"}, true
	}
	return Ref{}, false
}

// kindOfObjectMember returns the kind to which a member with this key refers, such as ConfigMap for configMapRef. The
// value of the member is a JSON object with a name, such as {"name":"settings"}, or a list of such objects.
func kindOfObjectMember(key string) (target Ref, ok bool) {
	switch key {
	case "clusterTrustBundle":
		return Ref{Group: "certificates.k8s.io", Kind: "ClusterTrustBundle"}, true
	case "configMap", "configMapRef", "configMapKeyRef":
		return Ref{Kind: "ConfigMap"}, true
	case "secret", "imagePullSecrets", "secretTargetRef":
		return Ref{Kind: "Secret"}, true
	case "service":
		return Ref{Kind: "Service"}, true
	case "priorityLevelConfiguration":
		return Ref{Group: "flowcontrol.apiserver.k8s.io", Kind: "PriorityLevelConfiguration"}, true
	}
	// The suffix matches nodePublishSecretRef, for example.
	if key == "secretKeyRef" || strings.HasSuffix(strings.ToLower(key), "secretref") {
		return Ref{Kind: "Secret"}, true
	}
	return Ref{}, false
}

const (
	admissionGroup = "admissionregistration.k8s.io"
	gatewayGroup   = "gateway.networking.k8s.io"
	resourceGroup  = "resource.k8s.io"
)

// defaultKindOf returns the kind to which a member refers if its reference does not include a kind. ok is false without
// a default. The defaults are those of the CRDs of cert-manager, KEDA, External Secrets, Tekton and the Gateway API.
func defaultKindOf(key string) (target Ref, ok bool) {
	switch key {
	case "issuerRef":
		return Ref{Group: "cert-manager.io", Kind: "Issuer"}, true
	case "parentRefs":
		return Ref{Group: gatewayGroup, Kind: "Gateway"}, true
	case "backendRef", "backendRefs":
		return Ref{Kind: "Service"}, true
	case "certificateRefs":
		return Ref{Kind: "Secret"}, true
	case "secretStoreRef":
		return Ref{Group: "external-secrets.io", Kind: "SecretStore"}, true
	case "authenticationRef":
		return Ref{Group: "keda.sh", Kind: "TriggerAuthentication"}, true
	case "scaleTargetRef":
		return Ref{Group: "apps", Kind: "Deployment"}, true
	case "taskRef":
		return Ref{Group: "tekton.dev", Kind: "Task"}, true
	case "pipelineRef":
		return Ref{Group: "tekton.dev", Kind: "Pipeline"}, true
	case "providerConfigRef":
		return Ref{Kind: "ProviderConfig"}, true // A kind of Crossplane. The function completeGroup adds its group.
	}
	return Ref{}, false
}

// fluxSources are the kinds of Flux to which a sourceRef or chartRef refers without an API group.
var fluxSources = []string{ //nolint:gochecknoglobals // Constant.
	"Bucket", "ExternalArtifact", "GitRepository", "HelmChart", "HelmRepository", "OCIRepository",
}

// hasKind reports whether a reference in the member key, such as scaleTargetRef, contains the kind of its target.
func hasKind(key string) bool {
	switch key {
	case "subjects", "resource", "dataSource", "involvedObject", "regarding", "related", "valuesFrom", "substituteFrom",
		"describedObject":
		return true
	}
	return strings.HasSuffix(key, "Ref") || strings.HasSuffix(key, "Refs")
}

// isOpaque reports whether a member, such as labels, cannot contain references. depth is 0 for the top level.
func isOpaque(key string, depth int) bool {
	switch key {
	case "metadata", "labels", "annotations", "matchLabels", "nodeSelector", "schema":
		return true
	// Ignore these members: a status only repeats references from other members, and data can contain any text.
	case "status", "data", "stringData", "binaryData":
		return depth == 0
	}
	return false
}

// completeGroup sets target.Group, if it is empty, to the group that the name of a member implies. The member with the
// name key of the object o contains the reference to target.
func completeGroup(o *Ref, key string, target *Ref) {
	if target.Group != "" {
		return
	}
	if byDefault, ok := defaultKindOf(key); ok && byDefault.Group != "" &&
		(target.Kind == byDefault.Kind || strings.HasSuffix(target.Kind, byDefault.Kind)) {
		target.Group = byDefault.Group // The kind can also be the default kind with a prefix: ClusterIssuer for Issuer.
	}
	if key == "providerConfigRef" && strings.HasSuffix(target.Kind, "ProviderConfig") {
		// Use the object's group, without the first part of a long group: gcp.upbound.io for dns.gcp.upbound.io.
		target.Group = o.Group
		if strings.Count(o.Group, ".") > 2 {
			_, target.Group, _ = strings.Cut(o.Group, ".")
		}
	}
	if (key == "sourceRef" || key == "chartRef") && slices.Contains(fluxSources, target.Kind) {
		target.Group = "source.toolkit.fluxcd.io"
	}
}

// output matches the path of a member that names an object which a controller creates, such as managedSecretReference.
var output = regexp.MustCompile(`^spec\.(?:managed|generated|output)(?:Kube)?(?:Secret|ConfigMap)`)

// IsOutput reports whether the member of o at the path via names an object that a controller creates for o.
func IsOutput(o *Ref, via string) bool {
	switch o.Group + "/" + o.Kind {
	case "cert-manager.io/Certificate":
		return via == "spec.secretName"
	case "bitnami.com/SealedSecret", "external-secrets.io/ExternalSecret":
		return strings.HasPrefix(via, "spec.target")
	}
	// spec.volumeSnapshotRef counts as an output, so that a missing VolumeSnapshot is not a problem: the
	// VolumeSnapshotContent that refers to it can outlive it.
	return strings.HasSuffix(via, "writeConnectionSecretToRef") || via == "spec.volumeSnapshotRef" ||
		output.MatchString(via)
}

func (w *walker) addSpecialRefs(spec []byte) {
	o := w.object
	addMember := func(kind, group, member, target string) {
		if o.Group == group && o.Kind == kind {
			members(spec, func(key string, value []byte) {
				if key == member {
					w.add(Ref{Kind: target, Name: textOf(value), Via: "spec." + member})
				}
			})
		}
	}
	addMember("PersistentVolumeClaim", "", "volumeName", "PersistentVolume")
	addMember("StatefulSet", "apps", "serviceName", "Service")
	w.addPolicy(spec)
	if o.Group == "" && o.Kind == "Service" {
		members(spec, func(key string, value []byte) {
			if key == "externalName" {
				w.addHost(textOf(value), "spec.externalName")
			}
		})
	}
	if o.Group == "discovery.k8s.io" && o.Kind == "EndpointSlice" {
		const label = "kubernetes.io/service-name"
		w.add(Ref{Kind: "Service", Name: o.Labels[label], Via: "metadata.labels." + label})
	}
}

// addPolicy adds the policy of a ValidatingAdmissionPolicyBinding or a MutatingAdmissionPolicyBinding.
func (w *walker) addPolicy(spec []byte) {
	kind, ok := strings.CutSuffix(w.object.Kind, "Binding")
	if !ok || w.object.Group != admissionGroup {
		return
	}
	members(spec, func(key string, value []byte) {
		if key == "policyName" {
			w.add(Ref{Group: admissionGroup, Kind: kind, Name: textOf(value), Via: "spec.policyName"})
		}
	})
}
