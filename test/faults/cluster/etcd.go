package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
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

// Rewrite changes the values of all keys with a prefix, without the API server. The function change returns nil to keep
// a value. Rewrite skips a value that another client changes meanwhile, and returns the number of changed values.
func (c *Cluster) Rewrite(
	ctx context.Context, prefix string, change func(key string, value []byte) ([]byte, error),
) (changed int, err error) {
	e, err := c.openEtcd()
	if err != nil {
		return 0, err
	}
	defer e.client.CloseIdleConnections()
	end := []byte(prefix)
	end[len(end)-1]++
	found := struct {
		KVs []struct {
			Key, Value  []byte
			ModRevision string `json:"mod_revision"`
		}
	}{}
	request := fmt.Sprintf(`{"key":%q,"range_end":%q}`, encode([]byte(prefix)), encode(end))
	if err := e.post(ctx, "/v3/kv/range", request, &found); err != nil {
		return 0, err
	}
	for _, kv := range found.KVs {
		value, err := change(string(kv.Key), kv.Value)
		if err != nil {
			return changed, fmt.Errorf("change %s: %w", kv.Key, err)
		}
		if value == nil {
			continue
		}
		request := fmt.Sprintf(`{"compare":[{"key":%q,"target":"MOD","result":"EQUAL","mod_revision":%q}],`+
			`"success":[{"request_put":{"key":%q,"value":%q,"ignore_lease":true}}]}`,
			encode(kv.Key), kv.ModRevision, encode(kv.Key), encode(value))
		result := struct{ Succeeded bool }{}
		if err := e.post(ctx, "/v3/kv/txn", request, &result); err != nil {
			return changed, err
		}
		if result.Succeeded {
			changed++
		}
	}
	return changed, nil
}

func encode(text []byte) string { return base64.StdEncoding.EncodeToString(text) }

func (c *Cluster) etcd(ctx context.Context, path, body string, result any) error {
	e, err := c.openEtcd()
	if err != nil {
		return err
	}
	defer e.client.CloseIdleConnections()
	return e.post(ctx, path, body, result)
}

type etcd struct {
	server string
	client *http.Client
}

func (c *Cluster) openEtcd() (*etcd, error) {
	cmds, err := c.commands()
	if err != nil {
		return nil, err
	}
	config, err := rest.TLSConfigFor(&rest.Config{TLSClientConfig: c.Config.TLSClientConfig})
	if err != nil {
		return nil, fmt.Errorf("set up TLS: %w", err)
	}
	certificate, err := tls.LoadX509KeyPair(
		filepath.Join(c.Dir, "pki", "etcd-client.crt"), filepath.Join(c.Dir, "pki", "etcd-client.key"),
	)
	if err != nil {
		return nil, fmt.Errorf("read etcd's client certificate: %w", err)
	}
	config.Certificates = []tls.Certificate{certificate}
	return &etcd{
		server: cmds.flag("kube-apiserver", "--etcd-servers="),
		client: &http.Client{Transport: &http.Transport{TLSClientConfig: config}},
	}, nil
}

func (e *etcd) post(ctx context.Context, path, body string, result any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.server+path, bytes.NewBufferString(body))
	if err != nil {
		return fmt.Errorf("create a request to etcd: %w", err)
	}
	response, err := e.client.Do(request)
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
