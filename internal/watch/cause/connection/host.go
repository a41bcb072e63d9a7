package connection

import (
	"net"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

const (
	hostName = `([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)`
	// Quote is the pattern of an optional quotation mark.
	Quote = "[\"'`]?"
)

// hostPattern matches a message about a host name that DNS does not resolve. One of its capture groups has the name.
// The messages are from nginx, Go, Node.js, PHP, Java, curl, BusyBox, PostgreSQL, MySQL, Python and the C library.
var hostPattern = regexp.MustCompile(`\bhost not found in (?:upstream )?` + Quote + hostName +
	`|\blookup ` + hostName + `\.?(?: on [0-9a-f.:\[\]]+)?: no such host` +
	`|\bgetaddrinfo (?:ENOTFOUND|EAI_AGAIN|for) ` + hostName +
	`|\b(?:UnknownHostException: |[Rr]esolve host(?:name)?(?: address)?:? |[Uu]nknown host: )` + Quote + hostName +
	`|\b(?:bad address|could not translate host name|[Uu]nknown (?:MySQL server )?host|resolve) ["']` + hostName +
	`["'](?:$|[ ,.:;)])` +
	`|\b` + hostName + `(?::\d+|["'])[:.] (?:Name or service not known|Name does not resolve)` +
	`|\b(?:Name or service not known|Name does not resolve) \(` + hostName + `:\d`)

// IsUnresolved reports whether a text is about a host name that DNS does not resolve.
func IsUnresolved(text string) bool { return hostPattern.MatchString(text) }

// unresolvedHost returns the last host name that DNS does not resolve according to a text, or "". Programs usually end
// because of their last error.
func unresolvedHost(text string) string {
	all := hostPattern.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all[len(all)-1][1:], "") // Only one group is not empty.
}

var (
	// sureHost matches a host name that is certain because of its context: it is in a URL, before a port, or after the
	// name of a program that resolves host names.
	sureHost = regexp.MustCompile(`\b(?:https?|tcp|postgres(?:ql)?|mysql|redis|amqp|mongodb)://(?:[^\s/@"']*@)?` +
		hostName + `|(?:^|[\s"'=,(@\[])` + hostName + `\.?:\d{2,5}\b` +
		`|\b(?:nslookup|getent a?hosts|dig|nc|netcat|telnet)(?: -\S+(?: \d+)?)* ` + Quote + hostName)
	// likelyHost matches a word that is a host name if a Service has this name.
	likelyHost = regexp.MustCompile(`\b(?:[Tt]o|[Aa]t|[Ff]or|[Oo]n|[Ww]ith|(?i:host(?:name)?|server)|` +
		`ECONNREFUSED|ETIMEDOUT|dial tcp)(?:[ :=]+(?:server|host|address|at|on))*[ :=]+\(?` +
		Quote + hostName + `|\((\d+\.\d+\.\d+\.\d+)\)` +
		`|(?:^|\s)(?:-h|-H|--?host(?:name)?)[ =]` + Quote + hostName)
)

// hosts returns the host names in a text: those that sureHost matches or, if there are none, those that likelyHost
// matches. isSure is true if sureHost matches.
func hosts(text string) (found []string, isSure bool) {
	if found = hostsIn(sureHost, text); len(found) > 0 {
		return found, true
	}
	return slices.DeleteFunc(hostsIn(likelyHost, text), isNoHost), false
}

// isNoHost reports whether a word is not the name of a host, although it is at the place of one in common errors.
func isNoHost(word string) bool {
	return slices.Contains([]string{"connect", "server", "host", "port", "database"}, word)
}

// FailedHosts returns the host names in the last connection error of a text, or else in its last 5xx error. It returns
// only names that sureHost matches.
func FailedHosts(text string) []string {
	for _, pattern := range []*regexp.Regexp{noConnection, serverError} {
		if found, isSure := hosts(errorIn(text, pattern)); isSure {
			return found
		}
	}
	return nil
}

// hostsIn returns the host names that a pattern finds in a text.
func hostsIn(pattern *regexp.Regexp, text string) (hosts []string) {
	for _, found := range pattern.FindAllStringSubmatch(text, maxHosts) {
		if host := strings.Join(found[1:], ""); !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// maxHosts limits how many host names of a text are searched for.
const maxHosts = 10

// ServiceOf returns the namespace and the name of the Service to which a host name belongs, such as db, db.shop or
// mysql-0.db.shop.svc.cluster.local. The name is empty if the host is possibly outside the cluster.
func ServiceOf(s *subject.Subject, host string) (namespace, name string) {
	part := strings.Split(host, ".")
	if at := slices.Index(part, "svc"); at >= 2 {
		return part[at-1], part[at-2]
	}
	switch isLocal := host == "localhost" || !strings.ContainsFunc(host, func(r rune) bool { return r >= 'a' }); {
	case isLocal || len(part) > 2:
		return "", ""
	case len(part) == 1:
		return s.ID.Namespace(), host
	}
	if isMember(s, part[0], part[1]) { // Checked first: a namespace can have the same name as this Service.
		return s.ID.Namespace(), part[1]
	}
	if n := s.Find(graph.NewID(graph.Kind{Kind: "Namespace"}, "", part[1])); n.Object != nil {
		return part[1], part[0]
	}
	return "", ""
}

// isMember reports whether a host is a pod of a StatefulSet in the namespace of the subject, and the domain is the
// StatefulSet's Service, as in mysql-0.mysql.
func isMember(s *subject.Subject, host, domain string) bool {
	at := strings.LastIndexByte(host, '-')
	if at < 0 || strings.Trim(host[at+1:], "0123456789") != "" {
		return false
	}
	n := s.Find(graph.NewID(graph.Kind{Group: "apps", Kind: "StatefulSet"}, s.ID.Namespace(), host[:at]))
	return n.Object != nil && neighbor.Decode[appsv1.StatefulSet](n.Object).Spec.ServiceName == domain
}

// services returns the Services that the host in an error can mean, including Services that do not exist. An IP address
// can mean the API server, or a Service in the namespace of the pod. A host in the hostAliases of the pod means none.
func (c *client) services(host string) []neighbor.Neighbor {
	s := c.Subject
	if slices.ContainsFunc(c.pod.Spec.HostAliases, func(a corev1.HostAlias) bool {
		return slices.Contains(a.Hostnames, host)
	}) {
		return nil
	}
	if isAddress(host) {
		all := append(s.All(serviceKind, s.ID.Namespace(), neighbor.Limit), s.Find(apiServer))
		return slices.DeleteFunc(all, func(n neighbor.Neighbor) bool {
			return !slices.Contains(neighbor.Decode[corev1.Service](n.Object).Spec.ClusterIPs, host)
		})
	}
	namespace, name := ServiceOf(s, host)
	if name == "" {
		return nil
	}
	return s.Named(s.ID, &neighbor.Mention{Kind: "Service", Namespace: namespace, Name: name})
}

func isAddress(host string) bool { return net.ParseIP(host) != nil }

//nolint:gochecknoglobals // Constants.
var (
	serviceKind = graph.Kind{Kind: "Service"}
	apiServer   = graph.NewID(serviceKind, "default", "kubernetes") // It has no selector.
)
