package share_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"

	"go.uber.org/goleak"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/web/share"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func annaUser() *authz.User {
	return &authz.User{Name: "anna", UID: "1", Groups: []string{"dev"}, Extra: map[string][]string{"scopes": {"a"}}}
}

func openStore(t *testing.T, options share.Options) *share.Store {
	t.Helper()
	s, err := share.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newPodsShare(creator *authz.User, lifetime time.Duration) share.Share {
	now := time.Now().UTC().Truncate(time.Second)
	return share.Share{
		To: "/r/core/v1/pods?ns=a", Created: now, Expires: now.Add(lifetime), Note: "incident 12", Creator: creator,
		Parts: []watch.Part{{Resource: "core/v1/pods", Namespaces: []string{"a"}, Labels: "app=web"}},
	}
}

func create(t *testing.T, s *share.Store, newShare share.Share) (share.Share, string) {
	t.Helper()
	created, token, err := s.Create(t.Context(), newShare, share.Actor{User: newShare.Creator, Address: "192.0.2.1"})
	if err != nil {
		t.Fatal(err)
	}
	return created, token
}

func openLink(t *testing.T, s *share.Store, token string) (share.Guest, string) {
	t.Helper()
	_, cookie, ok := s.Exchange(t.Context(), token, share.Actor{Address: "192.0.2.2"})
	if !ok {
		t.Fatal("Exchange with a valid token: got no guest")
	}
	g, ok := s.Guest(cookie)
	if !ok {
		t.Fatal("Guest with the new cookie: got no guest")
	}
	return g, cookie
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// A guest can read only shared data that the creator can read. A share ends at its expiry.
//
// Invariant: I30.
func TestShareExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, share.Options{Dir: t.TempDir()})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan struct{})
		go func() { defer close(ended); s.Run(ctx) }()
		created, token := create(t, s, newPodsShare(annaUser(), time.Hour))
		g, cookie := openLink(t, s, token)
		if v := g.Share.Viewer(); v.Program || !v.User.Same(annaUser()) || len(v.Scope.Parts) != 1 ||
			v.Scope.Parts[0].Labels != "app=web" {
			t.Errorf("viewer of the guest is %+v", v)
		}
		if _, anonymousToken := create(t, s, newPodsShare(nil, time.Hour)); anonymousToken == token {
			t.Error("two shares have the same token")
		}
		leave := g.Enter()
		<-time.After(time.Hour - time.Second)
		if listed := s.List(annaUser(), false); len(listed) != 1 || listed[0].ID != created.ID || listed[0].Viewers != 1 ||
			listed[0].LastUsed.IsZero() || isClosed(g.Ended) {
			t.Errorf("shares one second before the expiry: got %+v", listed)
		}
		if shares, guests := s.Count(); shares != 2 || guests != 1 {
			t.Errorf("got %d shares and %d guests, want 2 and 1", shares, guests)
		}
		<-time.After(2 * time.Second)
		synctest.Wait()
		if _, ok := s.Guest(cookie); ok || !isClosed(g.Ended) || len(s.List(nil, true)) != 0 {
			t.Error("the share is still valid after its expiry")
		}
		if _, _, ok := s.Exchange(t.Context(), token, share.Actor{}); ok {
			t.Error("the link can be opened after its expiry")
		}
		leave()
		cancel()
		<-ended
	})
}

// Invariant: I30.
func TestExpiredShareIsRefusedBeforeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, share.Options{})
		_, token := create(t, s, newPodsShare(nil, time.Minute))
		_, cookie := openLink(t, s, token)
		<-time.After(time.Minute)
		if _, ok := s.Guest(cookie); ok || len(s.List(nil, true)) != 0 {
			t.Error("the expired share is still valid")
		}
	})
}

// Users can revoke only their own shares. For a share of another user, the result is the same as for a missing one.
//
// Invariant: I30.
func TestRevokeRequiresTheCreator(t *testing.T) {
	s := openStore(t, share.Options{Dir: t.TempDir()})
	created, token := create(t, s, newPodsShare(annaUser(), time.Hour))
	g, cookie := openLink(t, s, token)
	for name, user := range map[string]*authz.User{
		"user with the same name and another " +
			"UID": {Name: "bert", UID: "1"}, "user without a name": {Name: "anna", UID: "2"}, "one without a name": {},
		"no user": nil,
	} {
		t.Run(name, func(t *testing.T) {
			if ok, err := s.Revoke(t.Context(), created.ID, user, false, share.Actor{}); ok || err != nil ||
				len(s.List(user, false)) != 0 || isClosed(g.Ended) {
				t.Errorf("got %t, error %v; want false", ok, err)
			}
		})
	}
	if ok, err := s.Revoke(t.Context(), "x", annaUser(), true, share.Actor{}); ok || err != nil {
		t.Errorf("Revoke of an unknown share: got %t, error %v; want false", ok, err)
	}
	changedUser := annaUser()
	changedUser.Groups = nil
	if ok, err := s.Revoke(t.Context(), created.ID, changedUser, false, share.Actor{}); !ok || err != nil ||
		!isClosed(g.Ended) {
		t.Errorf("Revoke by the creator: got %t, error %v; want true", ok, err)
	}
	if ok, _ := s.Revoke(t.Context(), created.ID, annaUser(), true, share.Actor{}); ok {
		t.Error("second Revoke of the same share: got true, want false")
	}
	if _, ok := s.Guest(cookie); ok {
		t.Error("the guest is still valid after Revoke")
	}
	created, _ = create(t, s, newPodsShare(annaUser(), time.Hour))
	if ok, err := s.Revoke(t.Context(), created.ID, &authz.User{Name: "admin"}, true, share.Actor{}); !ok || err != nil {
		t.Errorf("Revoke by an admin: got %t, error %v; want true", ok, err)
	}
}

// Shares survive a restart, and ended shares stay ended. With DropAnonymous, shares without a creator are deleted.
//
// Invariant: I30.
func TestSharesSurviveReopen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	s := openStore(t, share.Options{Dir: dir})
	kept, token := create(t, s, newPodsShare(annaUser(), time.Hour))
	revoked, _ := create(t, s, newPodsShare(annaUser(), time.Hour))
	_, expiredToken := create(t, s, newPodsShare(annaUser(), -time.Second))
	_, anonymousToken := create(t, s, newPodsShare(nil, time.Hour))
	_, cookie := openLink(t, s, token)
	_, anonymousCookie := openLink(t, s, anonymousToken)
	if _, err := s.Revoke(t.Context(), revoked.ID, annaUser(), false, share.Actor{}); err != nil {
		t.Fatal(err)
	}
	reopened := openStore(t, share.Options{Dir: dir})
	g, ok := reopened.Guest(cookie)
	if !ok || g.Share.ID != kept.ID || !g.Share.Viewer().User.Same(annaUser()) || g.Share.Note != kept.Note ||
		!g.Share.Expires.Equal(kept.Expires) {
		t.Errorf("guest after reopening: got share %+v, found: %t", g.Share, ok)
	}
	if listed := reopened.List(annaUser(), false); len(listed) != 1 || listed[0].ID != kept.ID {
		t.Errorf("shares after reopening: got %+v", listed)
	}
	if _, _, ok := reopened.Exchange(t.Context(), expiredToken, share.Actor{}); ok {
		t.Error("an expired share is valid after reopening")
	}
	if _, ok := reopened.Guest(anonymousCookie); !ok {
		t.Error("a share without a creator is not valid after reopening")
	}
	withLogin := openStore(t, share.Options{Dir: dir, DropAnonymous: true})
	if _, ok := withLogin.Guest(anonymousCookie); ok || len(withLogin.List(nil, true)) != 1 {
		t.Error("a share without a creator is valid although all users log in")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	withLogin.Run(ctx) // Saves the file without the dropped shares.
	if _, ok := openStore(t, share.Options{Dir: dir}).Guest(anonymousCookie); ok {
		t.Error("a deleted share is valid after reopening")
	}
}

// Invariant: I30.
func TestLastUsedIsSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := openStore(t, share.Options{Dir: dir})
		_, token := create(t, s, newPodsShare(annaUser(), time.Hour))
		used := func() time.Time { return openStore(t, share.Options{Dir: dir}).List(annaUser(), false)[0].LastUsed }
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); s.Run(ctx) }()
		_, cookie := openLink(t, s, token)
		at := time.Now()
		<-time.After(62 * time.Second)
		synctest.Wait()
		if got := used(); !got.Equal(at) {
			t.Errorf("last use after a minute: got %s, want %s", got, at)
		}
		s.Guest(cookie)
		at = time.Now()
		cancel()
		<-ended
		if got := used(); !got.Equal(at) {
			t.Errorf("last use after the store was closed: got %s, want %s", got, at)
		}
	})
}

// secretEncodings returns two lists. The list named never has the encodings of the token and the cookie, which must
// occur in no file. The list named hashes has the encodings of their hashes, which may occur only in shares.json.
func secretEncodings(token, cookie string) (never, hashes []string) {
	raw := func(text string) []byte { decoded, _ := base64.RawURLEncoding.DecodeString(text); return decoded }
	for _, secret := range []string{token, cookie} {
		never = append(never, secret, hex.EncodeToString(raw(secret)), base64.StdEncoding.EncodeToString(raw(secret)),
			base64.StdEncoding.EncodeToString([]byte(secret)))
	}
	for _, value := range []string{token, cookie, string(raw(token)), string(raw(cookie))} {
		sum := sha256.Sum256([]byte(value))
		hashes = append(hashes, hex.EncodeToString(sum[:]), base64.RawURLEncoding.EncodeToString(sum[:]),
			base64.StdEncoding.EncodeToString(sum[:]))
	}
	return never, hashes
}

// Invariant: I30.
func TestTokensAreNotStored(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	var log bytes.Buffer
	s := openStore(t, share.Options{
		Dir: dir, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	created, token := create(t, s, newPodsShare(annaUser(), time.Hour))
	_, cookie := openLink(t, s, token)
	if raw, err := base64.RawURLEncoding.DecodeString(token); err != nil || len(raw) != 32 {
		t.Errorf("token has %d bytes, error %v; want 32", len(raw), err)
	}
	s.Exchange(t.Context(), token+"x", share.Actor{Address: "192.0.2.2"})
	if _, err := s.Revoke(t.Context(), created.ID, annaUser(), false, share.Actor{}); err != nil {
		t.Fatal(err)
	}
	created, token2 := create(t, s, newPodsShare(annaUser(), time.Hour))
	_, cookie2 := openLink(t, s, token2)
	if token == token2 || created.ID == token2 {
		t.Error("a token is not random")
	}
	texts := map[string]string{"log": log.String()}
	for _, name := range []string{"shares.json", "audit.jsonl"} {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s has mode %s, error %v; want 0600", name, info.Mode(), err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has mode %s, error %v; want 0700", info.Mode(), err)
	}
	for place, text := range texts {
		if !strings.Contains(text, created.ID) {
			t.Errorf("%s does not contain the share: %s", place, text)
		}
		for _, pair := range [][2]string{{token, cookie}, {token2, cookie2}} {
			never, hashes := secretEncodings(pair[0], pair[1])
			for _, secret := range never {
				if strings.Contains(text, secret) {
					t.Errorf("%s contains the token or cookie %s", place, secret)
				}
			}
			for _, sum := range hashes {
				if place != "shares.json" && strings.Contains(text, sum) {
					t.Errorf("%s contains the hash %s", place, sum)
				}
			}
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("the directory contains %v, error %v; want two files", entries, err)
	}
}

// Invariant: I30.
func TestUnreadableFileIsRefused(t *testing.T) {
	validDir := t.TempDir()
	s := openStore(t, share.Options{Dir: validDir})
	create(t, s, newPodsShare(annaUser(), time.Hour))
	text, err := os.ReadFile(filepath.Join(validDir, "shares.json"))
	if err != nil {
		t.Fatal(err)
	}
	var content struct {
		Shares []json.RawMessage `json:"shares"`
	}
	if err := json.Unmarshal(text, &content); err != nil {
		t.Fatal(err)
	}
	record := string(content.Shares[0])
	for name, text := range map[string]string{
		"not JSON": "", "cut": string(text[:len(text)/2]), "no JSON": "shares", "null": "null",
		"other version": `{"version":2,"shares":[]}`, "no version": `{"shares":[]}`,
		"unknown member":   `{"version":1,"shares":[],"more":1}`,
		"incomplete share": `{"version":1,"shares":[{"id":"x"}]}`,
		"duplicate share":  `{"version":1,"shares":[` + record + `,` + record + `]}`,
		"invalid hash":     strings.Replace(string(text), `"hash": "`, `"hash": "zz`, 1),
		"empty hash":       strings.Replace(string(text), `"hash": "`, `"hash": "" , "x": "`, 1),
		"no parts":         strings.Replace(string(text), `"core/v1/pods"`, `5`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "shares.json")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := share.Open(share.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), path) ||
				!strings.Contains(err.Error(), "remove it") {
				t.Errorf("got error %v, want one that names the file", err)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != text {
				t.Errorf("the file was changed to %q, error %v", after, err)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := share.Open(share.Options{Dir: file}); err == nil || !strings.Contains(err.Error(), "--data-dir") ||
		!strings.Contains(err.Error(), file) {
		t.Errorf("Open with a file as the directory: got error %v", err)
	}
}

// A share that cannot be saved is not created. A revocation that cannot be saved still ends the share.
//
// Invariant: I30.
func TestUnsavedShareIsNotCreated(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, share.Options{Dir: dir})
	created, token := create(t, s, newPodsShare(annaUser(), time.Hour))
	g, _ := openLink(t, s, token)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	isUnsaved := func(err error) bool {
		p, ok := errors.AsType[*status.Problem](err)
		return ok && p.Cause == status.Unavailable && p.Title == "Link not saved" && !strings.Contains(p.Detail, dir)
	}
	if _, _, err := s.Create(t.Context(), newPodsShare(annaUser(), time.Hour), share.Actor{}); !isUnsaved(err) ||
		len(s.List(annaUser(), false)) != 1 {
		t.Errorf("Create while the file cannot be written: got error %v", err)
	}
	if _, err := s.Revoke(t.Context(), created.ID, annaUser(), false, share.Actor{}); !isUnsaved(err) ||
		!isClosed(g.Ended) {
		t.Errorf("Revoke while the file cannot be written: got error %v, guest ended: %t", err, isClosed(g.Ended))
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.Run(ctx)
	if listed := openStore(t, share.Options{Dir: dir}).List(nil, true); len(listed) != 0 {
		t.Errorf("shares after the file can be written again: got %v, want none", listed)
	}
}

// Invariant: I12, I30.
func TestNumberOfSharesIsLimited(t *testing.T) {
	s := openStore(t, share.Options{})
	wantTooMany := func(name string, cause status.Cause) {
		t.Helper()
		_, _, err := s.Create(t.Context(), newPodsShare(&authz.User{Name: name}, time.Hour), share.Actor{})
		if p, ok := errors.AsType[*status.Problem](err); !ok || p.Title != "Too many links" || p.Cause != cause {
			t.Errorf("Create above the limit of %s: got error %v", name, err)
		}
	}
	for n := range 1000 {
		create(t, s, newPodsShare(&authz.User{Name: fmt.Sprint("user ", n/100)}, time.Hour))
		if n == 99 {
			wantTooMany("user 0", status.Invalid)
		}
	}
	wantTooMany("another", status.Unavailable)
	if n, _ := s.Count(); n != 1000 {
		t.Errorf("got %d shares, want 1,000", n)
	}
}

// Each action adds one line of JSON to the audit log. Names and notes cannot forge lines, and lines about invalid
// tokens are limited.
//
// Invariant: I30.
func TestAuditLogRecordsActions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		var log bytes.Buffer
		s := openStore(t, share.Options{Dir: dir, Log: slog.New(slog.NewTextHandler(&log, nil))})
		hostileText := "bert\n{\"event\":\"create\"}\r\x1b[2J\u2028\u009b2J"
		sanitized := strings.ReplaceAll(hostileText, "\u009b", "\ufffd") // JSON escapes other control characters (ESC).
		newShare := newPodsShare(&authz.User{Name: hostileText, Groups: []string{"secret-group"}}, time.Minute)
		newShare.Note = hostileText
		created, token := create(t, s, newShare)
		openLink(t, s, token)
		expires, _ := create(t, s, newPodsShare(annaUser(), time.Minute))
		actor := share.Actor{User: annaUser(), Address: "192.0.2.3"}
		if _, err := s.Revoke(t.Context(), created.ID, nil, true, actor); err != nil {
			t.Fatal(err)
		}
		for range 3000 {
			s.Exchange(t.Context(), token, share.Actor{Address: "192.0.2.9"})
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); s.Run(ctx) }()
		<-time.After(2 * time.Minute)
		cancel()
		<-ended
		s.Exchange(t.Context(), token, share.Actor{Address: "192.0.2.9"})
		text, err := os.ReadFile(filepath.Join(dir, "audit.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		type line struct {
			Time                         time.Time
			Event, ID, Creator, By, From string
			To, Note, Msg, Level         string
			Parts                        []watch.Part
			Expires                      time.Time
			LeftOut                      int `json:"left_out"`
		}
		events := map[string][]line{}
		for row := range strings.Lines(string(text)) {
			var l line
			decoder := json.NewDecoder(strings.NewReader(row))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(&l); err != nil || l.Time.IsZero() || l.Msg+l.Level != "" ||
				strings.ContainsAny(strings.TrimSuffix(row, "\n"), "\r\x1b\u2028\u009b") {
				t.Fatalf("invalid line %q: %v", row, err)
			}
			events[l.Event] = append(events[l.Event], l)
		}
		first := func(event string, count int) line {
			if len(events[event]) != count {
				t.Fatalf("got %d lines for %s, want %d", len(events[event]), event, count)
			}
			return events[event][0]
		}
		if l := first("create", 2); l.ID != created.ID ||
			l.By != sanitized || l.Creator != sanitized || l.From != "192.0.2.1" ||
			l.Note != sanitized || l.To != newShare.To || len(l.Parts) != 1 ||
			!l.Expires.Equal(newShare.Expires) {
			t.Errorf("create entry is %+v", l)
		}
		if l := first("open", 1); l.ID != created.ID || l.By != "" || l.From != "192.0.2.2" {
			t.Errorf("open entry is %+v", l)
		}
		if l := first("revoke", 1); l.ID != created.ID || l.By != "anna" || l.From != "192.0.2.3" {
			t.Errorf("revoke entry is %+v", l)
		}
		if l := first("expire", 1); l.ID != expires.ID || l.Creator != "anna" {
			t.Errorf("expire entry is %+v", l)
		}
		if l := first("refuse", 1001); l.ID != "" || l.From != "192.0.2.9" || events["refuse"][1000].LeftOut != 2000 {
			t.Errorf("refuse entry is %+v, and the last one reports %d omitted entries", l,
				events["refuse"][1000].LeftOut)
		}
		if lines := strings.Count(log.String(), "\n"); lines != strings.Count(string(text), "\n") ||
			strings.ContainsAny(log.String(), "\r\x1b\u2028") {
			t.Errorf("log has %d lines, or a line contains control characters: %.3000s", lines, log.String())
		}
		if strings.Contains(string(text), "secret-group") {
			t.Error("the audit log contains the groups of the creator")
		}
	})
}

// Invariant: I30.
func TestAuditLogLimitsDoNotSuppressOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := openStore(t, share.Options{Dir: dir})
		first, token := create(t, s, newPodsShare(annaUser(), 24*time.Hour))
		otherShare, otherToken := create(t, s, newPodsShare(annaUser(), 24*time.Hour))
		const most = 1000
		for range 2 * most {
			s.Exchange(t.Context(), "none", share.Actor{Address: "192.0.2.9"})
			openLink(t, s, otherToken)
		}
		openLink(t, s, token)
		lines := func() (counts map[string]int, text string) {
			t.Helper()
			content, err := os.ReadFile(filepath.Join(dir, "audit.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			counts = map[string]int{}
			for row := range strings.Lines(string(content)) {
				var l struct{ Event, ID string }
				if err := json.Unmarshal([]byte(row), &l); err != nil {
					t.Fatal(err)
				}
				counts[l.Event+" "+l.ID]++
			}
			return counts, string(content)
		}
		if got, _ := lines(); got["open "+first.ID] != 1 || got["open "+otherShare.ID] != most || got["refuse "] != most {
			t.Errorf("number of lines by event is %v", got)
		}
		for range 3600 {
			<-time.After(time.Second)
			s.Exchange(t.Context(), "none", share.Actor{Address: "192.0.2.9"})
		}
		if got, _ := lines(); got["refuse "] < most+59 || got["refuse "] > most+60 {
			t.Errorf("number of lines after an hour is %v, want one refuse a minute", got)
		}
		openLink(t, s, otherToken)
		if _, text := lines(); !strings.HasSuffix(text, `"left_out":1000}`+"\n") {
			t.Errorf("the number of omitted entries is missing: %s", text[len(text)-300:])
		}
	})
}

// The audit log has at most two files of 10 MiB, with the latest lines, even after a restart.
//
// Invariant: I30.
func TestAuditLogSizeIsLimited(t *testing.T) {
	const most = 10 << 20
	dir := t.TempDir()
	var s *share.Store
	var want []string
	for n := range 36 {
		if n%5 == 0 {
			if s != nil {
				_ = s.Close()
			}
			s = openStore(t, share.Options{Dir: dir})
		}
		newShare := newPodsShare(annaUser(), time.Hour)
		newShare.Note = strings.Repeat("n", 1<<20)
		created, _ := create(t, s, newShare)
		if _, err := s.Revoke(t.Context(), created.ID, annaUser(), false, share.Actor{User: annaUser()}); err != nil {
			t.Fatal(err)
		}
		want = append(want, created.ID)
	}
	var got []string
	for _, name := range []string{"audit.jsonl.1", "audit.jsonl"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || len(text) > most || name != "audit.jsonl" && len(text) < most/2 {
			t.Errorf("%s has %d bytes, error %v", name, len(text), err)
		}
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, error %v", name, info, err)
		}
		for row := range strings.Lines(string(text)) {
			var l struct{ Event, ID string }
			if err := json.Unmarshal([]byte(row), &l); err != nil {
				t.Fatalf("invalid line %.200s: %v", row, err)
			}
			if l.Event == "create" {
				got = append(got, l.ID)
			}
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("the directory contains %v, error %v; want the shares and two audit files", entries, err)
	}
	if len(got) < 9 || !slices.Equal(got, want[len(want)-len(got):]) {
		t.Errorf("got %d entries, the last are %q, want the last of %q", len(got), got, want)
	}
}
