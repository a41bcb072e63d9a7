package traffic

import (
	"encoding/json"
	"regexp"
	"strings"

	networking "k8s.io/api/networking/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// secretAnnotation is an annotation of an Ingress whose value is the name of a Secret, or NAMESPACE/NAME.
type secretAnnotation struct {
	controller string // A part of the name of the controller in the IngressClass. Other controllers ignore the annotation.
	name       string
	needs      string // Another annotation, without which the controller ignores this one, or "".
}

// secretAnnotations are the annotations of well-known controllers. Without the Secret, the controllers reject requests,
// do not update their configuration, or send requests without the expected checks.
var secretAnnotations = []secretAnnotation{ //nolint:gochecknoglobals // Constant.
	{nginxController, "nginx.ingress.kubernetes.io/auth-secret", "nginx.ingress.kubernetes.io/auth-type"},
	{nginxController, "nginx.ingress.kubernetes.io/auth-tls-secret", ""},
	{nginxController, "nginx.ingress.kubernetes.io/proxy-ssl-secret", ""},
	{"haproxy-ingress", "haproxy-ingress.github.io/auth-secret", ""},
	{"haproxy-ingress", "haproxy-ingress.github.io/auth-tls-secret", ""},
	{"haproxy.org", "haproxy.org/auth-secret", "haproxy.org/auth-type"},
	{"haproxy.org", "haproxy.org/client-ca", ""},
	{"haproxy.org", "haproxy.org/server-ca", ""},
	{"haproxy.org", "haproxy.org/server-crt", ""},
	{"nginx.org", "nginx.org/basic-auth-secret", ""},
	{"nginx.org", "nginx.com/jwt-key", ""},
	{albController, "alb.ingress.kubernetes.io/auth-idp-oidc", albAuthType},
}

const (
	nginxController = "ingress-nginx"
	albController   = "ingress.k8s.aws"
	albAuthType     = "alb.ingress.kubernetes.io/auth-type"
	// legacyClass is the annotation with the class of an Ingress, from the time before IngressClasses.
	legacyClass = "kubernetes.io/ingress.class"
)

// legacyControllers are the controllers of classes for which clusters often have no IngressClass.
var legacyControllers = map[string]string{ //nolint:gochecknoglobals // Constant.
	"nginx": nginxController, "alb": albController,
}

// secretPattern matches the name of a Secret with an optional namespace. Values such as file://a do not match.
var secretPattern = regexp.MustCompile(`^(?:([a-z0-9][a-z0-9-]*)/)?([a-z0-9][a-z0-9.-]*)$`)

// missingSecret explains an Ingress by a missing Secret that one of its annotations names. In the first minutes, the
// Secret is possibly still being created.
func missingSecret(s *subject.Subject, o *networking.Ingress) *verdict.Verdict {
	if len(o.Annotations) == 0 || o.DeletionTimestamp != nil {
		return nil
	}
	controller := controllerOf(s, o)
	for n := range secretAnnotations {
		a := &secretAnnotations[n]
		isUsed := controller != "" && strings.Contains(controller, a.controller) &&
			(a.needs == "" || o.Annotations[a.needs] != "" && o.Annotations[a.needs] != "none") &&
			(a.needs != albAuthType || o.Annotations[albAuthType] == "oidc")
		found := secretPattern.FindStringSubmatch(secretIn(o.Annotations[a.name]))
		if !isUsed || found == nil {
			continue
		}
		namespace := s.ID.Namespace()
		if found[1] != "" {
			namespace = found[1]
		}
		secret := s.Find(graph.NewID(graph.Kind{Kind: "Secret"}, namespace, found[2]))
		subject.Follow(s, &secret)
		if secret.Presence == neighbor.Missing && s.IsSettled() {
			v := s.ReportMissing(&secret, verdict.Degraded)
			v.Sentence += ", but the annotation " + a.name + " names it"
			return v
		}
	}
	return nil
}

// secretIn returns the Secret in the value of an annotation. The value can be JSON with the member secretName.
func secretIn(value string) string {
	var settings struct {
		SecretName string `json:"secretName"`
	}
	if strings.HasPrefix(value, "{") && json.Unmarshal([]byte(value), &settings) == nil {
		return settings.SecretName
	}
	return value
}

// className returns the name of the class of an Ingress, or "".
func className(o *networking.Ingress) string {
	if o.Spec.IngressClassName != nil {
		return *o.Spec.IngressClassName
	}
	return o.Annotations[legacyClass]
}

// controllerOf returns the name of the controller that handles an Ingress, or "" if it is unknown.
func controllerOf(s *subject.Subject, o *networking.Ingress) string {
	name := className(o)
	if name == "" {
		return ""
	}
	n := s.Find(graph.NewID(graph.Kind{Group: "networking.k8s.io", Kind: "IngressClass"}, "", name))
	if n.Object == nil {
		return legacyControllers[name]
	}
	return neighbor.Decode[networking.IngressClass](n.Object).Spec.Controller
}
