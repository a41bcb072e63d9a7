package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The last column of the glossary contains only packages, declarations and files that exist.
//
// Invariant: I47.
func TestGlossaryContainsOnlyExistingNames(t *testing.T) {
	declared := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		addDeclarations(declared, file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text := readDocument(t, "docs/glossary.md")
	for _, cell := range regexp.MustCompile(`(?m)\| ([^|]+) \|$`).FindAllString(text, -1) {
		for _, name := range regexp.MustCompile("(package )?`([^`]+)`").FindAllStringSubmatch(cell, -1) {
			if !declared[name[1]+name[2]] && !hasFile(t, name[2]) {
				t.Errorf("docs/glossary.md mentions %s, which does not exist", name[0])
			}
		}
	}
}

// addDeclarations adds names such as "package p", "p.Func", "p.Type", "p.Type.Method" and "p.Type.Field".
func addDeclarations(declared map[string]bool, file *ast.File) {
	declared["package "+file.Name.Name] = true
	prefix, owner := file.Name.Name+".", ""
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			owner = prefix
		case *ast.TypeSpec:
			declared[prefix+n.Name.Name], owner = true, prefix+n.Name.Name+"."
		case *ast.FuncDecl:
			if owner = prefix; n.Recv != nil {
				owner += regexp.MustCompile(`\w+`).FindString(types.ExprString(n.Recv.List[0].Type)) + "."
			}
			declared[owner+n.Name.Name] = true
			return false
		case *ast.Ident:
			declared[owner+n.Name] = true
		}
		return true
	})
}
