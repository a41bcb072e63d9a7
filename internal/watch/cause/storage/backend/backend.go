// Package backend finds the custom resources of a storage system that prevent the provisioning of volumes.
package backend

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// noBackend matches a message that a provisioner has no place for a volume, with the kind of this place.
var noBackend = regexp.MustCompile(`(?i)\b(?:no|not enough|insufficient) (?:[a-z]+ ){0,2}(pool|backend)s?\b`)

// Broken returns the custom resource because of which a provisioner creates no volume for a claim, or nil. The message
// is that of an event of the provisioner about the claim.
func Broken(s *subject.Subject, message string) *neighbor.Neighbor {
	name := ptr.Deref(neighbor.Decode[corev1.PersistentVolumeClaim](s.Object).Spec.StorageClassName, "")
	if name == "" {
		return nil
	}
	n := s.Find(graph.NewID(graph.Kind{Group: "storage.k8s.io", Kind: "StorageClass"}, "", name))
	class := neighbor.Decode[storage.StorageClass](n.Object)
	broken := cmp.Or(brokenPlace(s, &class, message), brokenCeph(s, &class, message))
	if broken != nil {
		s.AddSource(n.Resource, "")
	}
	return broken
}

// brokenPlace returns the custom resource that describes the place where a provisioner would create the volume of a
// claim, if this place has a problem, and the message of an event states that no place is available. It belongs to the
// provisioner's project, and contains a parameter value of the storage class. If another such resource has no problem,
// brokenPlace returns nil.
func brokenPlace(s *subject.Subject, class *storage.StorageClass, message string) *neighbor.Neighbor {
	found := noBackend.FindStringSubmatch(message)
	if found == nil {
		return nil
	}
	words := wordsOf(class.Parameters)
	var all []neighbor.Neighbor
	for _, kind := range kindsOf(s, class.Provisioner, found[1]) {
		of, isComplete := subject.AllOf(s, kind, neighbor.AnyNamespace, neighbor.Limit)
		if !isComplete {
			return nil
		}
		all = append(all, of...)
	}
	all = slices.DeleteFunc(all, func(n neighbor.Neighbor) bool { return !contains(&n, words) })
	for n := range all {
		subject.Follow(s, &all[n])
		if !s.HasProblem(&all[n]) {
			return nil
		}
	}
	return s.Worst(all)
}

// kindsOf returns the kinds of a provisioner's project that end with a word, such as DiskPool for pool. The name
// of the provisioner contains the domain of the project, also in reverse order: csi.example.com or com.example.csi.
func kindsOf(s *subject.Subject, provisioner, word string) (kinds []graph.Kind) {
	parts := strings.Split(provisioner, ".")
	var groups []string
	for n := range len(parts) - 1 {
		groups = append(groups, strings.Join(parts[n:], "."))
	}
	if len(parts) > 2 && slices.Contains([]string{"com", "io", "org", "net"}, parts[0]) {
		groups = append(groups, parts[1]+"."+parts[0])
	}
	for _, group := range groups {
		by := graph.NewID(graph.Kind{Group: group}, "-", "-")
		for _, ending := range []string{word, word + "Config"} {
			for _, n := range s.Named(by, &neighbor.Mention{Kind: ending, Group: group, Name: "-", IsWord: true}) {
				if !slices.Contains(kinds, n.ID.Kind) {
					kinds = append(kinds, n.ID.Kind)
				}
			}
		}
	}
	return kinds
}

// wordsOf returns the values of parameters. A value can itself consist of lines such as "media: ssd".
func wordsOf(parameters map[string]string) (words []string) {
	for _, text := range parameters {
		for line := range strings.Lines(text) {
			if _, value, ok := strings.Cut(line, ": "); ok {
				line = value
			}
			if word := strings.TrimSpace(line); len(word) > 2 && word != "true" && word != "false" {
				words = append(words, word)
			}
		}
	}
	return words
}

// contains reports whether an object contains one of the words as a complete value.
func contains(n *neighbor.Neighbor, words []string) bool {
	text, _ := n.Object.JSON()
	return slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(text, []byte(`"`+word+`"`)) })
}
