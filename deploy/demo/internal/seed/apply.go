package seed

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Options says how the workload is applied.
type Options struct {
	Quiet bool // CronJobs are suspended: nothing moves by itself
}

// Applied says what Apply did.
type Applied struct {
	Objects    int
	Namespaces int
	Kept       bool // all of it was there
}

func (a Applied) String() string {
	if a.Kept {
		return "the company's workload is there from last time"
	}
	return fmt.Sprintf("the company's workload applied: %d objects in %d namespaces", a.Objects, a.Namespaces)
}

// Apply puts the workload on the cluster. Where the very same has been applied before nothing is done, so that what
// happened to it since then stays.
func Apply(ctx context.Context, config *rest.Config, opts Options) (Applied, error) {
	items, err := Workload(time.Now())
	if err != nil {
		return Applied{}, err
	}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return Applied{}, fmt.Errorf("make client: %w", err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return Applied{}, fmt.Errorf("make client: %w", err)
	}
	mark, err := fingerprint(opts)
	if err != nil {
		return Applied{}, err
	}
	if kept, err := marked(ctx, typed, mark); err != nil || kept {
		return Applied{Kept: kept}, err
	}
	applied := Applied{}
	for phase := range phases {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(parallel)
		for _, item := range items {
			if phaseOf(item) != phase {
				continue
			}
			applied.Objects++
			if item.Object.GetKind() == "Namespace" {
				applied.Namespaces++
			}
			group.Go(func() error { return item.apply(ctx, client, opts) })
		}
		if err := group.Wait(); err != nil {
			return Applied{}, err
		}
	}
	if err := remove(ctx, typed, items); err != nil {
		return Applied{}, err
	}
	return applied, setMark(ctx, typed, mark)
}

// remove deletes the items that are there to be seen going.
func remove(ctx context.Context, client kubernetes.Interface, items []Item) error {
	for _, item := range items {
		if !item.Delete {
			continue
		}
		if err := item.delete(ctx, client); err != nil {
			return err
		}
	}
	return nil
}

const phases = 3

// phaseOf puts first what others live in, then what they use, then the rest.
func phaseOf(item Item) int {
	switch item.Object.GetKind() {
	case "Namespace", "CustomResourceDefinition", "PriorityClass", "StorageClass", "PersistentVolume":
		return 0
	case "ResourceQuota", "LimitRange", "ServiceAccount", "ConfigMap", "Secret", "PersistentVolumeClaim":
		return 1
	default:
		return 2
	}
}
