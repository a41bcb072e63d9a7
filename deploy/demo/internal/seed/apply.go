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

// Options controls how Apply creates the workload.
type Options struct {
	SuspendCronJobs bool // create CronJobs suspended, so that they start no Jobs
}

// Applied is the result of Apply.
type Applied struct {
	Objects        int
	Namespaces     int
	AlreadyPresent bool
}

func (a Applied) String() string {
	if a.AlreadyPresent {
		return "the workload of the company exists already"
	}
	return fmt.Sprintf("the workload of the company was applied: %d objects in %d namespaces", a.Objects, a.Namespaces)
}

// Apply creates the workload. If the same workload was applied before, Apply does nothing, to keep later changes.
func Apply(ctx context.Context, config *rest.Config, opts Options) (Applied, error) {
	items, err := Workload(time.Now())
	if err != nil {
		return Applied{}, err
	}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return Applied{}, fmt.Errorf("create a client: %w", err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return Applied{}, fmt.Errorf("create a client: %w", err)
	}
	hash, err := fingerprintOf(opts)
	if err != nil {
		return Applied{}, err
	}
	if present, err := wasApplied(ctx, typed, hash); err != nil || present {
		return Applied{AlreadyPresent: present}, err
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
	return applied, recordApplied(ctx, typed, hash)
}

// remove deletes the pods whose Item has the field Delete. Finalizers keep these pods in the status Terminating.
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

// phaseOf returns the phase in which an object is created: 0 for namespaces and definitions, 1 for objects to which
// workloads refer, 2 for others.
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
