package connection

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

const ipAddress = `\d+\.\d+\.\d+\.\d+`

var (
	// addressedHost matches the name of a host with its address, as in `10.96.0.7:5432 (db)` and `db/10.96.0.7:5432`.
	addressedHost = regexp.MustCompile(`\b` + ipAddress + `:\d+ \(` + hostName + `\)|(?:^|[\s"'=,(@\[])` + hostName +
		`/` + ipAddress + `:\d`)
	// settingsHost matches the name of a host in settings near its address, as in `host=db user=shop` before the address
	// and in `(host db)` after the address. Two groups capture the text between the host and the address.
	settingsHost = regexp.MustCompile(`(?:^|[\s"'(,` + "`" + `])[Hh]ost(?:name)?(?:=|: ?)` + Quote + hostName +
		`(\W.{0,80}?)\b` + ipAddress + `\b` +
		`|\b` + ipAddress + `(\W.{0,80}?)\([Hh]ost(?:name)?(?:[=:] ?| )` + Quote + hostName)
	// otherField matches the start of another field or another line of a log.
	otherField = regexp.MustCompile(`\b(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|PANIC)\b|(?i)\b(?:level|lvl|` +
		`severity|msg|message|time|ts|logger|caller|error|err|host|hostname)["']?=|` +
		`\b(?:trace|debug|info|warn(?:ing)?|error|err|fatal|panic|message|msg|host|hostname)["'\]]*: |` +
		`\[(?:trace|debug|info|warn|error|fatal)`)
)

// addressed returns the name of the host in an error that otherwise contains only its address. found contains the hosts
// that are already known. The name helps if the address is out of date, because the Service was created again. The
// result is empty if the error contains several names or addresses, or if a Service possibly has the address now.
func addressed(c *client, found []string, text string) []string {
	var names []string
	add := func(match, name, between string) {
		if (len(found) == 0 || strings.Contains(match, found[0])) && !otherField.MatchString(between) {
			names = append(names, name) // Not the name of another address.
		}
	}
	for _, in := range addressedHost.FindAllStringSubmatch(text, maxHosts) {
		add(in[0], in[1]+in[2], "")
	}
	for _, in := range settingsHost.FindAllStringSubmatch(text, maxHosts) {
		add(in[0], in[1]+in[4], in[2]+in[3])
	}
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return isAddress(name) || isNoHost(name) })
	isKnown := func(host string) bool {
		address, err := netip.ParseAddr(host)
		return err != nil || isInside(c, address)
	}
	if len(names) == 1 && len(found) <= 1 && !slices.ContainsFunc(found, isKnown) {
		return names
	}
	return nil
}
