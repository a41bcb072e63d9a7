package redact

import "glasshouse/internal/watch/rawjson"

// always are the rules that hold whatever else is configured: the values of
// Secrets, and what Helm keeps of its releases, values included.
func always() Rules {
	data := func(name string) []step { return []step{{kind: member, name: name}, {kind: members}} }
	release := func(name string) []step { return []step{{kind: member, name: name}, {kind: member, name: "release"}} }
	return Rules{
		{resource: "secrets", steps: data("data")},
		{resource: "secrets", steps: data("stringData")},
		{resource: "configmaps", helm: true, steps: release("data")},
		{resource: "configmaps", helm: true, steps: release("binaryData")},
	}
}

// env are the rules of Env. What a container is called in kinds of others nobody
// knows: any list or map that is called env is taken for an environment. A
// definition's schemas have such members, and no values.
func env() Rules {
	const definitions = "customresourcedefinitions"
	value := []step{{kind: elements}, {kind: member, name: "value"}}
	rules := Rules{{group: "*", resource: "*", except: definitions, steps: append([]step{{kind: anywhere, name: "env", lists: true}}, value...)}}
	for _, containers := range []string{"containers", "initContainers", "ephemeralContainers"} {
		steps := append([]step{{kind: anywhere, name: containers, lists: true}, {kind: elements}, {kind: member, name: "env"}}, value...)
		rules = append(rules, Rule{group: "*", resource: "*", except: definitions, steps: steps})
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
