package parts

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

func etcd() int {
	if err := runEtcd(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "etcd:", err)
		return 1
	}
	return 0
}

func runEtcd(args []string) error {
	cfg, err := etcdConfig(args)
	if err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	member, err := embed.StartEtcd(cfg)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	defer member.Close()
	select {
	case <-stop:
		return nil
	case err := <-member.Err():
		return fmt.Errorf("serve: %w", err)
	}
}

func etcdConfig(args []string) (*embed.Config, error) {
	cfg := embed.NewConfig()
	flags := flag.NewFlagSet(Etcd, flag.ContinueOnError)
	client := flags.String("listen-client-url", "", "URL for clients")
	peer := flags.String("listen-peer-url", "", "URL for peers; there are none")
	flags.StringVar(&cfg.Dir, "data-dir", "", "directory for the data")
	flags.StringVar(
		&cfg.AutoCompactionRetention, "auto-compaction-retention", "0",
		"how long revisions are kept; with 0, the API server compacts them",
	)
	flags.StringVar(&cfg.ClientTLSInfo.CertFile, "cert-file", "", "serving certificate")
	flags.StringVar(&cfg.ClientTLSInfo.KeyFile, "key-file", "", "serving key")
	flags.StringVar(&cfg.ClientTLSInfo.TrustedCAFile, "trusted-ca-file", "", "certificate authority of the clients")
	if err := flags.Parse(args); err != nil {
		return nil, fmt.Errorf("read flags: %w", err)
	}
	clientURL, err := url.Parse(*client)
	if err != nil {
		return nil, fmt.Errorf("read --listen-client-url: %w", err)
	}
	peerURL, err := url.Parse(*peer)
	if err != nil {
		return nil, fmt.Errorf("read --listen-peer-url: %w", err)
	}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{*clientURL}, []url.URL{*clientURL}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{*peerURL}, []url.URL{*peerURL}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.ClientTLSInfo.ClientCertAuth = true
	cfg.LogLevel = "warn"
	// Data must survive a crash of the process, but not of the machine, so fsync is not needed.
	cfg.UnsafeNoFsync = true
	cfg.TickMs, cfg.ElectionMs = 20, 200
	// Creating 10,000 pods on a busy laptop exceeds the default limit of 100 ms for warnings.
	cfg.WarningApplyDuration = 2 * time.Second
	cfg.WarningUnaryRequestDuration = 2 * time.Second // NewConfig sets 0, which makes etcd log every request
	const eightGiB = 8 << 30
	cfg.QuotaBackendBytes = eightGiB
	return cfg, nil
}
