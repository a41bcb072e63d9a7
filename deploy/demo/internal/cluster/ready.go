package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

type prober struct {
	client *http.Client
	token  string
}

func newProber(p plan, token string) (prober, error) {
	config, err := p.etcdClient()
	if err != nil {
		return prober{}, err
	}
	return prober{token: token, client: &http.Client{
		Timeout:   2 * time.Second,
		Transport: &http.Transport{TLSClientConfig: config},
	}}, nil
}

func (p prober) wait(ctx context.Context, name, url string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%s is not ready after %v", name, timeout))
	defer cancel()
	var last error
	for {
		if last = p.probe(ctx, url); last == nil {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), last)
		}
	}
}

func (p prober) probe(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return fmt.Errorf("send a request to %s: %w", url, err)
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	resp, err := p.client.Do(req)
	if err != nil {
		return err //nolint:wrapcheck // the error names method and URL
	}
	defer resp.Body.Close() //nolint:errcheck // the body was read
	_, _ = io.Copy(io.Discard, resp.Body)
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s responds with %s", url, resp.Status)
	}
	return nil
}
