package fieldmanager_test

import (
	"encoding/json"
	"os"
	"testing"

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
