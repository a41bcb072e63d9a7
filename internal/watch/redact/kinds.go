package redact

import "glasshouse/internal/watch/rawjson"

// always are the rules that apply in every configuration. They mask the values of Secrets, the annotations of
// Secrets that may contain them, and the releases that Helm stores, which contain the values of a chart.
func always() Rules {
	data := func(name string) []step { return []step{{kind: member, name: name}, {kind: members}} }
	release := func(name string) []step { return []step{{kind: member, name: name}, {kind: member, name: "release"}} }
	return Rules{
		{resource: "secrets", steps: data("data")},
		{resource: "secrets", steps: data("stringData")},
		{resource: "secrets", steps: ownAnnotations(), keeps: isHarmless},
		{resource: "configmaps", helm: true, steps: release("data")},
		{resource: "configmaps", helm: true, steps: release("binaryData")},
	}
}

// definitions are the resource whose schemas have members with the names of environments and annotations, and no
// values in them.
const definitions = "customresourcedefinitions"

// ownAnnotations is the path of each annotation of an object.
func ownAnnotations() []step {
	return []step{{kind: member, name: "metadata"}, {kind: member, name: "annotations"}, {kind: members}}
}

// copies are the rules that mask annotations which may contain a copy of an object, in all kinds: those of the
// object, and those of every object or template within it. Nobody knows where custom resources have such, so
// anything called annotations is taken for annotations.
func copies() Rules {
	inner := []step{{kind: anywhere, name: "annotations"}, {kind: members}}
	return Rules{
		{group: "*", resource: "*", steps: ownAnnotations(), keeps: isNoCopy},
		{group: "*", resource: "*", except: definitions, steps: inner, keeps: isNoCopy},
	}
}

// env are the rules of Env. Nobody knows the names of containers in custom resources, so any list or map called
// env is taken for an environment.
func env() Rules {
	value := []step{{kind: elements}, {kind: member, name: "value"}}
	rules := Rules{{
		group: "*", resource: "*", except: definitions,
		steps: append([]step{{kind: anywhere, name: "env", lists: true}}, value...),
	}}
	for _, containers := range []string{"containers", "initContainers", "ephemeralContainers"} {
		steps := []step{{kind: anywhere, name: containers, lists: true}, {kind: elements}, {kind: member, name: "env"}}
		rules = append(rules, Rule{group: "*", resource: "*", except: definitions, steps: append(steps, value...)})
	}
	return rules
}

// subject is the object that is being redacted.
type subject struct {
	id        string // Tells it from others.
	namespace string
	helm      bool            // It may be a release of Helm's.
	paths     map[string]bool // Of its masked values.
}

// identity tells objects apart; some APIs give them no UID.
func identity(uid, namespace, name string) string {
	if uid != "" {
		return uid
	}
	return namespace + "/" + name
}

// subjectOf reads ahead: the cursor is the caller's.
func subjectOf(c rawjson.Cursor) (*subject, error) {
	of := &subject{paths: make(map[string]bool)}
	var uid, name string
	if c.Peek() != '{' {
		return of, nil // It becomes null.
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
				of.namespace, err = c.Text()
			case "name":
				name, err = c.Text()
			case "labels":
				var labels []byte
				labels, err = c.Value()
				of.helm = of.helm || ofHelm(labels)
			}
			return err
		})
	})
	of.id = identity(uid, of.namespace, name)
	of.helm = of.helm || len(name) > len(releaseName) && name[:len(releaseName)] == releaseName
	return of, err
}

// releaseName is what the names of Helm's releases begin with.
const releaseName = "sh.helm.release."

// ofHelm reports labels of Helm's: owner=helm, of the second version
// OWNER=TILLER. Labels that cannot be read may be.
func ofHelm(labels []byte) (helm bool) {
	c := rawjson.NewCursor(labels)
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
