package life

import "testing"

func TestNextVersionWraps(t *testing.T) {
	for image, want := range map[string]string{
		"registry.example.com/shop/cart:1.44.7": "registry.example.com/shop/cart:1.44.8",
		"registry.example.com/ci/runner:18.6.9": "registry.example.com/ci/runner:18.6.0",
		"registry.example.com/shop/cart:latest": "registry.example.com/shop/cart:latest",
	} {
		t.Run(image, func(t *testing.T) {
			if got := nextVersion(image); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestPickReturnsAnAction(t *testing.T) {
	choices := actions()
	for range 1000 {
		if pick(choices).run == nil {
			t.Fatal("pick returned an action without a function")
		}
	}
}
