package identity

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Kubeconfig describes a kubeconfig with one user and one cluster.
type Kubeconfig struct {
	Context   string
	Server    string
	CA        []byte
	User      string
	Token     string
	Namespace string
}

// Write writes the kubeconfig with its certificate and token to a file.
func (k Kubeconfig) Write(path string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["demo"] = &clientcmdapi.Cluster{Server: k.Server, CertificateAuthorityData: k.CA}
	config.AuthInfos[k.User] = &clientcmdapi.AuthInfo{Token: k.Token}
	config.Contexts[k.Context] = &clientcmdapi.Context{Cluster: "demo", AuthInfo: k.User, Namespace: k.Namespace}
	config.CurrentContext = k.Context
	data, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encode kubeconfig of %s: %w", k.User, err)
	}
	return WriteFile(path, data)
}
