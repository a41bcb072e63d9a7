package fieldmanager_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
)

// web/test/activity/timeline.test.ts reads the same file.
func TestControllersAreNotPeople(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/managers.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ People, Controllers []string }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.People) == 0 || len(file.Controllers) == 0 {
		t.Fatalf("got %+v, want people and controllers", file)
	}
	for _, manager := range file.People {
		if fieldmanager.IsController(manager) {
			t.Errorf("%s counts as a controller", manager)
		}
	}
	for _, manager := range file.Controllers {
		if !fieldmanager.IsController(manager) {
			t.Errorf("%s does not count as a controller", manager)
		}
	}
}

func TestControllersWriteSomeResources(t *testing.T) {
	t.Parallel()
	for resource, want := range map[string]bool{
		"pods": false, "replicasets": false, "leases": false, "endpointslices": false, "deployments": true,
		"configmaps": true, "gadgets": true,
	} {
		if got := fieldmanager.HasEditors(resource); got != want {
			t.Errorf("%s: got %t, want %t", resource, got, want)
		}
	}
}

func TestCreationCanBeOneSecondLate(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	for seconds, want := range []bool{true, true, false} {
		if got := fieldmanager.IsCreation(created.Add(time.Duration(seconds)*time.Second), created); got != want {
			t.Errorf("%d s after the creation: got %t, want %t", seconds, got, want)
		}
	}
}
