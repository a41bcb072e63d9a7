package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"glasshouse/internal/watch"
)

// maxWays is the maximum number of used login states that are remembered.
const maxWays = 10_000

// way is the state of a login at the provider.
type way struct {
	State, Nonce, Verifier string
	Back, To               string // The callback address, and the path to open after the login.
	Until                  time.Time
}

func newWay(back, to string) way {
	return way{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Back: back, To: to,
		Until: time.Now().Add(wayFor),
	}
}

// ways encrypts the states of logins for a cookie, so that the server does not store them. It accepts each state once.
type ways struct {
	seals cipher.AEAD

	mu   sync.Mutex
	back map[string]time.Time // Used states, with the time until which the cookie stays valid.
}

func newWays() *ways {
	key := make([]byte, 32)
	_, _ = rand.Read(key)                           // It never fails.
	block, _ := aes.NewCipher(key)                  // The key has a valid length.
	seals, _ := cipher.NewGCMWithRandomNonce(block) // The block size is that of AES.
	return &ways{seals: seals, back: make(map[string]time.Time)}
}

func (s *ways) seal(w way) string {
	text, _ := json.Marshal(w) // Strings and a time always encode.
	return base64.RawURLEncoding.EncodeToString(s.seals.Seal(nil, nil, text, nil))
}

// open decrypts a state. It accepts each state once, and again after forget.
func (s *ways) open(sealed string) (w way, err error) {
	ended := watch.NotLoggedIn("This login took too long, or was used before; log in again.")
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return way{}, ended
	}
	text, err := s.seals.Open(nil, nil, raw, nil)
	if err != nil || json.Unmarshal(text, &w) != nil || !time.Now().Before(w.Until) {
		return way{}, ended
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, used := s.back[w.State]; used {
		return way{}, ended
	}
	if len(s.back) >= maxWays {
		maps.DeleteFunc(s.back, func(_ string, until time.Time) bool { return !time.Now().Before(until) })
	}
	if len(s.back) >= maxWays {
		return way{}, &watch.Problem{
			Cause: watch.Unavailable, Title: "Login cannot be checked",
			Detail: "Too many logins within minutes; try again later.",
		}
	}
	s.back[w.State] = w.Until
	return w, nil
}

// forget makes a used state acceptable again, because the login with it has failed.
func (s *ways) forget(state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.back, state)
}
