package query

import "slices"

// Conjuncts are the conditions that all have to hold, in the order of the source and
// in canonical form: joined by AND they are the filter again. The empty filter has
// none.
func (q *Filter) Conjuncts() []string {
	if q.MatchesAll() {
		return nil
	}
	j, ok := q.root.(*junction)
	if !ok || j.or {
		return []string{q.text}
	}
	parts := make([]string, len(j.written))
	for i, n := range j.written {
		parts[i] = string(appendConjunct(nil, n))
	}
	return parts
}

// Conjoin joins a filter and one more condition with AND, unless the filter asks for it already. A
// filter that does not compile keeps its text, so that its mistake is shown.
func Conjoin(filter, condition string) string { return Conjoiner(filter)(condition) }

// Conjoiner is Conjoin for many conditions: it reads the filter once.
func Conjoiner(filter string) func(condition string) string {
	if filter == "" {
		return func(condition string) string { return condition }
	}
	left, err := Compile(filter)
	if err != nil {
		return func(condition string) string { return "(" + filter + ") AND " + condition }
	}
	conjuncts, all := left.Conjuncts(), left.MatchesAll()
	and := string(appendConjunct(nil, left.root)) + " AND "
	return func(condition string) string {
		// A page asks for each of hundreds of names; they need no parser.
		bare := isWord(condition) && string(appendName(nil, condition)) == condition
		if bare && !all && !slices.Contains(conjuncts, condition) {
			return and + condition
		}
		right, err := Compile(condition)
		if err != nil {
			return left.text + " AND " + condition
		}
		nodes := []node{left.root, right.root}
		switch {
		case all:
			nodes = nodes[1:]
		case right.MatchesAll() || slices.Contains(conjuncts, right.conjunct()):
			nodes = nodes[:1]
		}
		return string(join(false, nodes).append(nil))
	}
}

// conjunct is the filter as Conjuncts would have it as one of several.
func (q *Filter) conjunct() string { return string(appendConjunct(nil, q.root)) }

func appendConjunct(dst []byte, n node) []byte {
	if j, ok := n.(*junction); ok && j.or {
		return append(j.append(append(dst, '(')), ')')
	}
	return n.append(dst)
}
