package seed

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// NodeLabel is the label with the purpose of a node: general, data, gpu, cordoned or not-ready.
const NodeLabel = "demo.glasshouse/node"

// Nodes creates missing nodes up to n, and sets the port of the simulated kubelets on all nodes.
func Nodes(ctx context.Context, client kubernetes.Interface, n, port int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range n {
		group.Go(func() error {
			want := newNode(i, port)
			_, err := client.CoreV1().Nodes().Create(ctx, want, metav1.CreateOptions{FieldManager: "kubelet"})
			if apierrors.IsAlreadyExists(err) {
				patch := fmt.Appendf(nil, `{"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":%d}}}}`, port)
				_, err = client.CoreV1().Nodes().Patch(ctx, want.Name, types.StrategicMergePatchType, patch,
					metav1.PatchOptions{FieldManager: "kubelet"}, "status")
			}
			if err != nil {
				return fmt.Errorf("register node %s: %w", want.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// ReleaseNodes deletes the node leases of the previous run. Otherwise, kwok ignores pods for up to 40 seconds.
func ReleaseNodes(ctx context.Context, client kubernetes.Interface) error {
	err := client.CoordinationV1().Leases(corev1.NamespaceNodeLease).DeleteCollection(
		ctx, metav1.DeleteOptions{}, metav1.ListOptions{},
	)
	if err != nil {
		return fmt.Errorf("delete the leases of the nodes: %w", err)
	}
	return nil
}

// nodeRole returns the purpose of node i. The first four nodes are general, so that small clusters have general nodes.
func nodeRole(i int) string {
	switch i {
	case 4:
		return "cordoned"
	case 5:
		return "not-ready"
	case 6, 7:
		return "data"
	case 8:
		return "gpu"
	default:
		return "general"
	}
}

func newNode(i, port int) *corev1.Node {
	const zones = 3
	purpose := nodeRole(i)
	machine := machineFor(purpose)
	name := fmt.Sprintf("node-%s-%02d", string(rune('a'+i%zones)), i/zones+1)
	address := fmt.Sprintf("10.10.%d.%d", 1+i/200, 20+i%200)
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			NodeLabel:                                 purpose,
			corev1.LabelHostname:                      name,
			corev1.LabelOSStable:                      "linux",
			corev1.LabelArchStable:                    "amd64",
			corev1.LabelTopologyRegion:                "eu-north-1",
			corev1.LabelTopologyZone:                  "eu-north-1" + string(rune('a'+i%zones)),
			corev1.LabelInstanceTypeStable:            machine.kind,
			"node-role.kubernetes.io/" + machine.role: "",
		}, Annotations: map[string]string{"volumes.kubernetes.io/controller-managed-attach-detach": "true"}},
		Spec: corev1.NodeSpec{
			PodCIDR:       podCIDR(i),
			PodCIDRs:      []string{podCIDR(i)},
			ProviderID:    "demo:///eu-north-1" + string(rune('a'+i%zones)) + "/" + name,
			Unschedulable: purpose == "cordoned",
		},
		Status: corev1.NodeStatus{
			Capacity:    machine.size,
			Allocatable: machine.size,
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: address},
				{Type: corev1.NodeHostName, Address: name},
				// the API server uses this address for requests to the kubelet
				{Type: corev1.NodeExternalDNS, Address: "localhost"},
			},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{
				KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(port)}, //nolint:gosec // a port fits into an int32
			},
			NodeInfo: corev1.NodeSystemInfo{
				Architecture: "amd64", OperatingSystem: "linux", OSImage: "Debian GNU/Linux 13 (trixie)",
				KernelVersion: "6.12.41-cloud-amd64", ContainerRuntimeVersion: "containerd://2.1.4",
				KubeletVersion: "v1.36.3",
				MachineID:      digest(name, "machine"),
				SystemUUID:     digest(name, "system"),
				BootID:         digest(name, time.Now().String()),
			},
		},
	}
	if machine.taint != "" {
		node.Spec.Taints = []corev1.Taint{{
			Key: "dedicated", Value: machine.taint, Effect: corev1.TaintEffectNoSchedule,
		}}
	}
	return node
}

type machine struct {
	kind, role, taint string
	size              corev1.ResourceList
}

func machineFor(kind string) machine {
	size := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{
			corev1.ResourceCPU:              resource.MustParse(cpu),
			corev1.ResourceMemory:           resource.MustParse(memory),
			corev1.ResourceEphemeralStorage: resource.MustParse("500Gi"),
			corev1.ResourcePods:             resource.MustParse("250"),
		}
	}
	switch kind {
	case "data":
		return machine{kind: "r7.8xlarge", role: "data", taint: "data", size: size("32", "512Gi")}
	case "gpu":
		m := machine{kind: "g6.12xlarge", role: "gpu", taint: "gpu", size: size("48", "192Gi")}
		m.size["nvidia.com/gpu"] = resource.MustParse("4")
		return m
	default:
		return machine{kind: "m7.8xlarge", role: "worker", size: size("32", "256Gi")}
	}
}

// podCIDR returns the /22 of node i (1,024 addresses) in 10.64.0.0/10.
func podCIDR(i int) string {
	const perByte = 64
	return fmt.Sprintf("10.%d.%d.0/22", 64+i/perByte, i%perByte*4)
}

func digest(parts ...string) string {
	sum := sha256.Sum256(fmt.Append(nil, parts))
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
