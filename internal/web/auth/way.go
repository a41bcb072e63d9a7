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

// maxWays bounds those who are known to have come back, and come in.
const maxWays = 10_000

// way is a login that is on its way to the provider and back.
type way struct {
	State, Nonce, Verifier string
	Back, To               string // Where the provider leads to, and where we do then.
	Until                  time.Time
}

func newWay(back, to string) way {
	return way{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Back: back, To: to,
		Until: time.Now().Add(wayFor),
	}
}

// ways seals those who go, so that nothing is held of them, and lets each come
// in once.
type ways struct {
	seals cipher.AEAD

	mu   sync.Mutex
	back map[string]time.Time // Who came in, or is about to: by state, until when it could come again.
}

func newWays() *ways {
	key := make([]byte, 32)
	_, _ = rand.Read(key)                           // It never fails.
	block, _ := aes.NewCipher(key)                  // The key has its length.
	seals, _ := cipher.NewGCMWithRandomNonce(block) // It is AES.
	return &ways{seals: seals, back: make(map[string]time.Time)}
}

func (s *ways) seal(w way) string {
	text, _ := json.Marshal(w) // Strings and a time always encode.
	return base64.RawURLEncoding.EncodeToString(s.seals.Seal(nil, nil, text, nil))
}

// open returns what was sealed, once, or again after forget.
func (s *ways) open(sealed string) (w way, err error) {
	ended := watch.NotLoggedIn("This login has taken too long, or was used before; log in again.")
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
			Detail: "Too many have logged in within minutes; try again in a while.",
		}
	}
	s.back[w.State] = w.Until
	return w, nil
}

// forget says that nobody has come in by a way.
func (s *ways) forget(state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.back, state)
}
