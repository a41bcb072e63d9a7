package message

import "strings"

// Waiting shortens the message of a container that waits. From messages about image pulls, it removes the repeated
// image name. From messages of container runtimes, it removes the names of the software layers through which the error
// passed.
func Waiting(reason, message, image string) string {
	switch reason {
	case "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "RegistryUnavailable", "ImageInspectError":
		return imageText(message, image)
	case "RunContainerError", "CreateContainerError", "StartError", "ContainerCannotRun":
		return runtimeText(message)
	}
	return message
}

// imageText returns the image and the error of its registry, such as "web:v9: not found".
func imageText(message, image string) string {
	cause := message
	for rest := withoutPullStep(cause); rest != cause; rest = withoutPullStep(cause) {
		cause = rest
	}
	if _, after, ok := strings.Cut(cause, image+": "); ok && image != "" {
		cause = after // Omit the image name, which containerd repeats in its error.
	}
	switch {
	case image == "":
		return cause
	case cause == "":
		return "cannot pull " + image
	case strings.Contains(cause, image):
		return cause
	}
	return image + ": " + cause
}

// withoutPullStep removes the first step from an error such as `failed to resolve reference "web:v9": not found`. It
// returns other texts unchanged.
func withoutPullStep(message string) string {
	for _, step := range []struct{ start, end string }{
		{"ErrImagePull: ", ""},
		{"Error response from daemon: ", ""},
		{"rpc error: ", "desc = "},
		{`Back-off pulling image "`, `"`},
		{`failed to pull image "`, `"`},
		{`failed to pull and unpack image "`, `"`},
		{`failed to resolve reference "`, `"`},
		{`failed to resolve image "`, `"`},
		{"initializing source docker://", ": "},
		{"reading manifest ", ": "},
	} {
		if rest, ok := strings.CutPrefix(message, step.start); ok {
			if _, cause, ok := strings.Cut(rest, step.end); ok {
				return strings.TrimPrefix(cause, ": ")
			}
		}
	}
	return message
}

// runtimeText returns the cause in an error of a container runtime, such as `exec: "/app": no such file or directory`.
func runtimeText(message string) string {
	for _, layer := range []string{
		"unable to start container process: ", "OCI runtime create failed: ", "error during container init: ",
		"failed to create shim task: ", "Error response from daemon: ", "rpc error: code = Unknown desc = ",
	} {
		if _, cause, ok := strings.Cut(message, layer); ok {
			message = cause
		}
	}
	return strings.TrimSuffix(strings.TrimSpace(message), ": unknown")
}

// Eviction returns the first sentence of a kubelet's message about an eviction. The other sentences contain
// amounts, such as the usage of each container.
func Eviction(message string) string {
	first, _, _ := strings.Cut(message, ". ")
	first = strings.TrimSuffix(strings.TrimSpace(first), ".")
	if resource, ok := strings.CutPrefix(first, "The node was low on resource: "); ok {
		return "the node was low on " + resource
	}
	return first
}

// ExitMeaning returns the meaning of an exit code by the conventions of shells. It returns "" for other codes, because
// each program defines its own codes.
func ExitMeaning(code int64) string {
	switch code {
	case 126:
		return "command cannot be executed"
	case 127:
		return "command not found"
	case 134:
		return "aborted, SIGABRT"
	case 137:
		return "killed, SIGKILL"
	case 139:
		return "segmentation fault, SIGSEGV"
	case 143:
		return "terminated, SIGTERM"
	}
	return ""
}

// NodeNotReady shortens a kubelet's message. For example, it omits the text from "NetworkReady" to "message:" in
// "container runtime network not ready: NetworkReady=false reason:.. message:Network plugin returns error: ..".
func NodeNotReady(text string) string {
	const network = "container runtime network not ready: "
	if _, cause, ok := strings.Cut(text, " message:"); ok && strings.HasPrefix(text, network) {
		return network + cause
	}
	return text
}
