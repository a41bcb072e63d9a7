package main

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/glasshouse-project/glasshouse/internal/sanitize"
	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/web/auth"
	"github.com/glasshouse-project/glasshouse/internal/web/share"
	"github.com/glasshouse-project/glasshouse/internal/web/shareclient"
)

type sharingSettings struct {
	dataDir string
	admins  []string
}

func (s *sharingSettings) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.dataDir, "data-dir", "",
		"A directory for the share links (shares.json) and the audit log of who created, opened and revoked them "+
			"(audit.jsonl). Without this flag, links end with the program.")
	flags.StringSliceVar(&s.admins, "share-admins", nil,
		"With --auth token, oidc or proxy: groups whose members may list and revoke the share links of other users.")
}

func (s *sharingSettings) open(mode string, log *slog.Logger) (*share.Store, error) {
	identified := mode != auth.None && mode != auth.SharedIdentity
	if len(s.admins) > 0 && !identified {
		return nil, &usageError{
			fmt.Errorf("--share-admins requires --auth token, oidc or proxy; with --auth %s, everyone may revoke all "+
				"links", mode),
		}
	}
	if slices.Contains(s.admins, "") {
		return nil, &usageError{errors.New("--share-admins contains an empty group; omit the flag for no groups")}
	}
	return share.Open(share.Options{Dir: s.dataDir, DropAnonymous: identified, Log: log})
}

// lockDataDir locks the directory of --data-dir against other dashboards, until the result is closed.
func (s *sharingSettings) lockDataDir(ctx context.Context, log *slog.Logger) (io.Closer, error) {
	if s.dataDir == "" {
		return io.NopCloser(nil), nil
	}
	return share.LockDir(ctx, s.dataDir, log)
}

type shareSettings struct {
	server, tokenFile, serverCA string

	resources, namespaces []string
	labels, name, about   string
	note                  string
	lifetime              time.Duration
}

func newShareCommand() *cobra.Command {
	s := &shareSettings{}
	command := &cobra.Command{
		Use:   "share",
		Short: "Manage links to a running dashboard that need no login",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return &usageError{
				errors.New("command missing: use share create, share list or share revoke; see dashboard share --help"),
			}
		},
	}
	command.PersistentFlags().StringVar(&s.server, "server", "http://127.0.0.1:8080",
		"The URL of the running dashboard, with its base path.")
	command.PersistentFlags().StringVar(&s.tokenFile, "token-file", "",
		"A file with a bearer token, if the dashboard requires a login. The "+
			"command sends the token only over HTTPS, or to a server on the same machine.")
	command.PersistentFlags().StringVar(&s.serverCA, "server-ca", "",
		"A PEM file with the certificate authorities of the dashboard. The default is the certificate authorities of "+
			"the system.")
	command.PersistentFlags().BoolP("help", "h", false, "Show the help.")
	create := &cobra.Command{
		Use:     "create",
		Short:   "Create a link and print it",
		Example: "  dashboard share create --resource core/v1/pods --namespace shop --labels app=web --for 1h",
		RunE:    func(command *cobra.Command, _ []string) error { return s.create(command) },
	}
	flags := create.Flags()
	flags.StringSliceVar(&s.resources, "resource", nil,
		"The resources to share, such as core/v1/pods. The link opens the first resource. To share the logs of pods, add "+
			"core/v1/pods/log. May be repeated.")
	flags.StringSliceVar(&s.namespaces, "namespace", nil,
		"The namespaces to share. The default is all. May be repeated.")
	flags.StringVar(&s.labels, "labels", "", "A label selector in the syntax of kubectl -l.")
	flags.StringVar(&s.name, "name", "", "The name of one object.")
	flags.StringVar(&s.about, "about", "",
		"Share only the events about this object, such as deployment.apps/web or pod.core/web-1. --labels and --name "+
			"then apply only to the other resources.")
	flags.DurationVar(&s.lifetime, "for", share.DefaultLifetime, "How long the link is valid, from 1m to 720h.")
	flags.StringVar(&s.note, "note", "", "A note about the purpose of the link.")
	list := &cobra.Command{
		Use: "list", Short: "List the links",
		RunE: func(command *cobra.Command, _ []string) error { return s.list(command) },
	}
	revoke := &cobra.Command{
		Use: "revoke ID", Short: "Revoke a link",
		RunE: func(command *cobra.Command, args []string) error { return s.revoke(command, args[0]) },
	}
	create.Args, list.Args, revoke.Args = exactArgs(0), exactArgs(0), exactArgs(1)
	command.AddCommand(create, list, revoke)
	return command
}

// exactArgs is like cobra.ExactArgs for 0 or 1 arguments, but its error is a usageError.
func exactArgs(n int) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		needed := map[int]string{0: "takes no arguments", 1: "needs 1 argument, the ID of a link"}[n]
		return &usageError{
			fmt.Errorf("share %s %s; got %q; see dashboard share %s --help",
				command.Name(), needed, args, command.Name()),
		}
	}
}

func (s *shareSettings) client() (*shareclient.Client, error) {
	u, err := url.Parse(s.server)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return nil, &usageError{
			fmt.Errorf("--server is %q; it must be an http or https URL without user, query and fragment, such as "+
				"http://127.0.0.1:8080", s.server),
		}
	}
	c := &shareclient.Client{Server: s.server}
	if s.tokenFile != "" {
		if u.Scheme == "http" && !isLoopback(u.Hostname()) {
			return nil, &usageError{
				fmt.Errorf("--token-file would send the token to %s unencrypted: use an https URL in --server",
					u.Host),
			}
		}
		token, err := readSecret("--token-file", s.tokenFile)
		if err != nil {
			return nil, err
		}
		c.Token = string(token)
	}
	c.CA, err = s.authorities(u)
	return c, err
}

func (s *shareSettings) authorities(server *url.URL) (*x509.CertPool, error) {
	if s.serverCA == "" {
		return nil, nil
	}
	if server.Scheme != "https" {
		return nil, &usageError{fmt.Errorf("--server-ca requires https; --server is %s", s.server)}
	}
	return readCertPool("--server-ca", s.serverCA)
}

// create writes only the URL of the new link to stdout, so that scripts can use it.
func (s *shareSettings) create(command *cobra.Command) error {
	if len(s.resources) == 0 {
		return &usageError{errors.New("--resource is missing: set the resources to share, such as --resource core/v1/pods")}
	}
	if s.about != "" && !slices.ContainsFunc(s.resources, isEvents) {
		return &usageError{
			errors.New("--about applies only to events; to share events, add --resource, such as --resource " +
				"core/v1/pods,core/v1/events"),
		}
	}
	if s.lifetime < share.MinLifetime || s.lifetime > share.MaxLifetime {
		return &usageError{
			fmt.Errorf("--for must be between %dm and %dh, got %s",
				share.MinLifetime/time.Minute, share.MaxLifetime/time.Hour, s.lifetime),
		}
	}
	seconds := int64(s.lifetime / time.Second)
	parts := s.parts()
	first := slices.IndexFunc(parts, func(p watch.Part) bool { return p.Resource != "core/v1/pods/log" })
	if first < 0 {
		return &usageError{
			errors.New("logs can only be shared together with pods: share the pods too, such as --resource " +
				"core/v1/pods,core/v1/pods/log"),
		}
	}
	request := share.Request{Parts: parts, To: startPage(&parts[first]), Seconds: &seconds, Note: s.note}
	client, err := s.client()
	if err != nil {
		return err
	}
	created, err := client.Create(command.Context(), request)
	if err != nil {
		return err
	}
	if !created.Persistent {
		_, _ = fmt.Fprintln(command.ErrOrStderr(), "The link ends when the dashboard stops: it has no --data-dir.")
	}
	_, err = fmt.Fprintln(command.OutOrStdout(), sanitize.Text(created.URL))
	return err
}

func (s *shareSettings) parts() []watch.Part {
	parts := make([]watch.Part, len(s.resources))
	for n, resource := range s.resources {
		parts[n] = watch.Part{Resource: resource, Namespaces: s.namespaces, Labels: s.labels, Name: s.name}
		if s.about != "" && isEvents(resource) {
			parts[n] = watch.Part{Resource: resource, Namespaces: s.namespaces, Regarding: s.about}
		}
	}
	return parts
}

func isEvents(resource string) bool { return strings.HasSuffix(resource, "/events") }

func startPage(first *watch.Part) string {
	if first.Name != "" && strings.Count(first.Resource, "/") == 2 {
		namespace := "_"
		if len(first.Namespaces) == 1 {
			namespace = first.Namespaces[0]
		}
		return "/o/" + first.Resource + "/" + url.PathEscape(namespace) + "/" + url.PathEscape(first.Name)
	}
	query := url.Values{}
	for _, ns := range first.Namespaces {
		query.Add("ns", ns)
	}
	if first.Labels != "" {
		query.Set("labels", first.Labels)
	}
	if len(query) == 0 {
		return "/r/" + first.Resource
	}
	return "/r/" + first.Resource + "?" + query.Encode()
}

func (s *shareSettings) list(command *cobra.Command) error {
	client, err := s.client()
	if err != nil {
		return err
	}
	listed, err := client.List(command.Context())
	if err != nil {
		return err
	}
	return writeShares(command.OutOrStdout(), listed.Shares, time.Now())
}

func writeShares(out io.Writer, shares []share.Document, now time.Time) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	// Ignore the errors of these writes, because Flush returns them.
	_, _ = fmt.Fprintln(table, "ID\tENDS IN\tVIEWERS\tLAST USED\tCREATOR\tOPENS\tNOTE")
	for i := range shares {
		d := &shares[i]
		used := "never"
		if d.LastUsed != nil {
			used = duration.HumanDuration(now.Sub(*d.LastUsed)) + " ago"
		}
		line := []string{
			d.ID, duration.HumanDuration(d.Expires.Sub(now)), strconv.Itoa(d.Viewers), used, cmp.Or(d.Creator, "-"),
			d.To, d.Note,
		}
		for n := range line {
			line[n] = sanitize.Text(line[n])
		}
		_, _ = fmt.Fprintln(table, strings.Join(line, "\t"))
	}
	return table.Flush()
}

func (s *shareSettings) revoke(command *cobra.Command, id string) error {
	client, err := s.client()
	if err != nil {
		return err
	}
	return client.Revoke(command.Context(), id)
}
