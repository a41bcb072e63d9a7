package redact

import "glasshouse/internal/watch/jsonscan"

// builtInRules returns the rules that apply in every configuration. They mask the values of Secrets, and the
// annotations of Secrets that may contain these values. They also mask the releases that Helm stores, because these
// contain the values of a chart.
func builtInRules() Rules {
	data := func(name string) []step { return []step{{kind: member, name: name}, {kind: members}} }
	release := func(name string) []step { return []step{{kind: member, name: name}, {kind: member, name: "release"}} }
	return Rules{
		{resource: "secrets", steps: data("data")},
		{resource: "secrets", steps: data("stringData")},
		{resource: "secrets", steps: objectAnnotations(), exempt: isHarmless},
		{resource: "configmaps", helm: true, steps: release("data")},
		{resource: "configmaps", helm: true, steps: release("binaryData")},
	}
}

// definitions is the resource of CustomResourceDefinitions. Their schemas have members named like environments and
// annotations, but without values.
const definitions = "customresourcedefinitions"

// objectAnnotations returns the path metadata.annotations.*, which matches the annotations of an object itself. It does
// not match the annotations of objects inside it, such as a pod template.
func objectAnnotations() []step {
	return []step{{kind: member, name: "metadata"}, {kind: member, name: "annotations"}, {kind: members}}
}

// copyRules returns the rules that mask annotations that may contain a copy of an object, in all kinds. They apply to
// the annotations of the object, and of every object or template inside it. Where custom resources have such
// annotations is unknown, so every member with the name annotations counts.
func copyRules() Rules {
	inner := []step{{kind: anywhere, name: "annotations"}, {kind: members}}
	return Rules{
		{group: "*", resource: "*", steps: objectAnnotations(), exempt: cannotBeCopy},
		{group: "*", resource: "*", except: definitions, steps: inner, exempt: cannotBeCopy},
	}
}

// envRules returns the rules for which Env is the short form: they mask environment variables. The names of the members
// that contain containers in custom resources are unknown, so every list or map with the name env counts as an
// environment.
func envRules() Rules {
	value := []step{{kind: elements}, {kind: member, name: "value"}}
	rules := Rules{{
		group: "*", resource: "*", except: definitions,
		steps: append([]step{{kind: anywhere, name: "env", containersOnly: true}}, value...),
	}}
	for _, containers := range []string{"containers", "initContainers", "ephemeralContainers"} {
		steps := []step{
			{kind: anywhere, name: containers, containersOnly: true},
			{kind: elements},
			{kind: member, name: "env"},
		}
		rules = append(rules, Rule{group: "*", resource: "*", except: definitions, steps: append(steps, value...)})
	}
	return rules
}

// subject is what is known about the object that is being redacted.
type subject struct {
	id        string // The UID, or namespace and name, see identity.
	namespace string
	helm      bool            // The object may be a Helm release.
	paths     map[string]bool // The paths of its masked values.
}

// identity returns a text that identifies an object: its UID, or its namespace and name if an API gives its objects no
// UID.
func identity(uid, namespace, name string) string {
	if uid != "" {
		return uid
	}
	return namespace + "/" + name
}

// subjectOf reads the metadata of the object at the cursor before the object is redacted. The caller's cursor does not
// move.
func subjectOf(c jsonscan.Cursor) (*subject, error) {
	found := &subject{paths: make(map[string]bool)}
	var uid, name string
	if c.Peek() != '{' {
		return found, nil // A value that is not an object is replaced by null.
	}
	err := c.Object(func(key []byte) error {
		if string(key) != "metadata" || c.Peek() != '{' {
			return nil
		}
		return c.Object(func(key []byte) (err error) {
			switch string(key) {
			case "uid":
				uid, err = c.Text()
			case "namespace":
				found.namespace, err = c.Text()
			case "name":
				name, err = c.Text()
			case "labels":
				var labels []byte
				labels, err = c.Value()
				found.helm = found.helm || isHelmRelease(labels)
			}
			return err
		})
	})
	found.id = identity(uid, found.namespace, name)
	found.helm = found.helm || len(name) > len(releaseName) && name[:len(releaseName)] == releaseName
	return found, err
}

// releaseName is the prefix of the names of Helm releases.
const releaseName = "sh.helm.release."

// isHelmRelease reports whether labels are those of a Helm release: owner=helm, or OWNER=TILLER for Helm 2. It also
// returns true for labels that cannot be read.
func isHelmRelease(labels []byte) (helm bool) {
	c := jsonscan.NewCursor(labels)
	if kind := c.Peek(); kind != '{' {
		return kind != 'n'
	}
	err := c.Object(func(key []byte) error {
		if name := string(key); name != "owner" && name != "OWNER" {
			return nil
		}
		owner, err := c.Text()
		helm = helm || err != nil || owner == "helm" || owner == "TILLER"
		return err
	})
	return helm || err != nil
}
