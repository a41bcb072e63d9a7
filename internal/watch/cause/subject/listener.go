package subject

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

var (
	// listens matches a setting with the addresses or the port on which a program listens, such as
	// --listen-client-urls=https://127.0.0.1:2379 or --port 5432. A setting such as --db-port does not match, because it
	// is often the port of another server.
	listens = regexp.MustCompile(`(?:^| )--?(?:(?:[a-z.-]*[.-])?(?:listen|bind)(?:[.-][a-z.-]*)?|` +
		`(?:(?:secure|insecure|https?|grpc|api|admin|metrics|healthz?|peer)[.-])?port)[= ](\S+)`)
	// number matches a port in such a setting.
	number = regexp.MustCompile(`(?:^|:)(\d{1,5})(?:,|/|$)`)
)

// Serves reports whether a container declares a port, or a setting of its program contains the port.
func Serves(c *corev1.Container, port int32) bool {
	isSame := func(found []string) bool { return found[1] == strconv.Itoa(int(port)) }
	settings := strings.Join(slices.Concat(c.Command, c.Args), " ")
	return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.ContainerPort == port }) ||
		slices.ContainsFunc(listens.FindAllStringSubmatch(settings, -1), func(value []string) bool {
			return slices.ContainsFunc(number.FindAllStringSubmatch(value[1], -1), isSame)
		})
}
