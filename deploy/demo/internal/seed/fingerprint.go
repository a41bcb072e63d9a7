package seed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
)

const recordNamespace, recordName = metav1.NamespaceSystem, "demo-workload"

func fingerprintOf(opts Options) (string, error) {
	hash := sha256.New()
	entries, err := workload.ReadDir("workload")
	if err != nil {
		return "", fmt.Errorf("read workload: %w", err)
	}
	for _, entry := range entries {
		data, err := workload.ReadFile("workload/" + entry.Name())
		if err != nil {
			return "", fmt.Errorf("read workload: %w", err)
		}
		hash.Write(data)
	}
	hash.Write(strconv.AppendBool(nil, opts.SuspendCronJobs))
	return hex.EncodeToString(hash.Sum(nil)), nil
}

func wasApplied(ctx context.Context, client kubernetes.Interface, hash string) (bool, error) {
	found, err := client.CoreV1().ConfigMaps(recordNamespace).Get(ctx, recordName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("find the workload: %w", err)
	}
	return found.Data["fingerprint"] == hash, nil
}

func recordApplied(ctx context.Context, client kubernetes.Interface, hash string) error {
	record := corev1ac.ConfigMap(recordName, recordNamespace).WithData(map[string]string{"fingerprint": hash})
	if _, err := client.CoreV1().ConfigMaps(recordNamespace).Apply(ctx, record, applyAs("demo")); err != nil {
		return fmt.Errorf("store the fingerprint of the workload: %w", err)
	}
	return nil
}
