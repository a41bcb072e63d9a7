package identity

import (
	"bytes"
	"crypto/rand"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// User is a user with a static token.
type User struct {
	Name   string
	Groups []string
}

// The users of every demo cluster. Admin and Kubelets have all permissions, and Unprivileged has none. RBAC roles
// define the permissions of the other users.
const (
	Admin             = "admin"
	Viewer            = "viewer"
	Limited           = "limited"
	Unprivileged      = "nobody"
	Kubelets          = "kubelets"
	ControllerManager = "system:kube-controller-manager"
	Scheduler         = "system:kube-scheduler"
)

// Users returns all users of a demo cluster.
func Users() []User {
	return []User{
		{Name: Admin, Groups: []string{"system:masters"}},
		{Name: Viewer},
		{Name: Limited},
		{Name: Unprivileged},
		{Name: Kubelets, Groups: []string{"system:masters"}},
		{Name: ControllerManager},
		{Name: Scheduler},
	}
}

// Tokens maps user names to tokens.
type Tokens map[string]string

// EnsureTokens creates missing tokens in a file for kube-apiserver's --token-auth-file.
func EnsureTokens(path string, users []User) (Tokens, error) {
	tokens, err := readTokens(path)
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	w := csv.NewWriter(&file)
	for _, user := range users {
		if tokens[user.Name] == "" {
			tokens[user.Name] = rand.Text()
		}
		_ = w.Write([]string{tokens[user.Name], user.Name, user.Name, strings.Join(user.Groups, ",")})
	}
	w.Flush()
	return tokens, WriteFile(path, file.Bytes())
}

func readTokens(path string) (Tokens, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Tokens{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read tokens: %w", err)
	}
	records, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read tokens: %w", err)
	}
	tokens := make(Tokens, len(records))
	for _, record := range records {
		const fields = 4
		if len(record) == fields {
			tokens[record[1]] = record[0]
		}
	}
	return tokens, nil
}
