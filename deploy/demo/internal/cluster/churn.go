package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/churn"
	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/identity"
	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/seed"
)

// Churn changes pods in the namespace big, at a rate in changes per second. It returns the number of changes.
func Churn(ctx context.Context, directory string, pods int64, rate int, duration time.Duration) (int64, error) {
	dataDir := dir(directory)
	p := plan{dir: dataDir}
	text, err := os.ReadFile(dataDir.ports())
	if err != nil {
		return 0, fmt.Errorf("find the cluster: %w", err)
	}
	if err := json.Unmarshal(text, &p.ports); err != nil {
		return 0, fmt.Errorf("read %s: %w", dataDir.ports(), err)
	}
	if p.pki, err = identity.EnsurePKI(dataDir.pki()); err != nil {
		return 0, err
	}
	config, err := p.etcdClient()
	if err != nil {
		return 0, err
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{p.etcdServer()}, TLS: config, DialTimeout: 5 * time.Second, Context: ctx,
	})
	if err != nil {
		return 0, fmt.Errorf("connect to etcd: %w", err)
	}
	defer client.Close() //nolint:errcheck // the writes are complete
	return churn.Pods(ctx, client, seed.Big, pods, rate, duration)
}

func (p plan) etcdClient() (*tls.Config, error) {
	ca, err := os.ReadFile(p.pki.Cert("ca"))
	if err != nil {
		return nil, fmt.Errorf("read certificate authority: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	cert, err := tls.LoadX509KeyPair(p.pki.Cert("etcd-client"), p.pki.Key("etcd-client"))
	if err != nil {
		return nil, fmt.Errorf("read client certificate: %w", err)
	}
	return &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, nil
}
