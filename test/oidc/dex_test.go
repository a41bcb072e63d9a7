//go:build integration

// Package oidc tests the login of the dashboard with a real OpenID Connect provider (Dex) and a real API server.
package oidc

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dexidp/dex/server"
	"github.com/dexidp/dex/storage"
	"github.com/dexidp/dex/storage/memory"
	"golang.org/x/crypto/bcrypt"
)

const (
	email, password = "anna@example.org", "correct horse"
	client, secret  = "glasshouse", "of-glasshouse"
	otherClient     = "another-program" // ID of a second OAuth client at Dex, with the same secret
)

type dex struct {
	*httptest.Server

	store   storage.Storage
	handler http.Handler
	active  atomic.Pointer[http.Handler] // Handler in use; initially the value of the field handler.
}

func newDex(t *testing.T, tokenLifetime time.Duration) *dex {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	d := &dex{store: memory.New(log)}
	d.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(*d.active.Load()).ServeHTTP(w, r)
	}))
	t.Cleanup(d.Close)
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.store.CreateConnector(t.Context(), storage.Connector{
		ID: server.LocalConnector, Type: server.LocalConnector, Name: "Email", ResourceVersion: "1",
	}); err != nil {
		t.Fatal(err)
	}
	if err := d.store.CreatePassword(t.Context(), storage.Password{
		Email: email, Hash: hash, Username: "anna", UserID: "u-1",
	}); err != nil {
		t.Fatal(err)
	}
	handler, err := server.NewServer(t.Context(), server.Config{
		Issuer: d.URL, Storage: d.store, SkipApprovalScreen: true, IDTokensValidFor: tokenLifetime, Logger: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	d.handler = handler
	d.setHandler(handler)
	return d
}

func (d *dex) setHandler(handler http.Handler) { d.active.Store(&handler) }

func (d *dex) registerClients(t *testing.T, redirectURI string) {
	t.Helper()
	for _, id := range []string{client, otherClient} {
		if err := d.store.CreateClient(t.Context(), storage.Client{
			ID: id, Secret: secret, Name: id, RedirectURIs: []string{redirectURI},
		}); err != nil {
			t.Fatal(err)
		}
	}
}
