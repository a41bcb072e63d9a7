package incidents

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// recent is the maximum age of the times that the method age moves back. A moved time is older, so a second
// call of age does not move it again.
const recent = 30 * time.Minute

// age moves the times in all objects of the fixtures back, as if the incidents had started long ago. It writes
// to etcd, because the API server sets some of these times itself.
func (c *testCluster) age(ctx context.Context, fixtures []*fixture) (changed int, err error) {
	ages := make(map[string]time.Duration)
	for _, f := range fixtures {
		if ages[f.name], err = f.age(); err != nil {
			return 0, err
		}
	}
	now := time.Now()
	return c.Rewrite(ctx, "/registry/", func(key string, value []byte) ([]byte, error) {
		ago := ageOf(key, ages)
		if ago == 0 || strings.HasPrefix(key, "/registry/events/") || strings.HasPrefix(key, "/registry/leases/") {
			return nil, nil
		}
		return shift(value, now, ago)
	})
}

// ageOf returns the age of the fixture to which an etcd entry belongs, or 0 if there is none. The key of the entry
// contains the fixture's name in a namespace or in the name of a cluster-scoped object.
func ageOf(key string, ages map[string]time.Duration) time.Duration {
	longest, age := "", time.Duration(0)
	for part := range strings.SplitSeq(key, "/") {
		name, ok := strings.CutPrefix(part, prefix)
		if !ok {
			continue
		}
		for fixture, ago := range ages {
			if (name == fixture || strings.HasPrefix(name, fixture+"-")) && len(fixture) > len(longest) {
				longest, age = fixture, ago
			}
		}
	}
	return age
}

// shift moves the recent times of an encoded object back, and returns the new encoding. It returns nil if the
// object contains no recent time, or if its kind is not known.
func shift(value []byte, now time.Time, ago time.Duration) ([]byte, error) {
	if value[0] == '{' {
		var object map[string]any
		if err := json.Unmarshal(value, &object); err != nil {
			return nil, err
		}
		if !shiftTimes(object, now, ago) {
			return nil, nil
		}
		return json.Marshal(object)
	}
	serializer := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	object, kind, err := serializer.Decode(value, nil, nil)
	if err != nil {
		return nil, nil //nolint:nilerr // The scheme does not know the kind of this object.
	}
	members, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	if !shiftTimes(members, now, ago) {
		return nil, nil
	}
	shifted, err := scheme.Scheme.New(*kind)
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(members, shifted); err != nil {
		return nil, err
	}
	shifted.GetObjectKind().SetGroupVersionKind(*kind)
	return runtime.Encode(serializer, shifted)
}

func shiftTimes(value any, now time.Time, ago time.Duration) (changed bool) {
	move := func(value any) any {
		text, ok := value.(string)
		if !ok {
			changed = shiftTimes(value, now, ago) || changed
			return value
		}
		at, err := time.Parse(time.RFC3339, text)
		if err != nil || at.Before(now.Add(-recent)) || at.After(now.Add(recent)) {
			return value
		}
		changed = true
		return at.Add(-ago).UTC().Format(time.RFC3339)
	}
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			if name != "annotations" && name != "labels" && name != "data" {
				v[name] = move(member)
			}
		}
	case []any:
		for i := range v {
			v[i] = move(v[i])
		}
	}
	return changed
}
