// Package churn changes pods by writing to etcd, because an API server on two cores cannot process so many writes.
package churn

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

const parallel = 64

type pod struct {
	key      string
	object   *corev1.Pod
	revision int64
}

// Pods increments the restart counts of the first maxPods pods of a namespace, and returns the number of changes.
func Pods(
	ctx context.Context, etcd *clientv3.Client, namespace string, maxPods int64, perSecond int, duration time.Duration,
) (int64, error) {
	pods, err := read(ctx, etcd, namespace, maxPods)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, duration)
	defer cancel()
	var written atomic.Int64
	group := errgroup.Group{}
	limit := rate.NewLimiter(rate.Limit(perSecond), 1)
	for first := range min(parallel, len(pods)) {
		var shard []*pod
		for i := first; i < len(pods); i += parallel {
			shard = append(shard, pods[i])
		}
		group.Go(func() error {
			for i := 0; len(shard) > 0 && limit.Wait(ctx) == nil; i++ {
				index := i % len(shard)
				ok, err := shard[index].write(context.WithoutCancel(ctx), etcd)
				if err != nil {
					return err
				}
				if ok {
					written.Add(1)
				} else {
					shard = slices.Delete(shard, index, index+1)
				}
			}
			return nil
		})
	}
	err = group.Wait()
	// Return how many changes were written. If etcd is slow, there are fewer than requested.
	return written.Load(), err
}

func read(ctx context.Context, etcd *clientv3.Client, namespace string, maxPods int64) ([]*pod, error) {
	response, err := etcd.Get(ctx, "/registry/pods/"+namespace+"/", clientv3.WithPrefix(), clientv3.WithLimit(maxPods))
	if err != nil {
		return nil, fmt.Errorf("read the pods: %w", err)
	}
	var pods []*pod
	for _, kv := range response.Kvs {
		p := &pod{key: string(kv.Key), object: &corev1.Pod{}, revision: kv.ModRevision}
		if _, _, err := podSerializer().Decode(kv.Value, nil, p.object); err != nil {
			return nil, fmt.Errorf("decode %s: %w", p.key, err)
		}
		if len(p.object.Status.ContainerStatuses) > 0 {
			pods = append(pods, p)
		}
	}
	if len(pods) == 0 {
		return nil, fmt.Errorf("no pod in namespace %s is running", namespace)
	}
	return pods, nil
}

func podSerializer() runtime.Serializer { return protobuf.NewSerializer(scheme.Scheme, scheme.Scheme) }

// write increments the restart count of the first container. It returns false if another writer has changed the pod.
func (p *pod) write(ctx context.Context, etcd *clientv3.Client) (bool, error) {
	p.object.Status.ContainerStatuses[0].RestartCount++
	for i, f := range p.object.ManagedFields {
		if f.Subresource == "status" {
			now := metav1.Now()
			p.object.ManagedFields[i].Time = &now
		}
	}
	text, err := runtime.Encode(podSerializer(), p.object)
	if err != nil {
		return false, fmt.Errorf("encode %s: %w", p.key, err)
	}
	response, err := etcd.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(p.key), "=", p.revision)).
		Then(clientv3.OpPut(p.key, string(text))).
		Commit()
	if err != nil {
		return false, fmt.Errorf("write %s: %w", p.key, err)
	}
	if response.Succeeded {
		p.revision = response.Header.Revision
	}
	return response.Succeeded, nil
}
