// Package shareclient manages share links through the API of a running dashboard.
package shareclient

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/sanitize"
	"github.com/glasshouse-project/glasshouse/internal/web/share"
)

const (
	requestTimeout = 30 * time.Second
	maxResponse    = 64 << 20
)

// A Client sends requests to one dashboard. It is safe for concurrent use.
type Client struct {
	Server string         // URL of the dashboard, with the base path.
	Token  string         // Bearer token; empty means none.
	CA     *x509.CertPool // Nil means the certificate authorities of the system.
}

// Create creates a share link.
func (c *Client) Create(ctx context.Context, request share.Request) (created share.Created, err error) {
	body, err := json.Marshal(request)
	if err != nil {
		return created, fmt.Errorf("encode the share link: %w", err)
	}
	return created, c.do(ctx, http.MethodPost, "", body, &created)
}

// List returns the share links that the user is allowed to revoke.
func (c *Client) List(ctx context.Context) (listed share.Documents, err error) {
	return listed, c.do(ctx, http.MethodGet, "", nil, &listed)
}

// Revoke revokes the share link with the given ID.
func (c *Client) Revoke(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, "/"+url.PathEscape(id), nil, nil)
}

func (c *Client) do(ctx context.Context, method, path string, body []byte, into any) error {
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.Server, "/")+"/api/v1/shares"+path,
		bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("send a request to %q: %w", c.Server, err)
	}
	r.Header.Set("Accept", "application/json")
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	// Do not follow redirects, because they could send the token to another server.
	client := http.Client{
		Timeout: requestTimeout, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{
				RootCAs: c.CA, MinVersion: tls.VersionTLS12,
			},
		},
	}
	defer client.CloseIdleConnections()
	response, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("send a request to %s: %w", c.Server, err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return fmt.Errorf("read the response of %s: %w", c.Server, err)
	}
	if response.StatusCode/100 != 2 {
		return c.problemError(response.StatusCode, text)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("the response of %s is not from a Glasshouse dashboard: %w", c.Server, err)
	}
	return nil
}

func (c *Client) problemError(status int, text []byte) error {
	var p struct{ Title, Detail string }
	if err := json.Unmarshal(text, &p); err != nil || p.Title == "" {
		return fmt.Errorf("the response of %s (status %d) is not from a Glasshouse dashboard; check --server", c.Server,
			status)
	}
	return errors.New(sanitize.Text(p.Title + ": " + p.Detail))
}
