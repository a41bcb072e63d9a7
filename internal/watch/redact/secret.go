package redact

import (
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

const (
	// maxHarmless is the maximum length, in bytes, of an unmasked annotation of a Secret, such as a list of domain names.
	maxHarmless = 1024
	// maxWord is the maximum length, in bytes, of a word in an unmasked annotation. Longer words can be encoded data.
	maxWord = 63
)

// isHarmless reports whether an annotation of a Secret stays unmasked. Other annotations can contain the secret value
// or its hash.
func isHarmless(key, value []byte) bool {
	if value[0] != '"' || !isHarmlessKey(string(key)) {
		return false
	}
	text, err := jsonscan.Unquote(value)
	return err == nil && len(text) <= maxHarmless && isNames(text) && !mayBeCopy(text)
}

// isHarmlessKey reports whether docs/reference.md lists the key as unmasked.
func isHarmlessKey(key string) bool {
	switch key {
	case "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid",

		"cert-manager.io/certificate-name", "cert-manager.io/issuer-name", "cert-manager.io/issuer-kind",
		"cert-manager.io/issuer-group", "cert-manager.io/common-name", "cert-manager.io/alt-names",
		"cert-manager.io/ip-sans", "cert-manager.io/uri-sans",

		"meta.helm.sh/release-name", "meta.helm.sh/release-namespace", "helm.sh/resource-policy",
		"argocd.argoproj.io/tracking-id", "argocd.argoproj.io/sync-wave",

		"sealedsecrets.bitnami.com/managed", "sealedsecrets.bitnami.com/cluster-wide",
		"sealedsecrets.bitnami.com/namespace-wide", "reloader.stakater.com/match",

		"reflector.v1.k8s.emberstack.com/reflection-allowed", "reflector.v1.k8s.emberstack.com/reflection-auto-enabled",
		"reflector.v1.k8s.emberstack.com/reflects":
		return true
	}
	return false
}

// isNames reports whether the text consists only of separators, and of words with at most maxWord letters and digits.
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
