package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"strings"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // Registers login plugins of cloud providers.
	"k8s.io/klog/v2"

	"github.com/glasshouse-project/glasshouse/internal/logsample"
	"github.com/glasshouse-project/glasshouse/internal/sanitize"
	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/web"
	"github.com/glasshouse-project/glasshouse/internal/web/auth"
)

type settings struct {
	kube    *genericclioptions.ConfigFlags
	listen  string
	metrics string
	// Whether --listen is set. Without --listen, the program can use a free port instead of the default port.
	listenSet  bool
	clusterSet bool
	pageRows   int
	logLevel   string
	logFormat  string
	watch      watchSettings
	auth       authSettings
	redact     redactSettings
	health     healthSettings
	serving    servingSettings
	sharing    sharingSettings
}

// run returns the exit code: 0 after a normal end, 1 for an error, 2 for a usage error.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	command := newCommand(stderr) //nolint:contextcheck // cobra passes the context on.
	command.SetArgs(args)
	command.SetOut(stdout)
	command.SetErr(stderr)
	err := command.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintf(stderr, "dashboard: %v\n", err)
	if usage := new(usageError); errors.As(err, &usage) {
		return 2
	}
	return 1
}

type usageError struct{ error }

func newCommand(stderr io.Writer) *cobra.Command {
	s := &settings{kube: genericclioptions.NewConfigFlags(true)}
	command := &cobra.Command{
		Use:   "dashboard",
		Short: "A live, read-only view of Kubernetes clusters in the browser",
		Long: "dashboard serves a page that lists all resources of a cluster and shows their changes live.\n" +
			"It finds the cluster as kubectl does: by flags, KUBECONFIG, ~/.kube/config, or the service account of " +
			"its pod.\n" +
			"It only reads from the cluster (get, list and watch), and only what its permissions allow.",
		Example:       "  dashboard\n  dashboard --context staging --listen 127.0.0.1:9090",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{
					fmt.Errorf("unexpected argument %q: dashboard takes only flags, or the command share; see dashboard --help",
						args[0]),
				}
			}
			return nil
		},
		RunE: func(command *cobra.Command, _ []string) error {
			if err := configure(command.Flags(), os.Getenv); err != nil {
				return err
			}
			s.listenSet, s.clusterSet = command.Flags().Changed("listen"), hasClusterFlags(command.Flags())
			return s.serve(command.Context(), command.OutOrStdout(), stderr)
		},
	}
	command.SetVersionTemplate("dashboard {{.Version}}\n")
	command.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return &usageError{fmt.Errorf("%w; see %s --help", err, command.CommandPath())}
	})
	s.addFlags(command.Flags())
	command.Flags().BoolP("help", "h", false, "Show the help.")
	command.Flags().BoolP("version", "v", false, "Show the version.")
	command.AddCommand(newShareCommand())
	command.CompletionOptions.DisableDefaultCmd = true
	return command
}

func (s *settings) addFlags(flags *pflag.FlagSet) {
	s.kube.AddFlags(flags)
	flags.VisitAll(func(flag *pflag.Flag) { flag.Annotations = map[string][]string{kubectlAnnotation: {}} })
	flags.String(configFlag, "",
		"A YAML file with settings, such as listen: 127.0.0.1:8080. Each key is the name of a flag. A flag on the command "+
			"line takes precedence over its environment variable, such as GLASSHOUSE_LISTEN. The environment variable takes "+
			"precedence over this file.")
	flags.StringVar(&s.listen, "listen", "127.0.0.1:8080",
		"The address to serve on. With --auth none, it must be a loopback address. Port 0 selects a free port. Without "+
			"this flag, if the default port is in use, the program selects a free port.")
	s.serving.addFlags(flags)
	s.auth.addFlags(flags)
	s.watch.addFlags(flags)
	s.redact.addFlags(flags)
	s.health.addFlags(flags)
	s.sharing.addFlags(flags)
	flags.StringVar(&s.metrics, "metrics-listen", "",
		"A second address, on which the program serves Prometheus metrics, and the probes /healthz and /readyz. If it is "+
			"a loopback address, the program also serves Go profiles there. Without this flag, the program serves no "+
			"metrics and no profiles. Port 0 selects a free port.")
	flags.IntVar(&s.pageRows, "page-rows", 100_000,
		"The maximum length of a list that a page loads completely. The page sorts and filters such a list itself. The "+
			"server sorts and filters longer lists, and the page loads only the visible rows.")
	flags.StringVar(&s.logLevel, "log-level", "info", "The lowest level to log: debug, info, warn or error.")
	flags.StringVar(&s.logFormat, "log-format", "text", "The log format: text or json.")
}

func (s *settings) serve(ctx context.Context, stdout, stderr io.Writer) error {
	handler, err := s.logHandler(stderr)
	if err != nil {
		return err
	}
	log := slog.New(handler)
	defer handler.Flush(context.WithoutCancel(ctx))
	klog.SetSlogLogger(slog.New(clientLog{handler}))
	timeout, err := s.requestTimeout()
	if err != nil {
		return err
	}
	first, err := findCluster(s.kube)
	if err != nil {
		return err
	}
	options, err := s.watchOptions(log)
	if err != nil {
		return err
	}
	options.RequestTimeout = timeout
	if s.pageRows < 0 {
		return &usageError{fmt.Errorf("--page-rows is %d; it must be 0 or more", s.pageRows)}
	}
	authOptions, err := s.auth.options(log)
	if err != nil {
		return err
	}
	switcher := &contextSwitcher{
		kube: s.kube,
		next: make(chan nextCluster),
		log:  log,
		open: func(f clusterTarget) (*watch.Cluster, error) {
			f.warn(log)
			options := options
			options.Namespace = f.namespace
			return watch.New(f.config, options)
		},
	}
	cluster, err := switcher.open(first)
	if err != nil {
		return err
	}
	webOptions := web.Options{
		ClusterInfo: clusterInfo(first, cluster), Version: version(), PageRows: s.pageRows,
		Peers: authOptions.Proxy.Peers, Log: log,
		MemoryLimit: options.MemoryLimit,
	}
	if !s.auth.identifiesUsers() && !s.clusterSet {
		webOptions.Contexts = switcher.switchable()
	}
	if err := s.serving.fill(&webOptions, log); err != nil {
		return err
	}
	authOptions.ReviewToken, authOptions.Base = cluster.ReviewToken, webOptions.BasePath.At("")
	authority, err := auth.New(authOptions)
	if err != nil {
		return &usageError{fmt.Errorf("--auth %s: %w", s.auth.mode, err)}
	}
	webOptions.Auth, webOptions.ShareAdmins = authority, s.sharing.admins
	lock, err := s.sharing.lockDataDir(ctx, log)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	if webOptions.Shares, err = s.sharing.open(s.auth.mode, log); err != nil {
		return err
	}
	defer func() { _ = webOptions.Shares.Close() }()
	server, err := web.New(webOptions)
	if err != nil {
		return err
	}
	listener, err := s.open(ctx)
	if err != nil {
		return err
	}
	address := s.serving.scheme() + "://" + listener.Addr().String() + webOptions.BasePath.At("/")
	attrs := []slog.Attr{
		slog.String("url", address), slog.String("cluster", first.name), slog.String("server", first.config.Host),
	}
	group, ctx := errgroup.WithContext(ctx)
	// Probes stay available during the shutdown, so that the readiness probe can fail.
	probeCtx, endProbes := context.WithCancel(context.WithoutCancel(ctx))
	defer endProbes()
	if s.metrics != "" {
		metricsListener, err := listenForProbes(ctx, s.metrics)
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		attrs = append(attrs, slog.String("metrics", "http://"+metricsListener.Addr().String()+"/metrics"))
		group.Go(func() error { return server.RunMetrics(probeCtx, metricsListener) })
	}
	group.Go(func() error { return handler.Run(ctx) })
	log.LogAttrs(ctx, slog.LevelInfo, "serving", attrs...)
	// This line is for people. The log contains the same data for programs.
	_, _ = fmt.Fprintf(stdout, "Glasshouse shows %s at %s\n", first.name, address)
	group.Go(func() error { return switcher.run(ctx, cluster, server) })
	group.Go(func() error { return authority.Run(ctx) })
	group.Go(func() error {
		defer endProbes()
		return server.Run(ctx, listener)
	})
	if err := group.Wait(); err != nil {
		return err
	}
	log.InfoContext(ctx, "stopped")
	return nil
}

// watchOptions converts the flags to the options of the packages that watch and mask objects.
func (s *settings) watchOptions(log *slog.Logger) (watch.Options, error) {
	options, err := s.watch.options(log, memlimit.FromCgroup)
	if err != nil {
		return options, err
	}
	options.Log = log
	if options.Redact, err = s.redact.rules(); err != nil {
		return options, err
	}
	options.Health, err = s.health.evaluator(log)
	return options, err
}

// open opens the listener for pages. It uses a free port if --listen is not set and the default port is in use.
func (s *settings) open(ctx context.Context) (net.Listener, error) {
	listener, err := listenOn(ctx, "--listen", s.listen, s.auth.identifiesUsers())
	if usage := new(usageError); err != nil && !s.listenSet && !errors.As(err, &usage) {
		host, _, _ := net.SplitHostPort(s.listen)
		return listenOn(ctx, "--listen", net.JoinHostPort(host, "0"), s.auth.identifiesUsers())
	}
	return listener, err
}

// listenOn opens a listener. If allowAny is false, it requires a loopback address: without a login, every client that
// connects sees the cluster.
func listenOn(ctx context.Context, flag, address string, allowAny bool) (net.Listener, error) {
	if err := checkAddress(flag, address); err != nil {
		return nil, err
	}
	if host, _, _ := net.SplitHostPort(address); !allowAny && !isLoopback(host) {
		return nil, &usageError{fmt.Errorf("%s %q would show the cluster without a login to anyone who can connect: "+
			"set --auth token, oidc or proxy, or listen on 127.0.0.1, [::1] or localhost and connect through "+
			"kubectl port-forward or ssh -L", flag, address)}
	}
	return bind(ctx, flag, address)
}

func checkAddress(flag, address string) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return &usageError{fmt.Errorf("%s %q is not an address: write host:port as in 127.0.0.1:8080", flag, address)}
	}
	return nil
}

func bind(ctx context.Context, flag, address string) (net.Listener, error) {
	config := net.ListenConfig{Control: limitUnsent}
	config.SetMultipathTCP(false) // Multipath TCP sockets ignore the socket options that Control sets.
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w; set another address or port with %s", address, err, flag)
	}
	return listener, nil
}

func (s *settings) logHandler(stderr io.Writer) (*logsample.Handler, error) {
	var level slog.Level
	// Refuse levels below debug, because client-go would log the responses of the API server.
	if err := level.UnmarshalText([]byte(s.logLevel)); err != nil || level < slog.LevelDebug {
		return nil, &usageError{fmt.Errorf("--log-level is %q; it must be debug, info, warn or error", s.logLevel)}
	}
	options := &slog.HandlerOptions{Level: level}
	switch s.logFormat {
	case "text":
		return logsample.New(slog.NewTextHandler(stderr, options)), nil
	case "json":
		options.ReplaceAttr = sanitize.Attr
		return logsample.New(slog.NewJSONHandler(stderr, options)), nil
	}
	return nil, &usageError{fmt.Errorf("--log-format is %q; it must be text or json", s.logFormat)}
}

// version returns the module version of the program, or the VCS commit of the build.
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
