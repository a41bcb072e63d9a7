// Package notices generates THIRD_PARTY_NOTICES, the list of third-party software in the program with its licenses.
//
// The file is the same on every machine: it contains no path, no date and no Go version.
package notices

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// minCoverage is the minimum percentage of a license file that must be text of a known license. Copyright lines are not
// part of this text.
const minCoverage = 70

// Component is third-party software in the program: a Go module, an npm package or the Go standard library.
type Component struct {
	Name    string
	Version string // empty for the Go standard library
	License string // SPDX identifiers, separated by commas
	Texts   []Text
}

// String returns the component as a line of THIRD_PARTY_NOTICES, such as "example.com/m v1.2.3 (MIT)".
func (c Component) String() string {
	return fmt.Sprintf("%s (%s)", c.title(), c.License)
}

func (c Component) title() string {
	return strings.TrimSpace(c.Name + " " + c.Version)
}

// Text is a license, a notice file or a patent grant of a component.
type Text struct {
	File string
	Body string
}

func readTexts(root, folder string) ([]Text, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("list license files: %w", err)
	}
	isLicense := regexp.MustCompile(`(?i)^(un)?(licen[cs]es?|copying|notice|patents)([-_.].*)?$`)
	isCode := regexp.MustCompile(`(?i)\.(go|[cm]?[jt]s|json)$`)
	var texts []Text
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !isLicense.MatchString(entry.Name()) || isCode.MatchString(entry.Name()) {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		body, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read license file: %w", err)
		}
		file, err := filepath.Rel(root, path)
		if err != nil {
			return nil, fmt.Errorf("shorten the path of the license file: %w", err)
		}
		texts = append(texts, Text{File: filepath.ToSlash(file), Body: normalize(string(body))})
	}
	return texts, nil
}

func normalize(text string) string {
	lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r\f")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// identify returns SPDX identifiers. An unknown license is an error, because a person must decide about it.
func identify(texts []Text) (string, error) {
	var found []string
	for _, text := range texts {
		if base := strings.ToLower(filepath.Base(text.File)); strings.HasPrefix(base, "notice") || base == "patents" {
			continue
		}
		coverage := licensecheck.Scan([]byte(text.Body))
		if coverage.Percent < minCoverage {
			return "", fmt.Errorf("%s is not a known license", text.File)
		}
		for _, match := range coverage.Match {
			found = append(found, match.ID)
		}
	}
	if len(found) == 0 {
		return "", errors.New("no license file")
	}
	slices.Sort(found)
	return strings.Join(slices.Compact(found), ", "), nil
}
