package objectrefs

import "strings"

// kindOfNameMember returns the kind to which a member, such as serviceAccountName, refers by a mere name.
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

// kindOfObjectMember returns the kind to which a member refers by JSON objects with a name, such as configMapRef.
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

// hasKind reports whether a member, such as scaleTargetRef, contains a reference that includes the kind.
func hasKind(key string) bool {
	switch key {
	case "subjects", "resource", "dataSource", "involvedObject", "regarding", "related":
		return true
	}
	return strings.HasSuffix(key, "Ref") || strings.HasSuffix(key, "Refs")
}

// isOpaque reports whether a member cannot contain references, such as a map with arbitrary keys.
func isOpaque(key string, depth int) bool {
	switch key {
	case "metadata", "labels", "annotations", "matchLabels", "nodeSelector", "schema":
		return true
	// A status only repeats names from other members.
	case "status", "data", "stringData", "binaryData":
		return depth == 0
	}
	return false
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
	if o.Group == "discovery.k8s.io" && o.Kind == "EndpointSlice" {
		const label = "kubernetes.io/service-name"
		w.add(Ref{Kind: "Service", Name: o.Labels[label], Via: "metadata.labels." + label})
	}
}
