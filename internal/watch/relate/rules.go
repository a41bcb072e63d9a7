package relate

import "strings"

// named are members whose text names an object, wherever they stand.
func named(key string) (target Ref, ok bool) {
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

// held are members whose value is an object with the name, and often the
// namespace, of another: configMapRef, secretKeyRef, an ingress's service. Of a
// list the elements are.
func held(key string) (target Ref, ok bool) {
	switch key {
	case "configMap", "configMapRef", "configMapKeyRef":
		return Ref{Kind: "ConfigMap"}, true
	case "secret", "imagePullSecrets":
		return Ref{Kind: "Secret"}, true
	case "service":
		return Ref{Kind: "Service"}, true
	}
	if key == "secretKeyRef" || strings.HasSuffix(strings.ToLower(key), "secretref") { // nodePublishSecretRef
		return Ref{Kind: "Secret"}, true
	}
	return Ref{}, false
}

// typed are members whose value says itself of which kind that is:
// scaleTargetRef, roleRef, subjects, an ingress's resource.
func typed(key string) bool {
	switch key {
	case "subjects", "resource", "dataSource", "involvedObject", "regarding", "related":
		return true
	}
	return strings.HasSuffix(key, "Ref") || strings.HasSuffix(key, "Refs")
}

// opaque are members in which a name means something else: maps of anybody's
// keys, and what the status repeats.
func opaque(key string, depth int) bool {
	switch key {
	case "metadata", "labels", "annotations", "matchLabels", "nodeSelector", "schema":
		return true
	case "status", "data", "stringData", "binaryData":
		return depth == 0
	}
	return false
}

// special reads what names an object in one kind alone.
func (w *walker) special(spec []byte) {
	o := w.object
	at := func(kind, group, member, target string) {
		if o.Group == group && o.Kind == kind {
			members(spec, func(key string, value []byte) {
				if key == member {
					w.add(Ref{Kind: target, Name: textOf(value), Via: "spec." + member})
				}
			})
		}
	}
	at("PersistentVolumeClaim", "", "volumeName", "PersistentVolume")
	at("StatefulSet", "apps", "serviceName", "Service")
	if o.Group == "discovery.k8s.io" && o.Kind == "EndpointSlice" {
		const label = "kubernetes.io/service-name"
		w.add(Ref{Kind: "Service", Name: o.Labels[label], Via: "metadata.labels." + label})
	}
}
