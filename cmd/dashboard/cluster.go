package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

type clusterTarget struct {
	config    *rest.Config
	name      string
	namespace string
}

func findCluster(kube *genericclioptions.ConfigFlags) (clusterTarget, error) {
	loader := kube.ToRawKubeConfigLoader()
	raw, err := loader.RawConfig()
	if err != nil {
		return clusterTarget{}, fmt.Errorf("read the kubeconfig: %w", err)
	}
	_, inPod := rest.InClusterConfig()
	if len(raw.Clusters) == 0 && *kube.APIServer == "" && inPod != nil {
		return clusterTarget{}, fmt.Errorf("no cluster found: tried %s and the service account of a pod; "+
			"set a kubeconfig with --kubeconfig or KUBECONFIG, or an API server with --server",
			strings.Join(triedFiles(loader), ", "))
	}
	config, err := kube.ToRESTConfig()
	if err != nil {
		return clusterTarget{}, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.UserAgent = "glasshouse/" + version()
	current := cmp.Or(*kube.Context, raw.CurrentContext)
	f := clusterTarget{
		config: config, name: cmp.Or(current, strings.TrimPrefix(config.Host, "https://")), namespace: *kube.Namespace,
	}
	if context := raw.Contexts[current]; context != nil && f.namespace == "" {
		f.namespace = context.Namespace
	}
	return f, nil
}

func (c clusterTarget) warn(log *slog.Logger) {
	if c.config.Insecure {
		log.Warn("the certificate of the API server is not verified: an attacker on the network can impersonate the "+
			"API server and read the credentials", "server", c.config.Host)
	}
}

func triedFiles(loader clientcmd.ClientConfig) []string {
	var all []string
	for _, file := range loader.ConfigAccess().GetLoadingPrecedence() {
		reason := "contains no cluster"
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			reason = "does not exist"
		}
		all = append(all, fmt.Sprintf("%s (%s)", file, reason))
	}
	return all
}

func (s *settings) requestTimeout() (time.Duration, error) {
	timeout, err := clientcmd.ParseTimeout(*s.kube.Timeout)
	if err != nil {
		return 0, &usageError{
			fmt.Errorf("--request-timeout is %q; it must be a duration such as 10s or 2m", *s.kube.Timeout),
		}
	}
	return timeout, nil
}
