package life

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func editConfig(ctx context.Context, w clients) (string, error) {
	type edit struct{ namespace, name, key, value, manager string }
	e := choose(
		edit{
			"shop", "opening-hours", "banner",
			choose(
				"Free shipping above 50 EUR", "20 % off tents this week", "We are closed on Monday",
				"New: winter boots",
			),
			"kubectl-edit",
		},
		edit{"shop", "opening-hours", "saturday", choose("09:00-18:00", "10:00-16:00"), "kubectl-edit"},
		edit{"shop", "storefront-config", "LOG_LEVEL", choose("info", "debug", "warn"), "kubectl-patch"},
		edit{
			"payments", "gateway-config", "gateway.yaml",
			fmt.Sprintf(
				"acquirers:\n  - name: north\n    weight: %d\n  - name: south\n    weight: 20\n"+
					"timeout: %ds\nretries: 2\n",
				choose(60, 70, 80), choose(3, 4, 5),
			),
			"config-sync",
		},
	)
	patch, err := json.Marshal(map[string]any{"data": map[string]string{e.key: e.value}})
	if err != nil {
		return "", fmt.Errorf("edit the ConfigMap %s: %w", e.name, err)
	}
	if _, err := w.typed.CoreV1().ConfigMaps(e.namespace).Patch(
		ctx, e.name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: e.manager},
	); err != nil {
		return "", fmt.Errorf("edit the ConfigMap %s: %w", e.name, err)
	}
	return fmt.Sprintf("configmap %s/%s: %s changes", e.namespace, e.name, e.key), nil
}

func rotateSecret(ctx context.Context, w clients) (string, error) {
	patch := fmt.Appendf(nil, `{"stringData":{"api-key":%q}}`, "not-a-real-secret-"+rand.Text())
	if _, err := w.typed.CoreV1().Secrets("payments").Patch(
		ctx, "acquirer-api", types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "secrets-sync"},
	); err != nil {
		return "", fmt.Errorf("change a Secret: %w", err)
	}
	return "secret payments/acquirer-api is rotated", nil
}

func changeFeatureFlag(ctx context.Context, w clients) (string, error) {
	api := w.dynamic.Resource(schema.GroupVersionResource{
		Group: "shop.example.com", Version: "v1", Resource: "featureflags",
	}).Namespace("shop")
	name, percent := choose("reviews", "express-shipping", "ai-search", "price-alerts", "buy-again"),
		choose(0, 5, 25, 50, 100)
	patch := fmt.Appendf(nil, `{"spec":{"enabled":%t,"rollout":%d}}`, percent > 0, percent)
	flag, err := api.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "flag-admin"})
	if err != nil {
		return "", fmt.Errorf("change the feature flag %s: %w", name, err)
	}
	patch = fmt.Appendf(nil, `{"status":{"lastChanged":%q,"observedGeneration":%d,"evaluationsPerMinute":%d}}`,
		time.Now().UTC().Format(time.RFC3339), flag.GetGeneration(), percent*50)
	if _, err := api.Patch(
		ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "flag-controller"}, "status",
	); err != nil {
		return "", fmt.Errorf("change the feature flag %s: %w", name, err)
	}
	return fmt.Sprintf("feature flag %s is at %d %%", name, percent), nil
}

func updateBackup(ctx context.Context, w clients) (string, error) {
	api := w.dynamic.Resource(schema.GroupVersionResource{
		Group: "data.example.com", Version: "v1", Resource: "backups",
	}).Namespace("data")
	name := choose("postgres-daily", "postgres-wal", "ledger-hourly", "kafka-topics")
	phase := choose("Running", "Succeeded", "Succeeded", "Failed")
	message := ""
	if phase == "Failed" {
		message = "upload was cut off after 4 of 7 parts"
	}
	patch := fmt.Appendf(nil, `{"status":{"phase":%q,"lastRunTime":%q,"sizeGiB":%d,"message":%q}}`,
		phase, time.Now().UTC().Format(time.RFC3339), choose(3, 97, 98, 412, 415), message)
	if _, err := api.Patch(
		ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "backup-operator"}, "status",
	); err != nil {
		return "", fmt.Errorf("update the status of the backup %s: %w", name, err)
	}
	return fmt.Sprintf("backup %s: %s", name, phase), nil
}

func cordon(ctx context.Context, w clients) (string, error) {
	const name = "node-a-02"
	unschedulable := choose(true, false)
	patch := fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, unschedulable)
	if _, err := w.typed.CoreV1().Nodes().Patch(
		ctx, name, types.StrategicMergePatchType, patch,
		metav1.PatchOptions{FieldManager: choose("kubectl-cordon", "node-upgrader")},
	); err != nil {
		return "", fmt.Errorf("cordon a node: %w", err)
	}
	return fmt.Sprintf("node %s unschedulable: %t", name, unschedulable), nil
}
