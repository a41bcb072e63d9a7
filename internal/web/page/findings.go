package page

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
	"github.com/glasshouse-project/glasshouse/web/templates"
)

// formatHome adds an overview to the page. If the overview is unknown, document is nil. The texts in this file must
// match those of web/static/src/home/home-text.ts. Tests check both against testdata/overview.json.
func formatHome(page *templates.Home, document *overview.Overview, link linker, now time.Time) {
	page.At = formatTime(now)
	page.Empty = templates.Empty{Title: "Loading…", Detail: "Reading the resources of the cluster."}
	if document == nil || len(document.Watched) == 0 {
		return
	}
	page.Known, page.Total, page.Unexamined = true, document.Total, document.Unexamined
	for i := range document.Problems {
		f := &document.Problems[i]
		if hasSeverity(f, func(severity verdict.Severity) bool { return severity == verdict.Failed }) {
			page.Failed++
		}
		if matchesFilter(f, page.Q) && len(page.Findings) < homeFindings {
			page.Findings = append(page.Findings, findingOf(f, link, now))
		}
	}
	page.Empty = emptyText(document, page.Q)
}

func findingOf(f *overview.Finding, link linker, now time.Time) templates.Finding {
	out := memberOf(&overview.Member{Object: f.Object, Verdict: f.Verdict}, link)
	out.Count = f.Count
	if cause := otherCause(&f.Object, f.Cause); cause != nil {
		out.Cause, out.Missing = linkWithin(&cause.Object, f.Namespace, link), cause.Missing
		if cause.Missing {
			out.Cause.Href = ""
		}
	}
	if o := f.Owner; o != nil && (f.Cause == nil || !isSame(o, &f.Cause.Object)) {
		out.Owner = linkWithin(o, f.Namespace, link)
	}
	if pod, container := crashedPod(f); pod != nil {
		if out.LogHref = link(pod, "logs"); out.LogHref != "" {
			if container != "" {
				out.LogHref += "&container=" + url.QueryEscape(container)
			}
			out.LogHref += "&previous=true"
		}
	}
	if c := f.LastChange; c != nil {
		out.Change = &templates.SpecChange{
			Text: changeText(c, &f.Object), What: c.What, Href: link(&c.Object, "changes"), Age: ageCell(c.At, " ago", now),
		}
		if c.IsDeletion {
			out.Change.Href = ""
		}
	}
	if f.Count > 1 {
		for i := range f.Objects {
			out.Members = append(out.Members, memberOf(&f.Objects[i], link))
		}
		out.Path = pathOf(f, link)
	}
	out.Since = ageCell(f.Since, "", now)
	return out
}

// pathOf returns the path from a finding's object to its cause, which is last. It returns nil for a path of one object.
func pathOf(f *overview.Finding, link linker) (path []templates.ObjectLink) {
	if len(f.Chain) < 2 {
		return nil
	}
	for i := range f.Chain {
		path = append(path, *linkWithin(&f.Chain[i], f.Namespace, link))
	}
	if f.Cause != nil && f.Cause.Missing {
		path[len(path)-1].Href = ""
	}
	return path
}

func memberOf(m *overview.Member, link linker) templates.Finding {
	sentence := m.Why()
	if cause := otherCause(&m.Object, m.Cause); cause != nil {
		sentence = cmp.Or(cause.Sentence, sentence)
	}
	return templates.Finding{
		Key:      m.Resource + "/" + nameOf(&m.Object),
		Severity: m.Severity.String(), Object: *objectLink(&m.Object, link), Sentence: sentence,
	}
}

func objectLink(o *verdict.Object, link linker) *templates.ObjectLink {
	return &templates.ObjectLink{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Href: link(o, "")}
}

// linkWithin returns a link to an object. Its text omits the namespace of the finding, which the page already shows.
func linkWithin(o *verdict.Object, namespace string, link linker) *templates.ObjectLink {
	l := objectLink(o, link)
	if l.Namespace == namespace {
		l.Namespace = ""
	}
	return l
}

// ageCell returns a cell with the age of a time. For the zero Time, the cell is empty.
func ageCell(at time.Time, suffix string, now time.Time) templates.Cell {
	if at.IsZero() {
		return templates.Cell{}
	}
	wire := formatTime(at) + suffix
	relative := watch.Column{Relative: true}
	return templates.Cell{Text: relative.ElapsedText(wire, now), Wire: wire}
}

func nameOf(o *verdict.Object) string { return strings.TrimPrefix(o.Namespace+"/"+o.Name, "/") }

func isSame(a, b *verdict.Object) bool { return a.Resource == b.Resource && nameOf(a) == nameOf(b) }

// otherCause returns the cause of the problem of the object o if the cause is another object, and nil otherwise.
func otherCause(o *verdict.Object, cause *verdict.Cause) *verdict.Cause {
	if cause == nil || cause.Name == "" || isSame(&cause.Object, o) {
		return nil
	}
	return cause
}

func crashedPod(f *overview.Finding) (pod *verdict.Object, container string) {
	const crash, pods = "CrashLoopBackOff", "core/v1/pods"
	candidates := append([]overview.Member{{Object: f.Object, Verdict: f.Verdict}}, f.Objects...)
	sentence := ""
	for i := range candidates {
		if m := &candidates[i]; m.Reason == crash && m.Resource == pods {
			pod, sentence = &m.Object, m.Sentence
			break
		}
	}
	for i := 0; pod == nil && i < len(candidates); i++ {
		if m := &candidates[i]; m.Reason == crash && m.Cause != nil && m.Cause.Resource == pods {
			pod, sentence = &m.Cause.Object, m.Cause.Sentence
		}
	}
	name := regexp.MustCompile(`(?i)\bcontainer ([a-z0-9]([-a-z0-9]*[a-z0-9])?):`)
	if found := name.FindStringSubmatch(sentence); found != nil {
		container = found[1]
	}
	return pod, container
}

func changeText(c *overview.Change, of *verdict.Object) (text string) {
	subject, ofSubject, author := "", "", " by "+cmp.Or(c.By, "an unknown author")
	if !isSame(&c.Object, of) {
		subject, ofSubject = c.Kind+" "+c.Name+" ", " of "+c.Kind+" "+c.Name
	}
	switch {
	case c.IsCreation:
		text = subject + "created" + author
	case c.IsDeletion:
		text = subject + "deleted"
	default:
		text = fieldText(c.What) + ofSubject + " changed" + author
	}
	if c.IsLater {
		text += " (after the problem began)"
	}
	return text
}

// moreFields matches the number of further changed fields at the end of a text such as "spec.replicas and 2 more".
var moreFields = regexp.MustCompile(` and (\d+) more$`)

// pathSegment matches a segment of a path. A dot in brackets is part of a segment.
var pathSegment = regexp.MustCompile(`(?:[^.\[]|\[[^\]]*\])+`)

// fieldText shortens a text with paths of changed fields, such as spec.template.spec.containers[app].image to "image".
func fieldText(what string) string {
	others := 0
	if more := moreFields.FindStringSubmatch(what); more != nil {
		others, _ = strconv.Atoi(more[1])
		what = strings.TrimSuffix(what, more[0])
	}
	paths := strings.FieldsFunc(what, func(r rune) bool { return r == ',' || r == ' ' })
	if len(paths) == 0 {
		return "spec"
	}
	others += len(paths) - 1
	segments := pathSegment.FindAllString(paths[0], -1)
	name := paths[0]
	if len(segments) > 0 {
		name = segments[len(segments)-1]
	}
	if slices.Contains([]string{"value", "name", "key", "valueFrom"}, name) {
		name = strings.Join(segments[max(0, len(segments)-2):], ".")
	}
	if key := regexp.MustCompile(`\[([^\]]*\.[^\]]*)\]$`).FindStringSubmatch(name); key != nil {
		name = key[1]
	}
	if env := regexp.MustCompile(`\benv\[([^\]]+)\]`).FindStringSubmatch(paths[0]); env != nil {
		name = "env " + env[1]
	}
	if others > 0 {
		name += fmt.Sprintf(" and %d more", others)
	}
	return name
}

// matchesFilter reports whether a problem matches all words of a filter. A word matches if a text of the problem
// contains it. A word such as "is:failed" matches if an object of the problem has this severity.
func matchesFilter(f *overview.Finding, q string) bool {
	var texts []string
	for _, m := range append([]overview.Member{{Object: f.Object, Verdict: f.Verdict}}, f.Objects...) {
		texts = append(texts, m.Kind, nameOf(&m.Object), m.Reason, m.Sentence)
		if m.Cause != nil {
			texts = append(texts, m.Cause.Kind, nameOf(&m.Cause.Object), m.Cause.Sentence)
		}
	}
	if f.Owner != nil {
		texts = append(texts, f.Owner.Kind, nameOf(f.Owner))
	}
	if f.LastChange != nil {
		texts = append(texts, f.LastChange.By)
	}
	for word := range strings.FieldsSeq(strings.ToLower(q)) {
		if matches := query.SeverityMatcher(word); matches != nil {
			if !hasSeverity(f, matches) {
				return false
			}
			continue
		}
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), word) }) {
			return false
		}
	}
	return true
}

// hasSeverity reports whether matches returns true for the severity of a finding, or of any of its objects.
func hasSeverity(f *overview.Finding, matches func(verdict.Severity) bool) bool {
	return matches(f.Severity) ||
		slices.ContainsFunc(f.Objects, func(m overview.Member) bool { return matches(m.Severity) })
}

// emptyText returns the text that the page shows if there are no problems to list. Resources that cannot be read can
// still have problems, so the text lists these resources as not known.
func emptyText(o *overview.Overview, q string) templates.Empty {
	if len(o.Problems) > 0 {
		return templates.Empty{
			Title: "No problems match “" + q + "”", Detail: pluralText(o.Total, "problem") + " hidden",
		}
	}
	live, done := 0, 0
	var unknown []string
	for i := range o.Watched {
		w := &o.Watched[i]
		if w.State != status.Syncing {
			done++
		}
		if w.State == status.Live {
			live++
		} else {
			name := templates.Plural(w.Kind, path.Base(w.Resource))
			unknown = append(unknown, name+" ("+strings.ToLower(stateWord(w.State))+")")
		}
	}
	scope, total := pluralText(live, "resource type"), max(o.Planned, len(o.Watched))
	switch {
	case done < total:
		return templates.Empty{
			Title:  "No problems found yet",
			Detail: fmt.Sprintf("Reading resource types: %d of %d done.", done, total),
		}
	case len(o.Watched) == 0:
		return templates.Empty{
			Title: "Nothing has been read", Detail: "No resource type can be watched, so problems are unknown.",
		}
	case len(unknown) == 0:
		return templates.Empty{Title: "No problems in " + scope}
	}
	title := "No problems found in " + scope
	if live == 0 {
		title = "Problems could not be checked"
	}
	return templates.Empty{
		Title: title, Detail: "Problems in these resource types may be missing here: " + strings.Join(unknown, ", ") + ".",
	}
}

func pluralText(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return templates.Digits(n) + " " + one + "s"
}
