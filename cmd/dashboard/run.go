package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"runtime/debug"
	"strings"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // Cloud providers' logins.
	"k8s.io/klog/v2"

	"glasshouse/internal/watch"
	"glasshouse/internal/web"
)

// settings are the flags beside kubectl's own.
type settings struct {
	kube      *genericclioptions.ConfigFlags
	listen    string
	metrics   string
	fixed     bool // listen was given: another port will not do.
	pageRows  int
	logLevel  string
	logFormat string
	watch     watchSettings
}

// run is the program: it returns the exit code. 0 is a clean end, 1 an error, 2
// a mistake on the command line.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	command := newCommand(stderr) //nolint:contextcheck // cobra hands the context on.
	command.SetArgs(args)
	command.SetOut(stdout)
	command.SetErr(stderr)
	err := command.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintf(stderr, "dashboard: %v\n", err) // Nowhere else to say it.
	if usage := new(usageError); errors.As(err, &usage) {
		return 2
	}
	return 1
}

// usageError is a mistake on the command line.
type usageError struct{ error }

func newCommand(stderr io.Writer) *cobra.Command {
	s := &settings{kube: genericclioptions.NewConfigFlags(true)}
	command := &cobra.Command{
		Use:   "dashboard",
		Short: "A live window on a Kubernetes cluster, in a browser, that can look at everything and touch nothing",
		Long: "dashboard serves a page on which every kind of object of a cluster can be browsed and watched as it changes.\n" +
			"It finds the cluster as kubectl does: by flags, KUBECONFIG, ~/.kube/config, or from inside a pod.\n" +
			"It only ever asks for get, list and watch, and what of that it may.",
		Example:       "  dashboard\n  dashboard --context staging --listen 127.0.0.1:9090",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{fmt.Errorf("%q is not understood: dashboard takes flags alone; see dashboard --help", args[0])}
			}
			return nil
		},
		RunE: func(command *cobra.Command, _ []string) error {
			s.fixed = command.Flags().Changed("listen")
			return s.serve(command.Context(), command.OutOrStdout(), stderr)
		},
	}
	command.SetVersionTemplate("dashboard {{.Version}}\n")
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return &usageError{fmt.Errorf("%w; see dashboard --help", err)}
	})
	s.addFlags(command.Flags())
	return command
}

func (s *settings) addFlags(flags *pflag.FlagSet) {
	s.kube.AddFlags(flags)
	flags.StringVar(&s.listen, "listen", "127.0.0.1:8080", "The address to serve on. It must be a loopback address; port 0 takes a free one, and so does the default where it is taken.")
	s.watch.addFlags(flags)
	flags.StringVar(&s.metrics, "metrics-listen", "", "The address to serve Prometheus metrics and Go profiles on; none where it is empty. It must be a loopback address; port 0 takes a free one.")
	flags.IntVar(&s.pageRows, "page-rows", 100_000, "How many rows a page holds at most; of more the server keeps the order, and the page holds those that are looked at.")
	flags.StringVar(&s.logLevel, "log-level", "info", "What to log: debug, info, warn or error.")
	flags.StringVar(&s.logFormat, "log-format", "text", "How to log: text or json.")
}

// serve runs the dashboard until ctx ends.
func (s *settings) serve(ctx context.Context, stdout, stderr io.Writer) error {
	log, err := s.logger(stderr)
	if err != nil {
		return err
	}
	klog.SetSlogLogger(log)
	timeout, err := s.requestTimeout()
	if err != nil {
		return err
	}
	found, err := s.cluster()
	if err != nil {
		return err
	}
	options, err := s.watch.options(log, memlimit.FromCgroup)
	if err != nil {
		return err
	}
	options.RequestTimeout, options.Namespace, options.Log = timeout, found.namespace, log
	if s.pageRows < 0 {
		return &usageError{fmt.Errorf("--page-rows is %d; it takes a number from 0", s.pageRows)}
	}
	cluster, err := watch.New(found.config, options)
	if err != nil {
		return err
	}
	server, err := web.New(web.Options{Cluster: cluster, Name: found.name, Namespace: found.namespace, Version: version(), PageRows: s.pageRows, Log: log})
	if err != nil {
		return err
	}
	listener, err := s.open(ctx)
	if err != nil {
		return err
	}
	address := "http://" + listener.Addr().String() + "/"
	said := []slog.Attr{slog.String("url", address), slog.String("cluster", found.name), slog.String("server", found.config.Host)}
	group, ctx := errgroup.WithContext(ctx)
	if s.metrics != "" {
		measured, err := listenOn(ctx, "--metrics-listen", s.metrics)
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		said = append(said, slog.String("metrics", "http://"+measured.Addr().String()+"/metrics"))
		group.Go(func() error { return server.RunMetrics(ctx, measured) })
	}
	log.LogAttrs(ctx, slog.LevelInfo, "serving", said...)
	_, _ = fmt.Fprintf(stdout, "Glasshouse shows %s at %s\n", found.name, address) // Said for people; the log says it too.
	group.Go(func() error { return cluster.Run(ctx) })
	group.Go(func() error { return server.Run(ctx, listener) })
	if err := group.Wait(); err != nil {
		return err
	}
	log.InfoContext(ctx, "stopped")
	return nil
}

// open listens where the pages are served.
func (s *settings) open(ctx context.Context) (net.Listener, error) {
	listener, err := listenOn(ctx, "--listen", s.listen)
	if usage := new(usageError); err != nil && !s.fixed && !errors.As(err, &usage) {
		host, _, _ := net.SplitHostPort(s.listen) // listenOn has split it.
		return listenOn(ctx, "--listen", net.JoinHostPort(host, "0"))
	}
	return listener, err
}

// listenOn listens, on loopback alone: whoever reaches the port sees what this
// program may see.
func listenOn(ctx context.Context, flag, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &usageError{fmt.Errorf("%s %q is no address: write host:port, as in 127.0.0.1:8080", flag, address)}
	}
	addr, err := netip.ParseAddr(host)
	if host != "localhost" && (err != nil || !addr.IsLoopback()) {
		return nil, &usageError{fmt.Errorf("%s %q would show the cluster to whoever reaches it, without a login: "+
			"listen on 127.0.0.1, [::1] or localhost, and reach it from elsewhere by kubectl port-forward or ssh -L", flag, address)}
	}
	config := net.ListenConfig{Control: boundUnsent}
	config.SetMultipathTCP(false) // Its sockets do not pass on what Control sets.
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w; choose another port with %s", address, err, flag)
	}
	return listener, nil
}

func (s *settings) logger(stderr io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.logLevel)); err != nil {
		return nil, &usageError{fmt.Errorf("--log-level is %q; it takes debug, info, warn or error", s.logLevel)}
	}
	options := &slog.HandlerOptions{Level: level}
	switch s.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(stderr, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(stderr, options)), nil
	}
	return nil, &usageError{fmt.Errorf("--log-format is %q; it takes text or json", s.logFormat)}
}

// version is the module's version, or the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return "devel-" + strings.ToLower(setting.Value[:min(12, len(setting.Value))])
		}
	}
	return "devel"
}
