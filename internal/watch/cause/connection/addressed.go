package connection

import (
	"regexp"
	"slices"
)

// ipAddress is the pattern of an IPv4 address.
const ipAddress = `\d+\.\d+\.\d+\.\d+`

// addressedHost matches the name of a host in an error that also contains the address of this host, as in
// `host=db user=shop`, `10.96.0.7:5432 (db)` and `db/10.96.0.7:5432`.
var addressedHost = regexp.MustCompile(`(?:^|[\s"'(,` + "`" + `])[Hh]ost(?:name)?(?:[=:] ?| )` + Quote + hostName +
	`|\b` + ipAddress + `:\d+ \(` + hostName + `\)|(?:^|[\s"'=,(@\[])` + hostName + `/` + ipAddress + `:\d`)

// addressed returns the name of the host in an error that otherwise contains only its address. found contains the hosts
// that are already known. The result is empty if the error contains several names or addresses, or if the address is
// that of a Service. A Service can have another address now, because it was created again.
func addressed(c *client, found []string, text string) []string {
	names := slices.DeleteFunc(hostsIn(addressedHost, text), isAddress)
	isKnown := func(host string) bool { return !isAddress(host) || len(c.services(host)) > 0 }
	if len(names) != 1 || len(found) > 1 || slices.ContainsFunc(found, isKnown) {
		return nil
	}
	return names
}
