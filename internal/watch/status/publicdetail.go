package status

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxPublicDetail is the maximum length of an error text for viewers, in bytes.
const maxPublicDetail = 500

// publicDetail returns an error message for viewers. It cuts the message where data of stored objects can begin.
func publicDetail(status *metav1.Status) string {
	if repeatsRequest(status) {
		return truncate(status.Message)
	}
	text := strings.ReplaceAll(strings.TrimPrefix(status.Message, "Internal error occurred: "), "Kind=", "kind ")
	end := strings.IndexAny(text, "\"'`{}[]=<>\\\r\n")
	if colon := strings.Index(text, ": "); colon >= 0 && (end < 0 || colon < end) {
		end = colon
	}
	if end < 0 {
		return truncate(text)
	}
	head := strings.TrimRight(text[:end], " (:")
	if head == "" {
		head = fmt.Sprintf("The API server responds with status %d", status.Code)
	}
	head = truncate(head) + webhookHost(text[end:])
	for _, cause := range []string{
		"not found", "connection refused", "connection reset by peer", "no such host", "no route to host",
		"no endpoints available for service",
		"i/o timeout", "context deadline exceeded", "TLS handshake timeout", "certificate signed by unknown authority",
		"certificate has expired", "service unavailable",
	} {
		if strings.Contains(text[end:], cause) {
			return head + ": " + cause
		}
	}
	return head + "; the rest may contain object data, and is only in the API server's log"
}

// webhookHost returns the host in a webhook's URL, or "". The host is not secret: the webhook's configuration
// contains it.
func webhookHost(text string) string {
	rest, ok := strings.CutPrefix(text, `: Post "https://`)
	end := strings.IndexFunc(rest, func(r rune) bool {
		return r != '.' && r != '-' && r != ':' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	if !ok || end < 0 {
		return ""
	}
	return ": " + rest[:end]
}

// repeatsRequest reports whether an error message of the API server only repeats the request, and so contains no
// data.
func repeatsRequest(status *metav1.Status) bool {
	switch status.Reason {
	case metav1.StatusReasonForbidden, metav1.StatusReasonUnauthorized, metav1.StatusReasonNotFound,
		metav1.StatusReasonBadRequest, metav1.StatusReasonMethodNotAllowed, metav1.StatusReasonNotAcceptable,
		metav1.StatusReasonUnsupportedMediaType, metav1.StatusReasonTooManyRequests, metav1.StatusReasonTimeout,
		metav1.StatusReasonServerTimeout, metav1.StatusReasonServiceUnavailable, metav1.StatusReasonExpired,
		metav1.StatusReasonGone:
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

func truncate(text string) string {
	if len(text) <= maxPublicDetail {
		return text
	}
	return strings.ToValidUTF8(text[:maxPublicDetail], "") + " .."
}
