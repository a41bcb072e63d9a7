package cluster

import (
	"fmt"
	"os"
	"path/filepath"
)

type dir string

func openDir(path string) (dir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the data directory: %w", err)
	}
	d := dir(abs)
	for _, sub := range []string{d.logs(), d.etcd(), d.podLogs()} {
		if err := os.MkdirAll(sub, 0o700); err != nil {
			return "", fmt.Errorf("create the data directory: %w", err)
		}
	}
	return d, nil
}

func (d dir) join(name string) string      { return filepath.Join(string(d), name) }
func (d dir) lock() string                 { return d.join("lock") }
func (d dir) ports() string                { return d.join("ports.json") }
func (d dir) pki() string                  { return d.join("pki") }
func (d dir) tokens() string               { return d.join("tokens.csv") }
func (d dir) etcd() string                 { return d.join("etcd") }
func (d dir) logs() string                 { return d.join("logs") }
func (d dir) log(part string) string       { return filepath.Join(d.logs(), part+".log") }
func (d dir) audit() string                { return filepath.Join(d.logs(), "audit.log") }
func (d dir) commands() string             { return d.join("commands.json") }
func (d dir) podLogs() string              { return d.join("pod-logs") }
func (d dir) podLog() string               { return filepath.Join(d.podLogs(), "current.log") }
func (d dir) stages() string               { return d.join("kubelet.yaml") }
func (d dir) config(user string) string    { return filepath.Join(string(d), "auth", user+".kubeconfig") }
func (d dir) kubeconfig() string           { return d.join("kubeconfig") }
func (d dir) kubeconfigOf(u string) string { return d.join("kubeconfig-" + u) }
