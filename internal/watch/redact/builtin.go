package redact

import "github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"

// builtInRules returns the rules that always apply. They mask Secrets and Helm releases. A Helm release contains the
// values of a chart, such as passwords.
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

// definitions is the resource of CRDs. Rules for env and annotations do not apply to CRDs. A CRD's schema can have
// members with these names, but they describe fields and contain no values.
const definitions = "customresourcedefinitions"

// objectAnnotations is the path of the object's own annotations, not of those in a pod template.
func objectAnnotations() []step {
	return []step{{kind: member, name: "metadata"}, {kind: member, name: "annotations"}, {kind: members}}
}

// copyRules returns rules for annotations with copies of objects. Custom resources can contain annotations at any
// depth.
func copyRules() Rules {
	inner := []step{{kind: anywhere, name: "annotations"}, {kind: members}}
	return Rules{
		{group: "*", resource: "*", steps: objectAnnotations(), exempt: cannotBeCopy},
		{group: "*", resource: "*", except: definitions, steps: inner, exempt: cannotBeCopy},
	}
}

// envRules returns rules for environment variables. Custom resources can contain containers at any depth.
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

type subject struct {
	id        string // The UID, or "namespace/name" if the object has no UID.
	namespace string
	helm      bool
	paths     map[string]bool
}

func identity(uid, namespace, name string) string {
	if uid != "" {
		return uid
	}
	return namespace + "/" + name
}

// subjectOf reads the metadata of the object. The parameter c is a copy, so the caller's cursor does not move.
func subjectOf(c jsonscan.Cursor) (*subject, error) {
	found := &subject{paths: make(map[string]bool)}
	var uid, name string
	if c.Peek() != '{' {
		return found, nil
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

const releaseName = "sh.helm.release."

// isHelmRelease reports whether the JSON labels contain owner=helm, or OWNER=TILLER for Helm 2. It also returns true
// for malformed labels.
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
