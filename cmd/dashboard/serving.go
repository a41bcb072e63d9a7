package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"

	"github.com/spf13/pflag"

	"github.com/glasshouse-project/glasshouse/internal/web"
	"github.com/glasshouse-project/glasshouse/internal/web/listen"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

// addressRisk is the risk if the ranges of --forwarded-by or --proxy-peers are too wide. For a request from these
// ranges, the server trusts a client address that a header contains.
const addressRisk = "any client in the range can claim any address, in rate limits and in the audit log"

type servingSettings struct {
	hosts      []string
	origins    []string
	forwarders []string
	base       string
	cert       string
	key        string
}

func (s *servingSettings) addFlags(flags *pflag.FlagSet) {
	flags.StringSliceVar(&s.hosts, "allowed-host", nil,
		"Host names that clients may use for this server, in addition to loopback addresses: a name for all ports, such as "+
			"glasshouse.example.org, or a name with one port, such as glasshouse.example.org:8443. May be repeated.")
	flags.StringSliceVar(&s.origins, "allowed-origin", nil,
		"Origins whose pages may send requests to this server, in addition to the origin of the server itself. Behind a "+
			"proxy, set the origin of the URL in the browser, such as https://glasshouse.example.org. Clients may then also "+
			"use the host of this origin, as with --allowed-host. May be repeated.")
	flags.StringSliceVar(&s.forwarders, "forwarded-by", nil,
		"The address ranges of an ingress or another proxy, such as 192.0.2.7/32. For requests from these ranges, the "+
			"server reads the address of the client from X-Forwarded-For. It reads no user name from a header. "+
			"Keep ranges narrow: any client in a range can claim any address. May be repeated.")
	flags.StringVar(&s.base, "base-path", "",
		"The path before all paths of the server, such as /glasshouse. A proxy must not remove it from requests.")
	flags.StringVar(&s.cert, "tls-cert", "",
		"A PEM file with the server's certificate and the intermediate certificates, to serve HTTPS. The program reloads "+
			"the file when it changes.")
	flags.StringVar(&s.key, "tls-key", "", "The PEM file with the key of --tls-cert.")
}

func (s *servingSettings) fill(options *web.Options, log *slog.Logger) (err error) {
	if options.Boundary, err = web.NewBoundary(s.hosts, s.origins); err != nil {
		return &usageError{err}
	}
	if options.BasePath, err = request.NewBasePath(s.base); err != nil {
		return &usageError{err}
	}
	forwarders, err := parseRanges("--forwarded-by", s.forwarders)
	if err != nil {
		return err
	}
	warnAboutWideRanges(log, "--forwarded-by", forwarders, addressRisk)
	options.Peers = slices.Concat(options.Peers, forwarders)
	switch {
	case s.cert == "" && s.key == "":
		return nil
	case s.cert == "" || s.key == "":
		return &usageError{
			errors.New("--tls-cert and --tls-key require each other: set both, or neither to serve over HTTP"),
		}
	}
	options.KeyPair, err = listen.NewKeyPair(s.cert, s.key, log)
	return err
}

func (s *servingSettings) scheme() string {
	if s.cert != "" {
		return "https"
	}
	return "http"
}

// listenForProbes opens a listener for health probes and metrics. It accepts any address, because the kubelet and
// Prometheus connect to the pod's address.
func listenForProbes(ctx context.Context, address string) (net.Listener, error) {
	const flag = "--metrics-listen"
	if err := checkAddress(flag, address); err != nil {
		return nil, err
	}
	return bind(ctx, flag, address)
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
