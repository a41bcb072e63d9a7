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

	"github.com/glasshouse-project/glasshouse/internal/watch/status"

	"golang.org/x/oauth2"
)

// maxUsedStates is how many used login states are remembered. The server accepts each state only once.
const maxUsedStates = 10_000

// loginState is the data of a login that is not complete, because the user is still at the OpenID provider.
type loginState struct {
	State, Nonce, Verifier  string
	CallbackURL, ReturnPath string // URL that the provider redirects to, and the path to open after the login.
	Expires                 time.Time
}

func newLoginState(callbackURL, returnPath string) loginState {
	return loginState{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(),
		CallbackURL: callbackURL, ReturnPath: returnPath,
		Expires: time.Now().Add(providerLoginTimeout),
	}
}

// loginStates encrypts login states for a cookie, so that the server does not store them.
type loginStates struct {
	aead cipher.AEAD

	mu   sync.Mutex
	used map[string]time.Time // Expiry of each used login state; the key is loginState.State.
}

func newLoginStates() *loginStates {
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	block, _ := aes.NewCipher(key)
	aead, _ := cipher.NewGCMWithRandomNonce(block) // These arguments never cause an error.
	return &loginStates{aead: aead, used: make(map[string]time.Time)}
}

func (s *loginStates) encrypt(w loginState) string {
	text, _ := json.Marshal(w) // Encoding strings and a time never fails.
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, text, nil))
}

// decrypt decrypts the login state from a cookie. It refuses a state that was used before.
func (s *loginStates) decrypt(encrypted string) (w loginState, err error) {
	errInvalid := status.NotLoggedIn("This login took too long, or was used before; log in again.")
	raw, err := base64.RawURLEncoding.DecodeString(encrypted)
	if err != nil {
		return loginState{}, errInvalid
	}
	text, err := s.aead.Open(nil, nil, raw, nil)
	if err != nil || json.Unmarshal(text, &w) != nil || !time.Now().Before(w.Expires) {
		return loginState{}, errInvalid
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, used := s.used[w.State]; used {
		return loginState{}, errInvalid
	}
	if len(s.used) >= maxUsedStates {
		maps.DeleteFunc(s.used, func(_ string, expires time.Time) bool { return !time.Now().Before(expires) })
	}
	if len(s.used) >= maxUsedStates {
		return loginState{}, status.Unavailablef("Login cannot be checked",
			"Too many logins in a short time; try again later.")
	}
	s.used[w.State] = w.Expires
	return w, nil
}

// forget removes a login state from the map of used states, so that failed logins do not fill the map. After that,
// decrypt accepts the login state again.
func (s *loginStates) forget(state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.used, state)
}
