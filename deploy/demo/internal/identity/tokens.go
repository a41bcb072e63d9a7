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

// User is somebody whom the API server knows by a token.
type User struct {
	Name   string
	Groups []string
}

// The users of every demo cluster. What they may do is said by RBAC objects; only Admin and Kubelets need none.
const (
	Admin             = "admin"
	Viewer            = "viewer"
	Limited           = "limited"
	Nobody            = "nobody"
	Kubelets          = "kubelets"
	ControllerManager = "system:kube-controller-manager"
	Scheduler         = "system:kube-scheduler"
)

// Users gives them all.
func Users() []User {
	return []User{
		{Name: Admin, Groups: []string{"system:masters"}},
		{Name: Viewer},
		{Name: Limited},
		{Name: Nobody},
		{Name: Kubelets, Groups: []string{"system:masters"}},
		{Name: ControllerManager},
		{Name: Scheduler},
	}
}

// Tokens maps a user's name to its token.
type Tokens map[string]string

// EnsureTokens gives users their tokens, from the file at path where it has them, random ones elsewhere, and leaves
// the file as kube-apiserver's --token-auth-file wants it.
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
		_ = w.Write([]string{tokens[user.Name], user.Name, user.Name, strings.Join(user.Groups, ",")}) // to memory
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
