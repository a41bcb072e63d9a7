// Package cluster accesses the demo cluster directly, to compare it with the dashboard. .ci/on-demo sets KUBECONFIG
// and GLASSHOUSE_DEMO_DIR.
package cluster

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/glasshouse-project/glasshouse/test/faults/viewer"
)

// Cluster contains clients and files of the demo cluster.
type Cluster struct {
	Kubeconfig string
	Dir        string
	Config     *rest.Config
	Core       kubernetes.Interface
	Dynamic    dynamic.Interface
}

// Open opens the cluster that the environment variables KUBECONFIG and GLASSHOUSE_DEMO_DIR name.
func Open() (*Cluster, error) {
	c := &Cluster{Kubeconfig: os.Getenv("KUBECONFIG"), Dir: os.Getenv("GLASSHOUSE_DEMO_DIR")}
	if c.Kubeconfig == "" || c.Dir == "" {
		return nil, errors.New("KUBECONFIG and GLASSHOUSE_DEMO_DIR must be paths of a demo cluster: use .ci/on-demo")
	}
	var err error
	if c.Config, err = clientcmd.BuildConfigFromFlags("", c.Kubeconfig); err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	c.Config.QPS = -1
	c.Config.WarningHandler = rest.NoWarnings{}
	if c.Core, err = kubernetes.NewForConfig(c.Config); err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	if c.Dynamic, err = dynamic.NewForConfig(c.Config); err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	return c, nil
}

// TLS returns the configuration for clients of the cluster's API servers.
func (c *Cluster) TLS() (*tls.Config, error) { return rest.TLSConfigFor(c.Config) }

// Certificate returns the API server's certificate, which is valid for loopback addresses.
func (c *Cluster) Certificate() (tls.Certificate, error) {
	return tls.LoadX509KeyPair(filepath.Join(c.Dir, "pki", "server.crt"), filepath.Join(c.Dir, "pki", "server.key"))
}

func path(resource, namespace, name string) string {
	part := strings.Split(resource, "/")
	p := "/apis/" + part[0] + "/" + part[1]
	if part[0] == "core" {
		p = "/api/" + part[1]
	}
	if namespace != "" {
		p += "/namespaces/" + namespace
	}
	return strings.TrimSuffix(p+"/"+part[2]+"/"+name, "/")
}

// Rows lists the objects that match the subscription, as rows of Tables. The API server reads them from etcd, not from
// its cache.
func (c *Cluster) Rows(ctx context.Context, want viewer.Want) (map[string]viewer.Row, error) {
	namespaces := want.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	rows := make(map[string]viewer.Row)
	for _, namespace := range namespaces {
		if err := c.addRows(ctx, rows, want, namespace); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func (c *Cluster) addRows(ctx context.Context, rows map[string]viewer.Row, want viewer.Want, namespace string) error {
	text, err := c.Core.CoreV1().RESTClient().Get().AbsPath(path(want.Resource, namespace, "")).
		Param("labelSelector", want.Labels).Param("fieldSelector", want.Fields).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(ctx)
	if err != nil {
		return fmt.Errorf("list %s: %w", want.Resource, err)
	}
	var table struct {
		Rows []struct {
			Cells  []json.RawMessage
			Object struct{ Metadata metav1.ObjectMeta }
		}
	}
	if err := json.Unmarshal(text, &table); err != nil {
		return fmt.Errorf("decode the list of %s: %w", want.Resource, err)
	}
	for i := range table.Rows {
		m := &table.Rows[i].Object.Metadata
		row := viewer.Row{
			NS: m.Namespace, Name: m.Name, UID: string(m.UID), RV: m.ResourceVersion, Cells: table.Rows[i].Cells,
		}
		rows[row.Key()] = row
	}
	return nil
}

// Object reads an object, or returns nil if it does not exist. The API server reads it from etcd, not from its cache.
// Do not use it for Secrets: values are not masked.
func (c *Cluster) Object(ctx context.Context, resource, namespace, name string) ([]byte, error) {
	text, err := c.Core.CoreV1().RESTClient().Get().AbsPath(path(resource, namespace, name)).
		SetHeader("Accept", "application/json").DoRaw(ctx)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get %s %s: %w", resource, name, err)
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, fmt.Errorf("decode %s %s: %w", resource, name, err)
	}
	if m, ok := object["metadata"].(map[string]any); ok {
		delete(m, "managedFields")
	}
	return json.Marshal(object)
}
