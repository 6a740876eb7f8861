package query

import (
	"cmp"
	"slices"
)

// node is a condition or a combination of conditions.
type node interface {
	// eval decides the message that s holds. Only damage leaves more than one
	// value open.
	eval(s *Scratch) truths
	// shape says what the names and tags of a message settle by themselves.
	shape(v *shapeView) truths
	cost() cost
	append(dst []byte) []byte
}

// cost is what eval has to touch.
type cost uint8

const (
	costFacts cost = iota // delivery facts, properties, marks
	costTable             // one pass over the header table, shared by all
	costWalk              // a pass of its own
)

// everything is the empty filter; every message matches.
type everything struct{}

func (everything) eval(*Scratch) truths     { return isYes }
func (everything) shape(*shapeView) truths  { return isYes }
func (everything) cost() cost               { return costFacts }
func (everything) append(dst []byte) []byte { return dst }

// negation is NOT, such as
//
//	NOT x-death
type negation struct{ of node }

func (n negation) eval(s *Scratch) truths    { return n.of.eval(s).not() }
func (n negation) shape(v *shapeView) truths { return n.of.shape(v).not() }
func (n negation) cost() cost                { return n.of.cost() }
func (n negation) append(dst []byte) []byte {
	dst = append(dst, "NOT "...)
	if _, ok := n.of.(*junction); ok {
		return append(n.of.append(append(dst, '(')), ')')
	}
	return n.of.append(dst)
}

// junction is AND or OR over two or more nodes, such as
//
//	tenant = acme OR retries > 2
type junction struct {
	or bool
	// written keeps the order of the source, ordered the cheapest first.
	written, ordered []node
}

// join flattens a AND (b AND c), which is the same as without parentheses.
func join(or bool, nodes []node) node {
	if len(nodes) == 1 {
		return nodes[0]
	}
	j := &junction{or: or}
	for _, n := range nodes {
		if inner, ok := n.(*junction); ok && inner.or == or {
			j.written = append(j.written, inner.written...)
		} else {
			j.written = append(j.written, n)
		}
	}
	j.ordered = slices.Clone(j.written)
	slices.SortStableFunc(j.ordered, func(a, b node) int { return cmp.Compare(a.cost(), b.cost()) })
	return j
}

// An OR is worked out as the AND of the opposites.

func (j *junction) eval(s *Scratch) truths {
	t := isYes
	for _, n := range j.ordered {
		of := n.eval(s)
		if j.or {
			of = of.not()
		}
		if t = t.and(of); t == isNo {
			break
		}
	}
	if j.or {
		t = t.not()
	}
	return t
}

func (j *junction) shape(v *shapeView) truths {
	t := isYes
	for _, n := range j.ordered {
		of := n.shape(v)
		if j.or {
			of = of.not()
		}
		t = t.and(of)
	}
	if j.or {
		t = t.not()
	}
	return t
}

func (j *junction) cost() cost {
	c := costFacts
	for _, n := range j.written {
		c = max(c, n.cost())
	}
	return c
}

func (j *junction) append(dst []byte) []byte {
	for i, n := range j.written {
		if i > 0 && j.or {
			dst = append(dst, " OR "...)
		} else if i > 0 {
			dst = append(dst, " AND "...)
		}
		if inner, ok := n.(*junction); ok && inner.or {
			dst = append(inner.append(append(dst, '(')), ')')
		} else {
			dst = n.append(dst)
		}
	}
	return dst
}
