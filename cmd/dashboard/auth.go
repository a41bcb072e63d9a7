package main

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/glasshouse-project/glasshouse/internal/web/auth"
)

type authSettings struct {
	mode      string
	audiences []string

	proxyPeers   []string
	proxySecret  string // path of the file with the secret of the trusted proxy
	userHeader   string
	groupsHeader string

	oidc       auth.OIDCOptions
	oidcSecret string // path of the file with the OpenID Connect client secret
	oidcCA     string // path of a PEM file with the CA certificates of the OpenID Connect provider
}

func (s *authSettings) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.mode, "auth", auth.None,
		"How to identify users: none (loopback addresses only), token, oidc, proxy, or shared-identity (everyone "+
			"sees what the program may see).")
	flags.StringSliceVar(&s.audiences, "auth-audience", nil,
		"With --auth token: the accepted audiences of tokens. Without this flag, a token must be for the API server.")
	flags.StringVar(&s.oidc.Issuer, "oidc-issuer", "", "With --auth oidc: the URL of the OpenID provider.")
	flags.StringVar(&s.oidc.ClientID, "oidc-client-id", "",
		"With --auth oidc: the client ID of this program at the provider.")
	flags.StringVar(&s.oidcSecret, "oidc-client-secret-file", "",
		"With --auth oidc: a file with the client secret. Public clients have no secret.")
	flags.StringVar(&s.oidc.UsernameClaim, "oidc-username-claim", "sub",
		"With --auth oidc: the claim with the user name.")
	flags.StringVar(&s.oidc.GroupsClaim, "oidc-groups-claim", "",
		"With --auth oidc: the claim with the user's groups. If it is empty, users have no groups.")
	flags.StringVar(&s.oidc.UsernamePrefix, "oidc-username-prefix", "",
		"With --auth oidc: the prefix of user names, or \"-\" for no prefix. The default is the issuer followed by "+
			"#. If --oidc-username-claim is email, the default is no prefix.")
	flags.StringVar(&s.oidc.GroupsPrefix, "oidc-groups-prefix", "", "With --auth oidc: the prefix of group names.")
	flags.StringSliceVar(&s.oidc.Scopes, "oidc-scopes", []string{"openid", "email", "profile"},
		"With --auth oidc: the scopes to request from the provider.")
	flags.StringVar(&s.oidcCA, "oidc-ca", "",
		"With --auth oidc: a PEM file with the certificate authorities of the provider. The default is the "+
			"certificate authorities of the system.")
	flags.StringSliceVar(&s.proxyPeers, "proxy-peers", nil,
		"With --auth proxy: the address ranges of the proxy, such as 10.244.3.0/24,192.0.2.7/32.")
	flags.StringVar(&s.proxySecret, "proxy-secret-file", "",
		"With --auth proxy: a file with the secret that the proxy sends in the header "+auth.SecretHeader+".")
	flags.StringVar(&s.userHeader, "proxy-user-header", auth.UserHeader,
		"With --auth proxy: the header with the user name.")
	flags.StringVar(&s.groupsHeader, "proxy-groups-header", auth.GroupsHeader,
		"With --auth proxy: the header with the user's groups, separated by commas.")
}

func (s *authSettings) identifiesUsers() bool { return s.mode != auth.None }

func (s *authSettings) options(log *slog.Logger) (auth.Options, error) {
	o := auth.Options{
		Mode: s.mode, Audiences: s.audiences, Log: log, Proxy: auth.ProxyOptions{
			UserHeader: s.userHeader, GroupsHeader: s.groupsHeader,
		},
	}
	if !slices.Contains(auth.Modes(), s.mode) {
		return o, &usageError{fmt.Errorf("--auth is %q; it must be one of %s", s.mode, strings.Join(auth.Modes(), ", "))}
	}
	for _, setting := range []struct {
		flag, mode string
		isSet      bool
	}{
		{"--auth-audience", auth.Token, len(s.audiences) > 0},
		{"--oidc-issuer", auth.OIDC, s.oidc.Issuer != ""},
		{"--oidc-client-id", auth.OIDC, s.oidc.ClientID != ""},
		{"--oidc-client-secret-file", auth.OIDC, s.oidcSecret != ""},
		{"--oidc-ca", auth.OIDC, s.oidcCA != ""},
		{"--proxy-peers", auth.Proxy, len(s.proxyPeers) > 0},
		{"--proxy-secret-file", auth.Proxy, s.proxySecret != ""},
	} {
		if setting.isSet && setting.mode != s.mode {
			return o, &usageError{fmt.Errorf("%s requires --auth %s; --auth is %s", setting.flag, setting.mode, s.mode)}
		}
	}
	if slices.Contains(s.audiences, "") {
		return o, &usageError{
			errors.New("--auth-audience contains an empty audience; omit the flag to accept tokens for the API server"),
		}
	}
	switch s.mode {
	case auth.Proxy:
		return o, s.proxy(&o.Proxy, log)
	case auth.OIDC:
		var err error
		o.OIDC, err = s.provider()
		return o, err
	}
	return o, nil
}

func (s *authSettings) provider() (o auth.OIDCOptions, err error) {
	o = s.oidc
	if o.Issuer == "" || o.ClientID == "" {
		return o, &usageError{
			errors.New("--auth oidc requires --oidc-issuer, the URL of the OpenID provider, and --oidc-client-id, " +
				"the client ID of this program at the provider"),
		}
	}
	if s.oidcSecret != "" {
		secret, err := readSecret("--oidc-client-secret-file", s.oidcSecret)
		if err != nil {
			return o, err
		}
		o.ClientSecret = string(secret)
	}
	if s.oidcCA == "" {
		return o, nil
	}
	o.CA, err = readCertPool("--oidc-ca", s.oidcCA)
	return o, err
}

func (s *authSettings) proxy(o *auth.ProxyOptions, log *slog.Logger) (err error) {
	if len(s.proxyPeers) == 0 && s.proxySecret == "" {
		return &usageError{
			fmt.Errorf("--auth proxy would trust every client that sends %s: set the addresses of the proxy with "+
				"--proxy-peers, or a secret with --proxy-secret-file, or both", s.userHeader),
		}
	}
	if o.Peers, err = parseRanges("--proxy-peers", s.proxyPeers); err != nil {
		return err
	}
	for _, peers := range o.Peers {
		if s.proxySecret == "" &&
			(peers.Overlaps(netip.PrefixFrom(netip.IPv6Loopback(), 128)) ||
				peers.Overlaps(netip.PrefixFrom(netip.AddrFrom4([4]byte{127}), 8))) {
			return &usageError{
				fmt.Errorf("--proxy-peers %q contains loopback addresses, but kubectl port-forward also connects from "+
					"such an address, so anyone who may use it could log in as any user; also set a secret "+
					"with --proxy-secret-file", peers),
			}
		}
	}
	if s.proxySecret == "" {
		warnAboutWideRanges(log, "--proxy-peers", o.Peers,
			"any client in the range can log in as any user, and claim any address")
		return nil
	}
	warnAboutWideRanges(log, "--proxy-peers", o.Peers, addressRisk)
	if o.Secret, err = readSecret("--proxy-secret-file", s.proxySecret); err != nil {
		return err
	}
	if bytes.ContainsFunc(o.Secret, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return &usageError{
			fmt.Errorf("--proxy-secret-file %s: the secret must be one word of visible ASCII characters, because it "+
				"is sent in a header", s.proxySecret),
		}
	}
	return nil
}

// warnAboutWideRanges logs a warning for each address range larger than the usual pod network of one node.
func warnAboutWideRanges(log *slog.Logger, flag string, ranges []netip.Prefix, risk string) {
	for _, prefix := range ranges {
		minBits := 24
		if prefix.Addr().Is6() {
			minBits = 64
		}
		if prefix.Bits() < minBits {
			log.Warn("the range of trusted proxy addresses is wide; list only the addresses of the proxy",
				"flag", flag, "range", prefix.String(), "wider_than", fmt.Sprintf("/%d", minBits), "risk", risk)
		}
	}
}

func parseRanges(flag string, texts []string) ([]netip.Prefix, error) {
	var ranges []netip.Prefix
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if err != nil || prefix.Addr().Is4In6() {
			return nil, &usageError{
				fmt.Errorf("%s %q is not an address range: write a range such as 192.0.2.0/24, or one address such as "+
					"192.0.2.7/32", flag, text),
			}
		}
		if prefix.Bits() == 0 {
			return nil, &usageError{fmt.Errorf("%s %q contains all addresses; list only the addresses of the proxy", flag, text)}
		}
		ranges = append(ranges, prefix)
	}
	return ranges, nil
}

func readCertPool(flag, file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, &usageError{fmt.Errorf("%s %s contains no PEM certificate", flag, file)}
	}
	return pool, nil
}

func readSecret(flag, file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	text = bytes.TrimRight(text, "\r\n")
	if len(text) == 0 {
		return nil, &usageError{fmt.Errorf("%s %s is empty; it must contain the secret or token", flag, file)}
	}
	return text, nil
}
