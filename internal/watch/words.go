package watch

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxWords bounds what is told of an error, in bytes.
const maxWords = 500

// wordsOf is what may be told of an API server's error. Where its message is made
// of what was asked it is told as it is; any other may hold some of what is stored,
// as that of a conversion which failed does, and is told up to where that may
// begin, with its cause where that is one of those that are known.
func wordsOf(status *metav1.Status) string {
	if ofTheRequest(status) {
		return bounded(status.Message)
	}
	text := strings.ReplaceAll(strings.TrimPrefix(status.Message, "Internal error occurred: "), "Kind=", "kind ")
	end := strings.IndexAny(text, "\"'`{}[]=<>\\\r\n")
	if colon := strings.Index(text, ": "); colon >= 0 && (end < 0 || colon < end) {
		end = colon
	}
	if end < 0 {
		return bounded(text)
	}
	head := strings.TrimRight(text[:end], " (:")
	if head == "" {
		head = fmt.Sprintf("The API server answers with %d", status.Code)
	}
	head = bounded(head) + hookOf(text[end:])
	for _, cause := range []string{
		"not found", "connection refused", "connection reset by peer", "no such host", "no route to host", "no endpoints available for service",
		"i/o timeout", "context deadline exceeded", "TLS handshake timeout", "certificate signed by unknown authority", "certificate has expired", "service unavailable",
	} {
		if strings.Contains(text[end:], cause) {
			return head + ": " + cause
		}
	}
	return head + "; the rest is in the API server's log, for it may hold some of an object"
}

// hookOf is the host of a webhook that a text begins with, as a definition names it.
func hookOf(text string) string {
	rest, ok := strings.CutPrefix(text, `: Post "https://`)
	end := strings.IndexFunc(rest, func(r rune) bool {
		return r != '.' && r != '-' && r != ':' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	if !ok || end < 0 {
		return ""
	}
	return ": " + rest[:end]
}

// ofTheRequest reports an error whose message is made of what was asked.
func ofTheRequest(status *metav1.Status) bool {
	switch status.Reason {
	case metav1.StatusReasonForbidden, metav1.StatusReasonUnauthorized, metav1.StatusReasonNotFound, metav1.StatusReasonBadRequest,
		metav1.StatusReasonMethodNotAllowed, metav1.StatusReasonNotAcceptable, metav1.StatusReasonUnsupportedMediaType, metav1.StatusReasonTooManyRequests,
		metav1.StatusReasonTimeout, metav1.StatusReasonServerTimeout, metav1.StatusReasonServiceUnavailable, metav1.StatusReasonExpired, metav1.StatusReasonGone:
		return true
	case metav1.StatusReasonUnknown:
		switch status.Code {
		case 400, 401, 403, 404, 405, 406, 410, 429, 503, 504:
			return true
		}
	default:
	}
	return false
}

// bounded is a text of at most maxWords bytes.
func bounded(text string) string {
	if len(text) <= maxWords {
		return text
	}
	return strings.ToValidUTF8(text[:maxWords], "") + " .."
}
