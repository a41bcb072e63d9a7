package watch_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"

	authorization "k8s.io/api/authorization/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

// reviewCounter counts the access reviews in progress. Only reviews of the user ann get a response. All others wait
// until they are canceled.
type reviewCounter struct {
	mu                    sync.Mutex
	inFlight, maxInFlight int
	byUser                map[string]int
	maxOfUser             int
}

func (c *reviewCounter) count(user string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight += n
	c.byUser[user] += n
	c.maxInFlight, c.maxOfUser = max(c.maxInFlight, c.inFlight), max(c.maxOfUser, c.byUser[user])
}

func (c *reviewCounter) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path != apitest.UserReviewsPath {
			return next.RoundTrip(r)
		}
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		var review authorization.SubjectAccessReview
		if err := json.Unmarshal(text, &review); err != nil {
			return nil, err
		}
		c.count(review.Spec.User, 1)
		defer c.count(review.Spec.User, -1)
		if review.Spec.User != "ann" {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		r.Body = io.NopCloser(bytes.NewReader(text))
		return next.RoundTrip(r)
	})
}

// A user whose requests need very many access reviews does not delay the requests of other users.
// Invariant: I18.
func TestUserReviewsAreLimited(t *testing.T) {
	// The key is the number of users who send many requests. The value is the maximum number of concurrent reviews: 32
	// for one such user and one for ann, or 128 for all users together.
	for users, limit := range map[int]int{1: 33, 20: 128} {
		t.Run(fmt.Sprint(users, " users"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, counter := apitest.New(t, kinds()...), &reviewCounter{byUser: map[string]int{}}
				server.Config.WrapTransport = counter.wrap
				server.Set(pods, pod("a", "p", "Running"))
				allow(server, "ann list pods a")
				cluster := runClusterWith(t, server, watch.Options{Linger: time.Minute, Log: slog.New(slog.DiscardHandler)})
				program := subscribe(t, cluster, query.Query{}, "")
				program.settle()
				var requests sync.WaitGroup
				for n := range 400 {
					requests.Go(func() {
						access := cluster.For(user(fmt.Sprint("flood", n%users)))
						_, err := access.Snapshot(t.Context(), query.Query{Resource: pods, Name: fmt.Sprint("p", n)}, 0)
						wantProblem(t, err, status.Unavailable, "Permissions unknown", "")
					})
				}
				synctest.Wait()
				if users == 1 {
					began := time.Now()
					_, err := cluster.For(user("ann")).Snapshot(
						t.Context(), query.Query{Resource: pods, Namespaces: []string{"a"}}, 0,
					)
					if passed := time.Since(began); err != nil || passed > time.Second {
						t.Errorf("snapshot of ann: got error %v after %s, want none within 1 s", err, passed)
					}
				}
				began := time.Now()
				requests.Wait()
				if passed := time.Since(began); passed > 10*time.Second {
					t.Errorf("all requests ended after %s, want at most 10 s", passed)
				}
				if counter.maxInFlight != limit || counter.maxOfUser > 32 {
					t.Errorf(
						"got at most %d concurrent reviews, %d for one user; want %d and at most 32",
						counter.maxInFlight, counter.maxOfUser, limit,
					)
				}
			})
		})
	}
}
