package redact

import (
	"strings"

	"glasshouse/internal/watch/jsonscan"
)

const (
	// maxHarmless is the maximum length, in bytes, of a Secret's annotation that stays unmasked. Lists of domain
	// names are the longest of these annotations.
	maxHarmless = 1024
	// maxWord is the maximum length, in bytes, of one word in an annotation that stays unmasked. It is the maximum
	// length of a DNS label. Longer words can be encoded data.
	maxWord = 63
)

// isHarmless reports whether an annotation of a Secret stays unmasked. This requires a key of a tool that stores no
// secret value there, and a value that is a name, a number, or a list of these. Any other annotation can contain the
// secret value in some encoding, or a hash by which the value can be guessed.
func isHarmless(key, value []byte) bool {
	if value[0] != '"' || !isHarmlessKey(string(key)) {
		return false
	}
	text, err := jsonscan.Unquote(value)
	return err == nil && len(text) <= maxHarmless && isNames(text) && !mayBeCopy(text)
}

// isHarmlessKey reports whether an annotation with this key describes the origin or the manager of a Secret.
// docs/reference.md lists these keys.
func isHarmlessKey(key string) bool {
	switch key {
	case "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid", // Service account of a token.

		"cert-manager.io/certificate-name", "cert-manager.io/issuer-name", "cert-manager.io/issuer-kind",
		"cert-manager.io/issuer-group", "cert-manager.io/common-name", "cert-manager.io/alt-names",
		"cert-manager.io/ip-sans", "cert-manager.io/uri-sans", // Public parts of a certificate.

		"meta.helm.sh/release-name", "meta.helm.sh/release-namespace", "helm.sh/resource-policy",
		"argocd.argoproj.io/tracking-id", "argocd.argoproj.io/sync-wave", // How the Secret was deployed.

		"sealedsecrets.bitnami.com/managed", "sealedsecrets.bitnami.com/cluster-wide",
		// These annotations have the value true or false.
		"sealedsecrets.bitnami.com/namespace-wide", "reloader.stakater.com/match",

		"reflector.v1.k8s.emberstack.com/reflection-allowed", "reflector.v1.k8s.emberstack.com/reflection-auto-enabled",
		"reflector.v1.k8s.emberstack.com/reflects": // Settings for copies of a Secret.
		return true
	}
	return false
}

// isNames reports whether the text consists only of words, and of separators as in lists, paths and addresses. A word
// consists of at most maxWord letters and digits.
func isNames(text string) bool {
	word := 0
	for _, r := range text {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			word++
		case strings.ContainsRune("-._/:,*", r):
			word = 0
		default:
			return false
		}
		if word > maxWord {
			return false
		}
	}
	return true
}
