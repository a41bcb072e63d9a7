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

	"glasshouse/internal/plain"
	"glasshouse/internal/watch"
	"glasshouse/internal/web/auth"
	"glasshouse/internal/web/share"
)

// sharingSettings are the flags for share links.
type sharingSettings struct {
	dataDir string
	admins  []string
}

func (s *sharingSettings) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.dataDir, "data-dir", "",
		"A directory for what is to outlive the program: what is shared (shares.json), and who shared, opened and "+
			"took back what (audit.jsonl). Without it shares end with the program.")
	flags.StringSliceVar(&s.admins, "share-admins", nil,
		"With --auth token, oidc or proxy: groups whose members see, and take back, what others share.")
}

// open opens the store of shares.
func (s *sharingSettings) open(mode string, log *slog.Logger) (*share.Store, error) {
	known := mode != auth.None && mode != auth.SharedIdentity
	if len(s.admins) > 0 && !known {
		return nil, &usageError{
			fmt.Errorf("--share-admins goes with --auth token, oidc or proxy; with --auth %s everybody takes back "+
				"what is shared", mode),
		}
	}
	if slices.Contains(s.admins, "") {
		return nil, &usageError{errors.New("--share-admins names a group that is empty; leave the flag out for none")}
	}
	return share.Open(share.Options{Dir: s.dataDir, Known: known, Log: log})
}

// hold locks the directory --data-dir for this program until the returned Closer is closed.
func (s *sharingSettings) hold(ctx context.Context, log *slog.Logger) (io.Closer, error) {
	if s.dataDir == "" {
		return io.NopCloser(nil), nil
	}
	return share.Hold(ctx, s.dataDir, log)
}

// shareSettings are the flags of the command share, which is a client of a running server.
type shareSettings struct {
	server, tokenFile, serverCA string

	resources, namespaces []string
	labels, name, about   string
	note                  string
	lasts                 time.Duration
}

// newShareCommand returns the command "dashboard share".
func newShareCommand() *cobra.Command {
	s := &shareSettings{}
	command := &cobra.Command{
		Use:   "share",
		Short: "Share what a running dashboard shows, by links that need no login",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return &usageError{
				errors.New("say what to do: share create, share list or share revoke; see dashboard share --help"),
			}
		},
	}
	command.PersistentFlags().StringVar(&s.server, "server", "http://127.0.0.1:8080",
		"The address of the running dashboard, with its base path.")
	command.PersistentFlags().StringVar(&s.tokenFile, "token-file", "",
		"A file with a bearer token, where the dashboard asks who asks. It is sent by https, or to this machine alone.")
	command.PersistentFlags().StringVar(&s.serverCA, "server-ca", "",
		"A file with the certificate authorities by which the dashboard is known, as PEM; the system's where it is "+
			"empty.")
	create := &cobra.Command{
		Use:     "create",
		Short:   "Share something, and print the link",
		Example: "  dashboard share create --resource core/v1/pods --namespace shop --labels app=web --for 1h",
		RunE:    func(command *cobra.Command, _ []string) error { return s.create(command) },
	}
	flags := create.Flags()
	flags.StringSliceVar(&s.resources, "resource", nil,
		"What to share, as in core/v1/pods; the link opens the first. core/v1/pods/log are the logs of pods, which "+
			"are shared beside them. May be repeated.")
	flags.StringSliceVar(&s.namespaces, "namespace", nil,
		"In which namespaces; all where it is not given. May be repeated.")
	flags.StringVar(&s.labels, "labels", "", "A label selector, as kubectl -l takes it.")
	flags.StringVar(&s.name, "name", "", "The name of one object.")
	flags.StringVar(&s.about, "about", "",
		"Of events alone: the object that they must be about, as in deployment.apps/web or pod.core/web-1. --labels "+
			"and --name are then of the other resources.")
	flags.DurationVar(&s.lasts, "for", 24*time.Hour, "For how long, up to 720h.")
	flags.StringVar(&s.note, "note", "", "What it is for.")
	list := &cobra.Command{
		Use: "list", Short: "Show what is shared",
		RunE: func(command *cobra.Command, _ []string) error { return s.list(command) },
	}
	revoke := &cobra.Command{
		Use: "revoke ID", Short: "Take back what is shared",
		RunE: func(command *cobra.Command, args []string) error { return s.revoke(command, args[0]) },
	}
	create.Args, list.Args, revoke.Args = takes(0), takes(0), takes(1)
	command.AddCommand(create, list, revoke)
	return command
}

// takes returns a check that a command has exactly n arguments.
func takes(n int) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) != n {
			return &usageError{
				fmt.Errorf("share %s takes %d arguments beside flags, and was given %q; see dashboard share %s --help",
					command.Name(), n, args, command.Name()),
			}
		}
		return nil
	}
}

func (s *shareSettings) client() (*share.Client, error) {
	u, err := url.Parse(s.server)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return nil, &usageError{
			fmt.Errorf("--server %q is no address of a dashboard: write it as in http://127.0.0.1:8080", s.server),
		}
	}
	c := &share.Client{Server: s.server}
	if s.tokenFile != "" {
		if u.Scheme == "http" && !isLoopback(u.Hostname()) {
			return nil, &usageError{
				fmt.Errorf("--token-file would send the token to %s in clear: name the server by https in --server",
					u.Host),
			}
		}
		token, err := secretOf("--token-file", s.tokenFile)
		if err != nil {
			return nil, err
		}
		c.Token = string(token)
	}
	c.CA, err = s.authorities(u)
	return c, err
}

// authorities returns the certificate authorities for the server; nil means the system's.
func (s *shareSettings) authorities(server *url.URL) (*x509.CertPool, error) {
	if s.serverCA == "" {
		return nil, nil
	}
	if server.Scheme != "https" {
		return nil, &usageError{fmt.Errorf("--server-ca goes with https; --server is %s", s.server)}
	}
	return authoritiesOf("--server-ca", s.serverCA)
}

// create creates a share. It prints only the link, so that scripts can use it.
func (s *shareSettings) create(command *cobra.Command) error {
	if len(s.resources) == 0 {
		return &usageError{errors.New("say what to share with --resource, as in --resource core/v1/pods")}
	}
	if s.about != "" && !slices.ContainsFunc(s.resources, isOfEvents) {
		return &usageError{
			errors.New("--about is of events alone: share them with --resource, as in --resource " +
				"core/v1/pods,core/v1/events"),
		}
	}
	seconds := int64(s.lasts / time.Second)
	parts := s.parts()
	opens := slices.IndexFunc(parts, func(p watch.Part) bool { return p.Resource != "core/v1/pods/log" })
	if opens < 0 {
		return &usageError{
			errors.New("logs are looked at beside their pods: share those, too, as in --resource " +
				"core/v1/pods,core/v1/pods/log"),
		}
	}
	wanted := share.Request{Parts: parts, To: toOf(&parts[opens]), Seconds: &seconds, Note: s.note}
	client, err := s.client()
	if err != nil {
		return err
	}
	created, err := client.Create(command.Context(), wanted)
	if err != nil {
		return err
	}
	if !created.Persistent {
		// A failure to print this note does not matter.
		_, _ = fmt.Fprintln(command.ErrOrStderr(), "The link ends when the dashboard does, which has no --data-dir.")
	}
	_, err = fmt.Fprintln(command.OutOrStdout(), plain.Text(created.URL))
	return err
}

// parts returns the parts of the share that the flags describe.
func (s *shareSettings) parts() []watch.Part {
	parts := make([]watch.Part, len(s.resources))
	for n, resource := range s.resources {
		parts[n] = watch.Part{Resource: resource, Namespaces: s.namespaces, Labels: s.labels, Name: s.name}
		if s.about != "" && isOfEvents(resource) {
			parts[n] = watch.Part{Resource: resource, Namespaces: s.namespaces, About: s.about}
		}
	}
	return parts
}

func isOfEvents(resource string) bool { return strings.HasSuffix(resource, "/events") }

// toOf returns the path of the page that the link opens: the page for the first part of the share.
func toOf(first *watch.Part) string {
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

func writeShares(to io.Writer, shares []share.Document, now time.Time) error {
	table := tabwriter.NewWriter(to, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(table, "ID\tENDS IN\tVIEWERS\tLAST USED\tCREATOR\tOPENS\tNOTE") // Flush reports errors.
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
			line[n] = plain.Text(line[n])
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
