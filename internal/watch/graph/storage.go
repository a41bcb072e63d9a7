package graph

import (
	"hash/maphash"
	"iter"

	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
)

// storage contains the objects of a Graph, and the indexes that find them. The lock of the Graph protects it.
type storage struct {
	// seed is random, so an attacker cannot construct texts with the same hash.
	seed maphash.Seed

	objects slab[object]
	groups  slab[group]
	links   slab[link]
	byID    table // Maps an object ID to the number (position) of the object in objects.
	byText  table // Maps a packed shape to the number of its group in groups.
	byTerm  table // Maps the hash of a term to the number of its first link in links.
}

// object is a member of the group of all objects with the same shape. A pod on a node is also a member of the group of
// all pods on this node.
type object struct {
	key    string
	groups [2]uint32
	next   [2]uint32 // For each element of groups, the number of the next member of this group.
}

// group contains objects with the same shape.
type group struct {
	text     string // The packed shape.
	selector *objectrefs.Selector
	first    uint32 // The number of the first member.
}

// link is an entry in the linked list of a search term. Each entry names a group of objects in which the term occurs.
type link struct {
	hash  uint64 // The hash of the term. Two terms with the same hash are too improbable to matter.
	group uint32
	next  uint32 // The number of the next link in the list; 0 for the last one.
}

// clear removes all objects.
func (s *storage) clear() {
	s.objects, s.groups, s.links = slab[object]{}, slab[group]{}, slab[link]{}
	s.byID = table{hash: func(n uint32) uint64 { return s.hashOfID(s.idOf(s.objects.at(n))) }}
	s.byText = table{hash: func(n uint32) uint64 { return maphash.String(s.seed, s.groups.at(n).text) }}
	s.byTerm = table{hash: func(n uint32) uint64 { return s.links.at(n).hash }}
}

// find returns the number of an object, or 0.
func (s *storage) find(id ID) uint32 {
	if slot := s.byID.find(s.hashOfID(id), func(n uint32) bool {
		o := s.objects.at(n)
		return o.key == id.Key && s.idOf(o) == id
	}); slot != nil {
		return *slot
	}
	return 0
}

// groupOf returns the group with the references of an object, or nil if the object is unknown.
func (s *storage) groupOf(id ID) *group {
	if number := s.find(id); number != 0 {
		return s.groups.at(s.objects.at(number).groups[0])
	}
	return nil
}

func (s *storage) idOf(o *object) ID { return ID{kindOf(s.groups.at(o.groups[0]).text), o.key} }

// join adds the object with this number to the group whose packed shape is text. If there is no such group, join
// creates it. The object stores the group in its field groups, at the index in the parameter "at".
func (s *storage) join(number uint32, at int, text string, selector *objectrefs.Selector) {
	var joined uint32
	if slot := s.byText.find(maphash.String(s.seed, text), func(n uint32) bool {
		return s.groups.at(n).text == text
	}); slot != nil {
		joined = *slot
	} else {
		joined = s.groups.add(group{text: text, selector: selector})
		s.byText.add(joined)
		s.link(joined)
	}
	m, to := s.objects.at(number), s.groups.at(joined)
	m.groups[at], m.next[at], to.first = joined, to.first, number
}

// leave removes an object from its groups. It also removes groups that then have no members.
func (s *storage) leave(number uint32) {
	m := s.objects.at(number)
	for at, left := range m.groups {
		if left == 0 {
			continue
		}
		from := s.groups.at(left)
		next := &from.first
		for *next != number {
			next = &s.objects.at(*next).next[at]
		}
		*next = m.next[at]
		if from.first == 0 {
			s.byText.remove(left)
			s.unlink(left)
			s.groups.remove(left)
		}
	}
	m.groups, m.next = [2]uint32{}, [2]uint32{}
}

// link adds a group to the linked list of each of its search terms.
func (s *storage) link(number uint32) {
	for _, t := range s.termsOf(number) {
		added := link{hash: s.hashOf(t), group: number}
		if first := s.findTerm(added.hash); first != nil {
			added.next = *first
			*first = s.links.add(added)
		} else {
			s.byTerm.add(s.links.add(added))
		}
	}
}

// unlink removes a group from the linked list of each of its search terms.
func (s *storage) unlink(number uint32) {
	for _, t := range s.termsOf(number) {
		first := s.findTerm(s.hashOf(t))
		next := first
		for s.links.at(*next).group != number {
			next = &s.links.at(*next).next
		}
		removed := *next
		if rest := s.links.at(removed).next; rest != 0 || next != first {
			*next = rest
		} else {
			s.byTerm.remove(removed)
		}
		s.links.remove(removed)
	}
}

func (s *storage) termsOf(number uint32) []term {
	n := s.groups.at(number)
	has := unpack(n.text)
	return has.terms(n.selector)
}

// groupsWith yields the numbers (positions in s.groups) of the groups in which a term occurs.
func (s *storage) groupsWith(t term) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		first := s.findTerm(s.hashOf(t))
		if first == nil {
			return
		}
		for n := *first; n != 0; n = s.links.at(n).next {
			if !yield(s.links.at(n).group) {
				return
			}
		}
	}
}

func (s *storage) count(t term) (count int) {
	for range s.groupsWith(t) {
		count++
	}
	return count
}

// appendMembers appends members of the group with this number to ids, until ids has limit elements.
func (s *storage) appendMembers(ids []ID, number uint32, limit int) []ID {
	from := s.groups.at(number)
	kind := kindOf(from.text)
	for n := from.first; n != 0 && len(ids) < limit; {
		o := s.objects.at(n)
		ids = append(ids, ID{kind, o.key})
		if n = o.next[0]; o.groups[1] == number {
			n = o.next[1]
		}
	}
	return ids
}

// findTerm returns a pointer to the number of the first link of a search term, or nil if no group has the term.
func (s *storage) findTerm(hash uint64) (first *uint32) {
	return s.byTerm.find(hash, func(n uint32) bool { return s.links.at(n).hash == hash })
}

func (s *storage) hashOfID(id ID) uint64 { return maphash.Comparable(s.seed, id) }

func (s *storage) hashOf(t term) uint64 { return maphash.Comparable(s.seed, t) }
