package cluster

import (
	"fmt"
	"strconv"

	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/identity"
)

type plan struct {
	dir   dir
	ports ports
	pki   identity.PKI
	opts  Options
}

const loopback = "127.0.0.1"

func (p plan) server() string {
	return fmt.Sprintf("https://%s:%d", loopback, p.ports.APIServer)
}

func (p plan) etcdServer() string {
	return fmt.Sprintf("https://%s:%d", loopback, p.ports.Etcd)
}

func (p plan) etcdArgs() []string {
	return []string{
		"--data-dir=" + p.dir.etcd(),
		"--listen-client-url=" + p.etcdServer(),
		fmt.Sprintf("--listen-peer-url=http://%s:%d", loopback, p.ports.EtcdPeer),
		"--cert-file=" + p.pki.Cert("server"),
		"--key-file=" + p.pki.Key("server"),
		"--trusted-ca-file=" + p.pki.Cert("ca"),
	}
}

func (p plan) apiServerArgs() []string {
	args := []string{
		"--etcd-servers=" + p.etcdServer(),
		"--etcd-cafile=" + p.pki.Cert("ca"),
		"--etcd-certfile=" + p.pki.Cert("etcd-client"),
		"--etcd-keyfile=" + p.pki.Key("etcd-client"),
		"--etcd-compaction-interval=" + p.opts.Compaction.String(),
		"--bind-address=" + loopback,
		"--secure-port=" + strconv.Itoa(p.ports.APIServer),
		"--tls-cert-file=" + p.pki.Cert("server"),
		"--tls-private-key-file=" + p.pki.Key("server"),
		// The API server rejects a loopback address for this flag. Only containers would use the address, and none runs.
		"--advertise-address=10.10.0.10",
		"--service-cluster-ip-range=10.96.0.0/16",
		"--client-ca-file=" + p.pki.Cert("ca"),
		"--token-auth-file=" + p.dir.tokens(),
		"--anonymous-auth=false",
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + p.pki.ServiceAccountKey(),
		"--service-account-signing-key-file=" + p.pki.ServiceAccountKey(),
		"--requestheader-client-ca-file=" + p.pki.Cert("front-proxy-ca"),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + p.pki.Cert("front-proxy-client"),
		"--proxy-client-key-file=" + p.pki.Key("front-proxy-client"),
		// Connect to kubelets by the ExternalDNS name of the node, which is localhost: internal addresses are fictional.
		"--kubelet-preferred-address-types=ExternalDNS",
		"--kubelet-certificate-authority=" + p.pki.Cert("ca"),
		"--kubelet-client-certificate=" + p.pki.Cert("kubelet-client"),
		"--kubelet-client-key=" + p.pki.Key("kubelet-client"),
		"--allow-privileged=true",
		"--max-requests-inflight=2000",
		"--max-mutating-requests-inflight=1000",
		"--profiling=false",
	}
	if p.opts.Audit {
		args = append(args, "--audit-policy-file="+p.dir.join("audit-policy.yaml"), "--audit-log-path="+p.dir.audit(),
			"--audit-log-maxsize=100", "--audit-log-maxbackup=2")
	}
	return args
}

func (p plan) controllerManagerArgs() []string {
	args := []string{
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=" + p.pki.ServiceAccountKey(),
		"--root-ca-file=" + p.pki.Cert("ca"),
		"--cluster-signing-cert-file=" + p.pki.Cert("ca"),
		"--cluster-signing-key-file=" + p.pki.Key("ca"),
		"--allocate-node-cidrs=false",
		"--concurrent-deployment-syncs=10",
		"--concurrent-replicaset-syncs=20",
	}
	return append(args, p.clientArgs(identity.ControllerManager, p.ports.ControllerManager)...)
}

func (p plan) schedulerArgs() []string {
	return p.clientArgs(identity.Scheduler, p.ports.Scheduler)
}

func (p plan) clientArgs(user string, port int) []string {
	config := p.dir.config(user)
	return []string{
		"--kubeconfig=" + config,
		"--authentication-kubeconfig=" + config,
		"--authorization-kubeconfig=" + config,
		"--leader-elect=false",
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
		"--bind-address=" + loopback,
		"--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + p.pki.Cert("server"),
		"--tls-private-key-file=" + p.pki.Key("server"),
		"--profiling=false",
	}
}

func (p plan) kubeletArgs() []string {
	return []string{
		"--kubeconfig=" + p.dir.config(identity.Kubelets),
		"--config=" + p.dir.stages(),
		"--manage-all-nodes=true",
		// Let kwok ignore the nodes with this label, because tests simulate their kubelets. The leases of these nodes name
		// another holder, but that is not enough: kwok checks leases only if it starts its stages for nodes before those
		// for pods.
		"--disregard-status-with-label-selector=demo.glasshouse/kubelet=other",
		"--node-ip=" + loopback,
		"--node-port=" + strconv.Itoa(p.ports.Kubelet),
		fmt.Sprintf("--server-address=%s:%d", loopback, p.ports.Kubelet),
		"--tls-cert-file=" + p.pki.Cert("server"),
		"--tls-private-key-file=" + p.pki.Key("server"),
		"--node-lease-duration-seconds=40",
	}
}
