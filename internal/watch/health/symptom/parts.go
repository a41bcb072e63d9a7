package symptom

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/intent"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
)

const (
	// maxDepth limits how deeply the state of a part can be nested in the status.
	maxDepth = 5
	// maxParts limits the parts that are read.
	maxParts = 500
)

// failedPart finds a part of an object that reports a failure, such as an application of a RayService. A part is an
// object anywhere in the status whose state is a word like DEPLOY_FAILED. If the object is in order, the result is nil.
func failedPart(status members, isOK bool) *Symptom {
	isGood := slices.ContainsFunc(stateMembers(status), func(member []string) bool {
		return len(member) == 1 && wording.IsGoodWord(status.text(member...))
	})
	if isOK || isGood {
		return nil
	}
	left := maxParts
	return search(status, "", maxDepth, &left)
}

// falsePart finds a part (such as a tag of an ImageStream) with a condition that is False because of an error.
func falsePart(parts []condition, isOK bool) *Symptom {
	for n := range parts {
		c := &parts[n]
		isBad := wording.NamesError(c.message) || wording.IsBadReason(c.reason)
		if !isOK && c.isFalse() && isBad && (wording.IsSummary(c.kind) || wording.IsAchievement(c.kind)) {
			return symptomOf(c)
		}
	}
	return nil
}

// unreadyPart finds a part, such as a disk of a node, whose condition Ready is False. The object itself can be ready.
// The part is in a map of the status. The spec must define a part with the same name, and must not switch it off.
func unreadyPart(spec, status members, generation int64) *Symptom {
	isWanted := func(name string) bool { return isPartWanted(spec, name) }
	for _, of := range slices.Sorted(maps.Keys(status)) {
		for _, c := range mapConditions(status, of, generation, isWanted) {
			if c.kind == "Ready" && c.isFalse() && cmp.Or(c.message, c.reason) != "" {
				return symptomOf(&c)
			}
		}
	}
	return nil
}

// isPartWanted reports whether a map in the spec defines the part, and the part is not switched off: neither by one of
// these maps, nor by the spec itself.
func isPartWanted(spec members, name string) (isDefined bool) {
	for member := range spec {
		part := spec.child(member).child(name)
		if intent.IsPartOff(part) || spec.child(member)[name] == false {
			return false
		}
		isDefined = isDefined || part != nil
	}
	return isDefined && !intent.IsPartOff(spec)
}

// search finds the first failed part in o, at most depth levels deep. *left is the number of members that it may read.
func search(o members, name string, depth int, left *int) *Symptom {
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if *left--; *left < 0 || depth == 0 {
			return nil
		}
		if wording.IsHistory(key) || wording.IsRecord(key) || key == "conditions" || key == "spec" || key == "template" {
			continue
		}
		switch value := o[key].(type) {
		case map[string]any:
			if found := partIn(value, key, depth, left); found != nil {
				return found
			}
		case []any:
			for _, item := range o.children(key) {
				of := cmp.Or(nameOf(item), strings.TrimSuffix(key, "s"), name)
				if found := partIn(item, of, depth, left); found != nil {
					return found
				}
			}
		}
	}
	return nil
}

// partIn returns the failure of a part or of the parts inside it. It returns nil if the part has ended. *left is the
// number of members that it may read.
func partIn(part members, name string, depth int, left *int) *Symptom {
	if hasEnded(part) {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(part)) {
		word, _ := part[key].(string)
		isGeneral := slices.Contains([]string{"status", "state", "phase", "health"}, key)
		if (isGeneral || wording.IsState(key)) && wording.IsFailure(word) {
			s := &Symptom{Reason: word, Sentence: name + ": " + word}
			text := message.Ends(cmp.Or(textOf(part), part.text("statusMessage"), namedError(part)))
			if text != "" && text != word {
				s.Sentence += ": " + text
			}
			return s
		}
	}
	return search(part, name, depth-1, left)
}

func nameOf(part members) string {
	return cmp.Or(
		part.text("name"), part.text("domain"), part.text("host"), part.text("id"), part.text("cluster"), part.text("node"),
	)
}

// hasEnded reports whether a status contains the time at which the object or the part ended.
func hasEnded(status members) bool {
	return slices.ContainsFunc([]string{
		"completionTime", "completionTimestamp", "completedAt", "finishedAt", "finishTime", "finishTimestamp", "endTime",
		"endedAt", "stoppedAt", "terminationTime",
	}, func(member string) bool { return status.text(member) != "" })
}

// isFailedEnd reports whether a condition that is True means that a run has ended with a failure. Some controllers set
// Completed with the reason Failed.
func isFailedEnd(c *condition) bool {
	switch c.kind {
	case "Failed":
		return !wording.IsCalmReason(c.reason) && !c.isEndedByPerson()
	case "Completed", "Complete", "Done":
		return wording.IsFailedReason(c.reason)
	}
	return false
}

// endedRun finds a run, such as a TaskRun, that has ended without success. No controller starts this run again.
func endedRun(status members, conditions []condition, isOK bool) *Symptom {
	if isOK {
		return nil
	}
	for n := range conditions {
		c := &conditions[n]
		if c.kind == "Succeeded" && c.isFalse() && hasEnded(status) || c.is("True") && isFailedEnd(c) {
			return &Symptom{
				Reason: cmp.Or(c.reason, c.kind), Since: c.since, IsFinal: true,
				Sentence: "Failed: " + cmp.Or(c.message, c.reason, "no reason given"),
			}
		}
	}
	return nil
}

// HasFailed reports whether an object is a run that has ended with a failure. Its controller does not try again.
func HasFailed(o map[string]any) bool {
	status := members(o).child("status")
	return hasEnded(status) && slices.ContainsFunc(stateMembers(status), func(member []string) bool {
		return wording.IsFailure(status.text(member...))
	})
}
