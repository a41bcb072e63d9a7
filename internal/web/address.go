package web

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// peers are the address ranges of the proxies whose X-Forwarded-For header is trusted.
type peers []netip.Prefix

func (p peers) contains(address netip.Addr) bool {
	return slices.ContainsFunc(p, func(prefix netip.Prefix) bool { return prefix.Contains(address) })
}

// addressOf returns the IP address in remote, a text of the form "address:port". The second result is false if remote
// has another form. Only connections of TCP listeners have such addresses.
func addressOf(remote string) (netip.Addr, bool) {
	parsed, err := netip.ParseAddrPort(remote)
	return parsed.Addr().Unmap().WithZone(""), err == nil
}

// clientAddr returns the address of the client that sent a request. If a trusted proxy made the connection, the
// client address is the last address in X-Forwarded-For that is not a trusted proxy itself.
func (p peers) clientAddr(r *http.Request) (netip.Addr, bool) {
	address, known := addressOf(r.RemoteAddr)
	if !known || !p.contains(address) {
		return address, known
	}
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(forwarded) {
		parsed, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			return address, known
		}
		if address = parsed.Unmap().WithZone(""); !p.contains(address) {
			return address, known
		}
	}
	return address, known
}

// addressKey returns the key under which limits count the requests of an address. All IPv6 addresses of one /64 have
// the same key, because one host can use any address of its /64.
func addressKey(address netip.Addr) string {
	if address.Is6() {
		if prefix, err := address.Prefix(64); err == nil {
			return prefix.String()
		}
	}
	return address.String()
}
