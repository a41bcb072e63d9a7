package cluster

import (
	"context"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Namespace creates a namespace with a generated name.
func (c *Cluster) Namespace(ctx context.Context) (string, error) {
	created, err := c.Core.CoreV1().Namespaces().Create(
		ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "fault-"}}, metav1.CreateOptions{},
	)
	if err != nil {
		return "", fmt.Errorf("create a namespace: %w", err)
	}
	return created.Name, nil
}

// Apply creates or updates a ConfigMap. Its data and labels depend only on value.
func (c *Cluster) Apply(ctx context.Context, namespace, name, value string) error {
	maps := c.Core.CoreV1().ConfigMaps(namespace)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels(value)}, Data: Data(value)}
	_, err := maps.Update(ctx, cm, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = maps.Create(ctx, cm, metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("apply %s: %w", name, err)
	}
	return nil
}

func labels(value string) map[string]string {
	return map[string]string{"odd": strconv.FormatBool(value[len(value)-1]%2 == 1)}
}

// Data returns the data of a ConfigMap. It includes a long constant text, so that a patch is shorter than the object.
func Data(value string) map[string]string {
	sum := crc32.ChecksumIEEE([]byte(value))
	data := map[string]string{"v": value, "same": strings.Repeat("as before ", 20)}
	// The keys and their number depend on the parameter value. So a patch for one version gives a wrong result for any
	// other version, and rows move in a list that is sorted by the column DATA (the number of keys).
	for i := range 1 + sum%3 {
		data[fmt.Sprint("only-", (sum+i)%7)] = "1"
	}
	return data
}

// Delete deletes a ConfigMap. A missing ConfigMap is not an error.
func (c *Cluster) Delete(ctx context.Context, namespace, name string) error {
	err := c.Core.CoreV1().ConfigMaps(namespace).Delete(ctx, name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s: %w", name, err)
	}
	return nil
}

// Touch patches the data of a ConfigMap the given number of times.
func (c *Cluster) Touch(ctx context.Context, namespace, name string, times int) error {
	for i := range times {
		patch := fmt.Sprintf(`{"data":{"v":"%d","touch-%d":"1","touch-%d":null}}`, i, i%3, (i+1)%3)
		_, err := c.Core.CoreV1().ConfigMaps(namespace).Patch(
			ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "toucher"},
		)
		if err != nil {
			return fmt.Errorf("patch %s: %w", name, err)
		}
	}
	return nil
}

// Churn makes random changes to 25 ConfigMaps until stop is called. rate is the number of changes per second. stop
// returns the number of changes.
func (c *Cluster) Churn(ctx context.Context, namespace string, rate int) (stop func() (int, error)) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	var changes int
	var failed error
	running.Go(func() {
		random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // A fixed seed makes the test reproducible.
		tick := time.NewTicker(time.Second / time.Duration(rate))
		defer tick.Stop()
		for ; failed == nil; changes++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := c.change(context.WithoutCancel(ctx), namespace, random); err != nil {
				failed = err
			}
		}
	})
	return func() (int, error) {
		cancel()
		running.Wait()
		return changes, failed
	}
}

func (c *Cluster) change(ctx context.Context, namespace string, random *rand.Rand) error {
	name := fmt.Sprint("cm-", random.IntN(25))
	const kinds = 5
	switch random.IntN(kinds) {
	case 0:
		return c.Delete(ctx, namespace, name)
	case 1: // Continue with Apply, to create a ConfigMap with another UID.
		if err := c.Delete(ctx, namespace, name); err != nil {
			return err
		}
	}
	return c.Apply(ctx, namespace, name, strconv.Itoa(random.Int()))
}
