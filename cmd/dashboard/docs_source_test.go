package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// source is the parsed code of the packages that define limits and problems (error documents).
type source struct {
	files map[string][]*ast.File
	// The value of each constant, by a name such as "web.maxBody"; nil for a name that is defined twice.
	constants map[string]ast.Expr
}

func sourceFolders() map[string]string {
	return map[string]string{
		"watch": "internal/watch", "opened": "internal/watch/opened",
		"related": "internal/watch/related", "status": "internal/watch/status", "resource": "internal/watch/resource",
		"catalog": "internal/watch/catalog", "query": "internal/watch/query", "search": "internal/watch/search",
		"informer": "internal/watch/informer", "lease": "internal/watch/informer/lease",
		"pool": "internal/watch/informer/pool", "reconcile": "internal/watch/informer/reconcile",
		"permit": "internal/watch/permit", "podlog": "internal/watch/podlog",
		"namespaces": "internal/watch/namespaces", "ranking": "internal/watch/ranking",
		"stream": "internal/watch/stream", "authz": "internal/watch/authz",
		"result": "internal/watch/health/result", "script": "internal/watch/health/script", "relations": "internal/relations",
		"limit": "internal/limit", "web": "internal/web", "listen": "internal/web/listen",
		"request": "internal/web/request", "quota": "internal/web/quota",
		"rates": "internal/watch/rates", "response": "internal/web/response", "logstream": "internal/web/logstream",
		"live": "internal/web/live", "api": "internal/web/api", "page": "internal/web/page",
		"auth": "internal/web/auth", "share": "internal/web/share",
	}
}

func readSource(t *testing.T) *source {
	t.Helper()
	s := &source{files: map[string][]*ast.File{}, constants: map[string]ast.Expr{}}
	for name, folder := range sourceFolders() {
		paths, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			s.files[name] = append(s.files[name], file)
			ast.Inspect(file, func(node ast.Node) bool {
				s.addConstants(name, node)
				return true
			})
		}
	}
	return s
}

func (s *source) addConstants(in string, node ast.Node) {
	declaration, ok := node.(*ast.GenDecl)
	if !ok || declaration.Tok != token.CONST {
		return
	}
	for _, spec := range declaration.Specs {
		values, ok := spec.(*ast.ValueSpec)
		if !ok || len(values.Values) != len(values.Names) {
			continue // Skip constants that have no value of their own, but depend on iota.
		}
		for n, name := range values.Names {
			key := in + "." + name.Name
			if _, twice := s.constants[key]; twice {
				s.constants[key] = nil
				continue
			}
			s.constants[key] = values.Values[n]
		}
	}
}

// value evaluates a constant expression in the package pkg. isDuration reports whether it is a time.Duration.
func (s *source) value(pkg string, e ast.Expr) (value constant.Value, isDuration bool, err error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0), false, nil
	case *ast.ParenExpr:
		return s.value(pkg, e.X)
	case *ast.Ident:
		return s.value(pkg, s.constants[pkg+"."+e.Name])
	case *ast.SelectorExpr:
		of, _ := e.X.(*ast.Ident)
		if of == nil {
			break
		}
		if unit, ok := map[string]time.Duration{
			"Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
		}[e.Sel.Name]; ok && of.Name == "time" {
			return constant.MakeInt64(int64(unit)), true, nil
		}
		return s.value(of.Name, s.constants[of.Name+"."+e.Sel.Name])
	case *ast.BinaryExpr:
		return s.binary(pkg, e)
	}
	return nil, false, errors.New("not a constant expression that this test can evaluate")
}

func (s *source) binary(pkg string, e *ast.BinaryExpr) (value constant.Value, isDuration bool, err error) {
	x, first, errX := s.value(pkg, e.X)
	y, second, errY := s.value(pkg, e.Y)
	if err := errors.Join(errX, errY); err != nil {
		return nil, false, err
	}
	switch e.Op {
	case token.SHL, token.SHR:
		by, _ := constant.Uint64Val(y)
		return constant.Shift(x, e.Op, uint(by)), first, nil
	case token.QUO:
		return constant.BinaryOp(x, token.QUO_ASSIGN, y), first != second, nil
	default:
		return constant.BinaryOp(x, e.Op, y), first || second, nil
	}
}

// shown returns a constant's value as text for docs/reference.md. unit is "rate" (per second), "size" (bytes) or empty.
func (s *source) shown(name, unit string) (string, error) {
	pkg, _, _ := strings.Cut(name, ".")
	value, isDuration, err := s.value(pkg, s.constants[name])
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	number, ok := constant.Int64Val(value)
	switch {
	case !ok:
		return "", fmt.Errorf("%s is not an integer", name)
	// For a rate limit, the constant is the interval between two permitted uses, but the table shows uses per second.
	case isDuration && unit == "rate":
		return thousands(int64(time.Second) / number), nil
	case isDuration:
		return shownDuration(time.Duration(number)), nil
	case unit == "size":
		return shownSize(number), nil
	}
	return thousands(number), nil
}

func shownDuration(d time.Duration) string {
	for _, one := range []struct {
		name string
		unit time.Duration
	}{{"days", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}} {
		if d%one.unit == 0 && d > one.unit || d == one.unit && one.unit < 24*time.Hour {
			return fmt.Sprint(int64(d/one.unit), " ", one.name)
		}
	}
	return fmt.Sprint(d.Milliseconds(), " ms")
}

func shownSize(bytes int64) string {
	switch {
	case bytes > 0 && bytes%(1<<20) == 0:
		return fmt.Sprint(bytes>>20, " MiB")
	case bytes > 0 && bytes%(1<<10) == 0:
		return fmt.Sprint(thousands(bytes>>10), " KiB")
	}
	return thousands(bytes) + " bytes"
}

func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// limit is one row of a table. In the field value, braces contain the name of a constant, and
// optionally a unit, as in {web.maxBody size}.
type limit struct{ what, value string }

func (s *source) limits(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	name := regexp.MustCompile(`\{([\w.]+) ?(\w*)\}`)
	for _, group := range limitGroups() {
		text.WriteString("### " + group.title + "\n\n| limit | value |\n| --- | --- |\n")
		for _, one := range group.limits {
			row := "| " + one.what + " | " + one.value + " |\n"
			text.WriteString(name.ReplaceAllStringFunc(row, func(match string) string {
				parts := name.FindStringSubmatch(match)
				shown, err := s.shown(parts[1], parts[2])
				if err != nil {
					t.Errorf("limit %q: %v", one.what, err)
				}
				return shown
			}))
		}
		text.WriteString("\n")
	}
	return text.String()
}

type problem struct {
	statuses []int
	texts    []string // The first sentence of each text that the member detail of the problem can have.
}

func (s *source) problems(t *testing.T) string {
	t.Helper()
	var list strings.Builder
	all := map[string]*problem{}
	for _, in := range slices.Sorted(maps.Keys(s.files)) {
		for _, file := range s.files[in] {
			ast.Inspect(file, func(node ast.Node) bool {
				s.addProblem(t, all, in, node)
				return true
			})
		}
	}
	meanings, statuses := problemMeanings(), problemStatuses()
	for _, title := range slices.Sorted(maps.Keys(meanings)) {
		if all[title] == nil {
			t.Errorf("problemMeanings contains %q, which is not the title of a problem", title)
		}
	}
	var invalid []string // Titles of problems about invalid requests, which api.md and openapi.json explain.
	for _, title := range slices.Sorted(maps.Keys(all)) {
		p := all[title]
		p.statuses = append(p.statuses, statuses[title]...)
		if meaning := meanings[title]; meaning != "" {
			p.texts = []string{meaning}
		}
		slices.Sort(p.texts) // Without sorting, the order would depend on the names of source files.
		slices.Sort(p.statuses)
		p.statuses = slices.Compact(p.statuses)
		if len(p.statuses) == 0 || len(p.texts) == 0 {
			t.Errorf("problem %q has the status codes %v and the texts %q: add the missing ones to docs_problems_test.go",
				title, p.statuses, p.texts)
			continue
		}
		if meanings[title] == "" && slices.Equal(p.statuses, []int{http.StatusBadRequest}) {
			invalid = append(invalid, title)
			continue
		}
		codes := strings.Trim(strings.ReplaceAll(fmt.Sprint(p.statuses), " ", ", "), "[]")
		list.WriteString(item("**" + title + "** (" + codes + "): " + strings.Join(p.texts, " ")))
	}
	list.WriteString(item("Invalid requests and messages (400): " + strings.Join(invalid, ", ")))
	return list.String()
}

// addProblem adds the problem (error document) that a node of the source code creates. Nodes of other kinds add
// nothing. The key of the map is the title of the problem.
func (s *source) addProblem(t *testing.T, all map[string]*problem, in string, node ast.Node) {
	t.Helper()
	add := func(title ast.Expr, status int, details ...ast.Expr) {
		for _, title := range s.titles(t, in, title) {
			if all[title] == nil {
				all[title] = &problem{}
			}
			p := all[title]
			if status != 0 {
				p.statuses = append(p.statuses, status)
			}
			if text := s.firstSentence(in, details); text != "" && !slices.Contains(p.texts, text) {
				p.texts = append(p.texts, text)
			}
		}
	}
	switch node := node.(type) {
	case *ast.CallExpr:
		status := map[string]int{
			"BadRequest": http.StatusBadRequest, "Invalidf": http.StatusBadRequest, "Unknownf": http.StatusNotFound,
			"Refusedf": http.StatusForbidden, "Unavailablef": http.StatusServiceUnavailable,
		}
		if code := status[nameOf(node.Fun)]; code != 0 && len(node.Args) > 1 {
			add(node.Args[0], code, node.Args[1:]...)
		}
	case *ast.CompositeLit:
		fields := map[string]ast.Expr{}
		for _, element := range node.Elts {
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				if key, ok := pair.Key.(*ast.Ident); ok {
					fields[key.Name] = pair.Value
				}
			}
		}
		if nameOf(node.Type) == "Problem" {
			detail := fields["PublicDetail"]
			if detail == nil || s.firstSentence(in, []ast.Expr{detail}) == "" {
				detail = fields["Detail"]
			}
			add(fields["Title"], statusOf(fields["Status"])+statusOf(fields["Cause"]), detail)
		}
	case *ast.AssignStmt:
		fields := map[string]ast.Expr{}
		for n, left := range node.Lhs {
			if field, ok := left.(*ast.SelectorExpr); ok && len(node.Lhs) == len(node.Rhs) {
				fields[field.Sel.Name] = node.Rhs[n]
			}
		}
		add(fields["Title"], statusOf(fields["Cause"]), fields["PublicDetail"])
	}
}

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// statusOf returns the HTTP status for the name of a constant of net/http, or of the type status.Cause; otherwise 0.
func statusOf(e ast.Expr) int {
	return map[string]int{
		"StatusBadRequest": http.StatusBadRequest, "StatusUnauthorized": http.StatusUnauthorized,
		"StatusForbidden": http.StatusForbidden, "StatusNotFound": http.StatusNotFound,
		"StatusMethodNotAllowed": http.StatusMethodNotAllowed, "StatusLengthRequired": http.StatusLengthRequired,
		"StatusRequestEntityTooLarge":       http.StatusRequestEntityTooLarge,
		"StatusRequestURITooLong":           http.StatusRequestURITooLong,
		"StatusUnsupportedMediaType":        http.StatusUnsupportedMediaType,
		"StatusTooManyRequests":             http.StatusTooManyRequests,
		"StatusRequestHeaderFieldsTooLarge": http.StatusRequestHeaderFieldsTooLarge,
		"StatusInternalServerError":         http.StatusInternalServerError,
		"StatusBadGateway":                  http.StatusBadGateway,
		"StatusServiceUnavailable":          http.StatusServiceUnavailable,
		"Invalid":                           http.StatusBadRequest, "Unknown": http.StatusNotFound,
		"Refused": http.StatusForbidden, "Unavailable": http.StatusServiceUnavailable,
		"Unauthenticated": http.StatusUnauthorized,
	}[nameOf(e)]
}

// titles returns the possible titles of a problem (error document).
func (s *source) titles(t *testing.T, in string, e ast.Expr) []string {
	t.Helper()
	if e == nil {
		return nil
	}
	if sum, ok := e.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
		if prefix, _, err := s.value(in, sum.X); err == nil && nameOf(sum.Y) == "name" {
			text := constant.StringVal(prefix)
			// The title is the sum of a constant and the variable "name", whose value is always "view" or "format".
			return []string{text + "view", text + "format"}
		}
	}
	value, _, err := s.value(in, e)
	switch {
	case err == nil && value.Kind() == constant.String:
		return []string{constant.StringVal(value)}
	case nameOf(e) == "title" || nameOf(e) == "Title":
		return nil
	}
	t.Errorf("package %s has a problem with a title that is not a constant", in)
	return nil
}

// firstSentence returns a problem's detail text up to the first ".", ";" or ":" after at least four words.
func (s *source) firstSentence(in string, detail []ast.Expr) string {
	text := s.text(in, detail) + " "
	words := regexp.MustCompile(`[a-z]{2,}`)
	for _, end := range regexp.MustCompile(`[.;:] `).FindAllStringIndex(text, -1) {
		if clause := text[:end[0]]; len(words.FindAllString(clause, -1)) >= 4 {
			return sentence(clause)
		}
	}
	return ""
}

// text returns the text of a string expression, or of a format with its arguments. in is the package of the expression.
// Values that are not constant become "…".
func (s *source) text(in string, parts []ast.Expr) string {
	if len(parts) == 0 || parts[0] == nil {
		return ""
	}
	if call, ok := parts[0].(*ast.CallExpr); ok && nameOf(call.Fun) == "Sprintf" {
		return s.text(in, call.Args)
	}
	if sum, ok := parts[0].(*ast.BinaryExpr); ok && len(parts) == 1 && sum.Op == token.ADD {
		return s.text(in, []ast.Expr{sum.X}) + s.text(in, []ast.Expr{sum.Y})
	}
	value, _, err := s.value(in, parts[0])
	if err != nil || value.Kind() != constant.String {
		return "…"
	}
	text, arguments := constant.StringVal(value), parts[1:]
	return regexp.MustCompile(`%(%|[.\d]*[a-z])`).ReplaceAllStringFunc(text, func(verb string) string {
		if verb == "%%" || len(arguments) == 0 {
			return strings.TrimPrefix(verb, "%")
		}
		argument := arguments[0]
		arguments = arguments[1:]
		value, isDuration, err := s.value(in, argument)
		switch number, isNumber := constant.Int64Val(constant.ToInt(orUnknown(value))); {
		case err != nil:
			return "…"
		case isDuration:
			return time.Duration(number).String()
		case isNumber:
			return thousands(number)
		case value.Kind() == constant.String:
			return constant.StringVal(value)
		}
		return "…"
	})
}

func orUnknown(value constant.Value) constant.Value {
	if value == nil {
		return constant.MakeUnknown()
	}
	return value
}
