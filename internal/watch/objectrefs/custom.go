package objectrefs

import (
	"cmp"
	"slices"
	"strings"
)

const (
	istioGroup   = "networking.istio.io"
	contourGroup = "projectcontour.io"
	routeGroup   = "route.openshift.io"
)

// traefikGroups are the API groups of Traefik; the second one is deprecated.
var traefikGroups = []string{"traefik.io", "traefik.containo.us"} //nolint:gochecknoglobals // Constant.

// customRef returns the kind to which a member refers, if the member has a form that only custom resources use.
func customRef(o *Ref, key string, s *refMembers) (target Ref, ok bool) {
	isService := s.kind == "" || s.kind == "Service"
	switch {
	case !strings.Contains(o.Group, "."):
		return Ref{}, false
	case key == "services" && isService && (o.Group == contourGroup || slices.Contains(traefikGroups, o.Group)):
		return Ref{Kind: "Service"}, true
	case (key == "to" || key == "alternateBackends") && isService && o.Group == routeGroup:
		return Ref{Kind: "Service"}, true
	case s.key == "":
		return Ref{}, false
	case s.kind != "" || s.source != "":
		return keyHolder(cmp.Or(s.kind, s.source))
	case strings.Contains(strings.ToLower(key), "configmap"):
		return Ref{Kind: "ConfigMap"}, true
	}
	return Ref{Kind: "Secret"}, true // A name and a key mean a Secret, as in accessKeyId: {name: backup, key: ID}.
}

// keyHolder returns the kind of an object that contains a value below a key. name is the value of the member kind or
// type next to the key. ok is false for another source of a value, such as Vault.
func keyHolder(name string) (target Ref, ok bool) {
	for _, kind := range []string{"ConfigMap", "Secret"} {
		if strings.EqualFold(name, kind) {
			return Ref{Kind: kind}, true
		}
	}
	return Ref{}, false
}

// useStream changes a reference to a tag or an image of an ImageStream of OpenShift, such as web:latest, to a reference
// to the ImageStream itself, because the tag is not a separate object. It reports whether the member at path names the
// output of a Build. Such a Build cannot begin without the ImageStream.
func (r *refMembers) useStream(by *Ref, path []string) bool {
	separator, ok := map[string]string{"ImageStreamTag": ":", "ImageStreamImage": "@"}[r.kind]
	name, _, isPart := strings.Cut(r.name, separator)
	if !ok || !isPart {
		return false
	}
	r.kind, r.group, r.apiVersion, r.name = "ImageStream", "image.openshift.io", "", name
	return by.Group == "build.openshift.io" && by.Kind == "Build" && slices.Contains(path, "output")
}

// addIstio adds the Service or the Gateway that a text of an Istio object names. It reports whether the text is the
// value of a member that names such an object. It adds nothing for a host outside the cluster.
func (w *walker) addIstio(text string) bool {
	path := w.path
	switch last := string(path[len(path)-1]); {
	case w.object.Group != istioGroup:
		return false
	case last == "host" && len(path) > 1 && string(path[len(path)-2]) == "destination":
		if strings.Contains(text, ".") {
			w.addHost(text, w.via())
		} else {
			w.add(Ref{Kind: "Service", Name: text, Via: w.via()})
		}
	case last == "host" && len(path) == 2 && w.object.Kind == "DestinationRule":
		if strings.Contains(text, ".") {
			w.addHost(text, w.via())
		} else {
			w.add(Ref{Kind: "Service", Name: text, Via: w.via()})
		}
		for n := range w.found { // Optional: a DestinationRule without its Service has no effect, which is not a problem.
			w.found[n].isOptional = true
		}
	case last == "gateways" && text != "mesh":
		namespace, name, ok := strings.Cut(text, "/")
		if !ok {
			namespace, name = "", text
		}
		w.add(Ref{Group: istioGroup, Kind: "Gateway", Namespace: namespace, Name: name, Via: w.via()})
	default:
		return false
	}
	return true
}

// addHost adds the Service that a DNS name refers to: db.shop.svc.cluster.local is the Service db in namespace shop.
func (w *walker) addHost(host, via string) {
	if namespace, name := ServiceOf(host); name != "" {
		w.add(Ref{Kind: "Service", Namespace: namespace, Name: name, Via: via})
	}
}

// ServiceOf returns the namespace and the name of the Service that a host name NAME.NAMESPACE.svc[.DOMAIN] refers to.
// For other host names, it returns empty strings.
func ServiceOf(host string) (namespace, name string) {
	if part := strings.Split(host, "."); len(part) >= 3 && part[2] == "svc" {
		return part[1], part[0]
	}
	return "", ""
}
