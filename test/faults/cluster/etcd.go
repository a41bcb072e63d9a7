package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
)

// Compact makes etcd discard all old revisions.
func (c *Cluster) Compact(ctx context.Context) error {
	current := struct {
		Header struct{ Revision string }
	}{}
	if err := c.etcd(ctx, "/v3/kv/range", `{"key":"AA=="}`, &current); err != nil {
		return err
	}
	return c.etcd(ctx, "/v3/kv/compaction", `{"revision":"`+current.Header.Revision+`","physical":true}`, &struct{}{})
}

func (c *Cluster) etcd(ctx context.Context, path, body string, result any) error {
	cmds, err := c.commands()
	if err != nil {
		return err
	}
	config, err := rest.TLSConfigFor(&rest.Config{TLSClientConfig: c.Config.TLSClientConfig})
	if err != nil {
		return fmt.Errorf("set up TLS: %w", err)
	}
	certificate, err := tls.LoadX509KeyPair(
		filepath.Join(c.Dir, "pki", "etcd-client.crt"), filepath.Join(c.Dir, "pki", "etcd-client.key"),
	)
	if err != nil {
		return fmt.Errorf("read etcd's client certificate: %w", err)
	}
	config.Certificates = []tls.Certificate{certificate}
	request, err := http.NewRequestWithContext(
		ctx, http.MethodPost, cmds.flag("kube-apiserver", "--etcd-servers=")+path, bytes.NewBufferString(body),
	)
	if err != nil {
		return fmt.Errorf("create a request to etcd: %w", err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("send a request to etcd: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.NewDecoder(response.Body).Decode(result); err != nil || response.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd responded with %s to %s: %w", response.Status, path, err)
	}
	return nil
}

func (c *commands) flag(part, prefix string) string {
	for _, arg := range c.Args[part] {
		if value, ok := strings.CutPrefix(arg, prefix); ok {
			return value
		}
	}
	return ""
}
