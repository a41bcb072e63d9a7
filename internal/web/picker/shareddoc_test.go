package picker_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/web/picker"
)

// latest returns the version and the text of the latest document.
func latest(
	ctx context.Context, docs picker.SharedDocs, after time.Time, encode func(context.Context) ([]byte, error),
) (version int, text []byte, err error) {
	doc, err := docs.Latest(ctx, after, encode)
	if err != nil {
		return 0, nil, err
	}
	return doc.Version, doc.Text, nil
}

// Concurrent callers share one build of a document. A new document with the same text keeps its version.
//
// Invariant: I14.
func TestSharedDocIsBuiltOnceForAllCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		docs := picker.NewSharedDocs()
		var builds atomic.Int32
		text := "one"
		callConcurrently := func(wantVersion int, wantBuilds int32) {
			t.Helper()
			start := time.Now()
			var callConcurrently sync.WaitGroup
			for n := range 100 {
				callConcurrently.Go(func() {
					<-time.After(time.Duration(n) * time.Millisecond)
					version, got, err := latest(t.Context(), docs, start, func(context.Context) ([]byte, error) {
						builds.Add(1)
						<-time.After(20 * time.Millisecond)
						return []byte(text), nil
					})
					if err != nil || version != wantVersion || string(got) != text {
						t.Errorf("document: got version %d, %s, error %v; want version %d, %s", version, got, err, wantVersion, text)
					}
				})
			}
			callConcurrently.Wait()
			if builds.Load() != wantBuilds {
				t.Errorf("document was built %d times, want %d", builds.Load(), wantBuilds)
			}
			<-time.After(time.Second)
		}
		callConcurrently(1, 1)
		callConcurrently(1, 2)
		text = "two"
		callConcurrently(2, 3)
	})
}

// If one caller is canceled, other callers still get the document. After a failed build, the next caller builds again.
func TestSharedDocSurvivesCanceledCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		docs := picker.NewSharedDocs()
		encode := func(ctx context.Context) ([]byte, error) {
			select {
			case <-time.After(time.Second):
				return []byte("one"), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		after := time.Now()
		var callers sync.WaitGroup
		callers.Go(func() {
			if _, _, err := latest(ctx, docs, after, encode); !errors.Is(err, context.Canceled) {
				t.Errorf("canceled caller: got error %v, want %v", err, context.Canceled)
			}
		})
		synctest.Wait()
		callers.Go(func() {
			version, got, err := latest(t.Context(), docs, after, encode)
			if err != nil || version != 1 || string(got) != "one" {
				t.Errorf("document after the caller was canceled: got version %d, %s, error %v", version, got, err)
			}
		})
		synctest.Wait()
		cancel()
		callers.Wait()
		<-time.After(time.Second)
		errBuild := errors.New("bad")
		if _, _, err := latest(
			t.Context(), docs, time.Now(), func(context.Context) ([]byte, error) { return nil, errBuild },
		); !errors.Is(err, errBuild) {
			t.Errorf("got error %v, want the build error", err)
		}
		<-time.After(time.Second)
		if version, got, err := latest(
			t.Context(), docs, time.Now(), func(context.Context) ([]byte, error) { return []byte("one"), nil },
		); err != nil || version != 1 || string(got) != "one" {
			t.Errorf("document after an error: got version %d, %s, error %v", version, got, err)
		}
	})
}

// A caller gets no document whose build began before the given time, even if this build is still in progress.
func TestSharedDocIsNotOlderThanRequested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		docs := picker.NewSharedDocs()
		var callers sync.WaitGroup
		for _, text := range []string{"one", "two"} {
			after := time.Now()
			callers.Go(func() {
				_, got, err := latest(t.Context(), docs, after, func(context.Context) ([]byte, error) {
					<-time.After(time.Second)
					return []byte(text), nil
				})
				if err != nil || string(got) != text {
					t.Errorf("got document %s, error %v; want %s", got, err, text)
				}
			})
			<-time.After(time.Millisecond)
		}
		callers.Wait()
	})
}
