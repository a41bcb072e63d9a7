package cluster

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/identity"
	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/kubelet"
)

func prepare(dataDir dir, opts Options) (plan, identity.Tokens, error) {
	p := plan{dir: dataDir, opts: opts}
	var err error
	if p.pki, err = identity.EnsurePKI(dataDir.pki()); err != nil {
		return p, nil, err
	}
	tokens, err := identity.EnsureTokens(dataDir.tokens(), identity.Users())
	if err != nil {
		return p, nil, err
	}
	if p.ports, err = choosePorts(dataDir.ports(), opts.APIServerPort); err != nil {
		return p, nil, err
	}
	if err := p.writeKubeconfigs(tokens); err != nil {
		return p, nil, err
	}
	if err := p.writeKubelet(); err != nil {
		return p, nil, err
	}
	const policy = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\n" +
		"rules: [{level: Metadata}]\n"
	return p, tokens, identity.WriteFile(dataDir.join("audit-policy.yaml"), []byte(policy))
}

func interactiveUsers() []string {
	return []string{identity.Viewer, identity.Limited, identity.Unprivileged}
}

func (p plan) writeKubeconfigs(tokens identity.Tokens) error {
	ca, err := os.ReadFile(p.pki.Cert("ca"))
	if err != nil {
		return fmt.Errorf("read certificate authority: %w", err)
	}
	write := func(path, context, user, namespace string) error {
		return identity.Kubeconfig{
			Context: context, Server: p.server(), CA: ca, User: user, Token: tokens[user], Namespace: namespace,
		}.Write(path)
	}
	if err := write(p.dir.kubeconfig(), "demo", identity.Admin, ""); err != nil {
		return err
	}
	for _, user := range interactiveUsers() {
		namespace := ""
		if user == identity.Limited {
			namespace = limitedNamespace
		}
		if err := write(p.dir.kubeconfigOf(user), "demo-"+user, user, namespace); err != nil {
			return err
		}
	}
	for _, part := range []string{identity.ControllerManager, identity.Scheduler, identity.Kubelets} {
		path := p.dir.config(part)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("create the directory of the kubeconfigs: %w", err)
		}
		if err := write(path, part, part, ""); err != nil {
			return err
		}
	}
	return nil
}

func (p plan) writeKubelet() error {
	logs := p.dir.podLog()
	previous := filepath.Join(p.dir.podLogs(), "previous.log")
	config, err := kubelet.Config(kubelet.Options{
		Restarts: p.opts.ChangesPerMinute > 0, Logs: logs, Previous: previous, Forward: p.ports.Forward,
	})
	if err != nil {
		return err
	}
	for path, data := range map[string][]byte{
		p.dir.stages(): config, logs: kubelet.Logs(), previous: kubelet.PreviousLogs(),
	} {
		if err := identity.WriteFile(path, data); err != nil {
			return err
		}
	}
	return nil
}
