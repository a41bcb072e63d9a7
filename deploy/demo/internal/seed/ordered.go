package seed

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

type podCounts struct {
	requested, ready int
}

func (o *podCounts) add(requested, ready int32) {
	o.requested += int(requested)
	o.ready += int(ready)
}

func countRequested(ctx context.Context, client kubernetes.Interface) (company, big podCounts, err error) {
	opts, apps := metav1.ListOptions{ResourceVersion: "0"}, client.AppsV1()
	deployments, err := apps.Deployments("").List(ctx, opts)
	if err != nil {
		return company, big, err //nolint:wrapcheck // the caller wraps it
	}
	for i := range deployments.Items {
		d := &deployments.Items[i]
		if d.Namespace == Big {
			big.add(*d.Spec.Replicas, min(*d.Spec.Replicas, d.Status.ReadyReplicas))
		} else {
			company.add(*d.Spec.Replicas, d.Status.ReadyReplicas)
		}
	}
	sets, err := apps.StatefulSets("").List(ctx, opts)
	if err != nil {
		return company, big, err //nolint:wrapcheck // the caller wraps it
	}
	for i := range sets.Items {
		company.add(*sets.Items[i].Spec.Replicas, sets.Items[i].Status.ReadyReplicas)
	}
	daemons, err := apps.DaemonSets("").List(ctx, opts)
	if err != nil {
		return company, big, err //nolint:wrapcheck // the caller wraps it
	}
	for i := range daemons.Items {
		company.add(daemons.Items[i].Status.DesiredNumberScheduled, daemons.Items[i].Status.NumberReady)
	}
	return company, big, nil
}
