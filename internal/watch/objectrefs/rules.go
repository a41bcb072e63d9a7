package objectrefs

import "strings"

// kindOfNameMember returns the kind of object to which a member with this key refers by a mere name. An example is
// serviceAccountName. Such a member can be anywhere in an object.
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
	}
	return Ref{}, false
}

// kindOfObjectMember returns the kind of object to which a member with this key refers. The value of such a member is
// an object with the name, and often the namespace, of the referenced object, or a list of such values. Examples are
// configMapRef, secretKeyRef, and service in an ingress.
func kindOfObjectMember(key string) (target Ref, ok bool) {
	switch key {
	case "configMap", "configMapRef", "configMapKeyRef":
		return Ref{Kind: "ConfigMap"}, true
	case "secret", "imagePullSecrets":
		return Ref{Kind: "Secret"}, true
	case "service":
		return Ref{Kind: "Service"}, true
	}
	// The suffix matches nodePublishSecretRef, for example.
	if key == "secretKeyRef" || strings.HasSuffix(strings.ToLower(key), "secretref") {
		return Ref{Kind: "Secret"}, true
	}
	return Ref{}, false
}

// hasKind reports whether a member with this key contains a reference that includes the kind of the referenced
// object. Examples are scaleTargetRef, roleRef, subjects, and resource in an ingress.
func hasKind(key string) bool {
	switch key {
	case "subjects", "resource", "dataSource", "involvedObject", "regarding", "related":
		return true
	}
	return strings.HasSuffix(key, "Ref") || strings.HasSuffix(key, "Refs")
}

// isOpaque reports whether a member with this key is skipped, because names in it are not references. Such members
// are maps with arbitrary keys, such as labels and data, and the status, which only repeats names. The parameter
// depth is the nesting depth of the member; 0 is the top level.
func isOpaque(key string, depth int) bool {
	switch key {
	case "metadata", "labels", "annotations", "matchLabels", "nodeSelector", "schema":
		return true
	case "status", "data", "stringData", "binaryData":
		return depth == 0
	}
	return false
}

// addSpecialRefs adds the references in members that refer to another object only in objects of certain kinds.
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
	if o.Group == "discovery.k8s.io" && o.Kind == "EndpointSlice" {
		const label = "kubernetes.io/service-name"
		w.add(Ref{Kind: "Service", Name: o.Labels[label], Via: "metadata.labels." + label})
	}
}
