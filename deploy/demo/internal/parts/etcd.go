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

// etcd serves the keys of one member, to clients that carry a certificate of the demo's own authority.
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
	peer := flags.String("listen-peer-url", "", "URL for peers, of which there are none")
	flags.StringVar(&cfg.Dir, "data-dir", "", "directory of the data")
	flags.StringVar(
		&cfg.AutoCompactionRetention, "auto-compaction-retention", "0",
		"how long revisions are kept; 0 leaves that to the API server",
	)
	flags.StringVar(&cfg.ClientTLSInfo.CertFile, "cert-file", "", "serving certificate")
	flags.StringVar(&cfg.ClientTLSInfo.KeyFile, "key-file", "", "serving key")
	flags.StringVar(&cfg.ClientTLSInfo.TrustedCAFile, "trusted-ca-file", "", "authority of the clients' certificates")
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
	// A demo outlives its process, not its machine: what was written is in the page cache, and no disk is waited for.
	cfg.UnsafeNoFsync = true
	// With one member there is nobody to hear from first.
	cfg.TickMs, cfg.ElectionMs = 20, 200
	// Applying 10,000 pods on a busy laptop takes longer than the usual 100 ms now and then; that is no news.
	cfg.WarningApplyDuration = 2 * time.Second
	cfg.WarningUnaryRequestDuration = 2 * time.Second // 0, which NewConfig leaves, logs every request
	const eightGiB = 8 << 30
	cfg.QuotaBackendBytes = eightGiB
	return cfg, nil
}
