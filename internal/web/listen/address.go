package listen

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// AddressWait is the maximum time that a request waits because its address, user or kind of work has reached a limit.
const AddressWait = 10 * time.Second

// Peers are the address ranges of the proxies whose X-Forwarded-For header is trusted.
type Peers []netip.Prefix

func (p Peers) contains(address netip.Addr) bool {
	return slices.ContainsFunc(p, func(prefix netip.Prefix) bool { return prefix.Contains(address) })
}

// addressOf returns the IP address of a TCP connection. For other connections, the second result is false.
func addressOf(remote string) (netip.Addr, bool) {
	parsed, err := netip.ParseAddrPort(remote)
	return parsed.Addr().Unmap().WithZone(""), err == nil
}

// ClientAddr returns the IP address of the client that sent a request, and whether it is known. Behind a trusted proxy,
// it is the last X-Forwarded-For address that does not belong to a trusted proxy.
func (p Peers) ClientAddr(r *http.Request) (netip.Addr, bool) {
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

// AddressKey returns the key under which limits count an address. For IPv6, the key is the /64 network, because one
// host can use any address of it.
func AddressKey(address netip.Addr) string {
	if address.Is6() {
		if prefix, err := address.Prefix(64); err == nil {
			return prefix.String()
		}
	}
	return address.String()
}
