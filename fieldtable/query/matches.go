package query

import (
	"errors"
	"regexp"
	"regexp/syntax"

	"github.com/headerglass/headerglass/fieldtable"
)

const (
	// maxPattern bounds a regular expression, in bytes.
	maxPattern = 256
	// maxProgram bounds what it becomes: a count in it stands for so many copies, and a class such
	// as \pL for hundreds of ranges.
	maxProgram = 2000
	// maxMatches bounds the regular expressions of one filter.
	maxMatches = 16
)

// regularExpression is MATCHES, such as
//
//	tenant MATCHES '^acme-[0-9]+$'
//
// with the syntax of Go's regexp, whose cost is linear in the text. It holds where the pattern is
// found anywhere in the text. As with LIKE, a pattern in single quotes is for text only, one in
// double quotes is for the displayed text of any value.
type regularExpression struct {
	not     bool
	pattern literal
	re      *regexp.Regexp
}

func (r *regularExpression) holds(s *Scratch, d *datum) truths {
	var t truths
	switch {
	case d.class == classVoid:
		return isUnknown
	case d.class == classText:
		t = truthOf(r.re.Match(d.bytes))
	case r.pattern.kind == literalText:
		t = isNo
	default:
		t = truthOf(r.re.Match(s.displayed(d)))
	}
	if r.not {
		t = t.not()
	}
	return t
}

func (*regularExpression) absent() truths { return isUnknown }

func (r *regularExpression) tag(tag byte, d *fieldtable.Dialect) truths {
	if d.Kind(tag) == fieldtable.KindVoid {
		return isUnknown
	}
	return anyTruth
}

func (r *regularExpression) append(dst []byte, left string) []byte {
	dst = append(dst, left...)
	if r.not {
		dst = append(dst, " NOT"...)
	}
	return r.pattern.append(append(dst, " MATCHES "...))
}

func (p *parser) matches(c *condition, not bool) (node, *Error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if c.prop != nil && c.prop.kind != propertyText {
		return nil, errorAt(p.last, "$%s is no text: MATCHES cannot be asked of it.", c.prop.name)
	}
	at := p.tok
	if at.kind != tokText && at.kind != tokName {
		return nil, p.expected("Expected a regular expression in quotes after MATCHES")
	}
	if p.patterns++; p.patterns > maxMatches {
		return nil, errorAt(at, "A filter may have at most %d regular expressions.", maxMatches)
	}
	if len(at.text) > maxPattern {
		return nil, errorAt(at, "A regular expression may have at most %d bytes.", maxPattern)
	}
	parsed, err := syntax.Parse(at.text, syntax.Perl)
	if err != nil {
		reason := "its syntax is that of RE2"
		if e, ok := errors.AsType[*syntax.Error](err); ok {
			reason = e.Code.String()
		}
		return nil, errorAt(at, "Go's regexp does not read this regular expression: %s.", reason)
	}
	if programSize(parsed) > maxProgram {
		return nil, errorAt(at, "This regular expression repeats too much.")
	}
	re, err := regexp.Compile(at.text)
	if err != nil {
		return nil, errorAt(at, "Go's regexp does not compile this regular expression.")
	}
	c.test = &regularExpression{not: not, pattern: newLiteral(at), re: re}
	return c.finish(), p.advance()
}

// programSize is about how many instructions and ranges an expression becomes.
func programSize(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)/2
	for _, sub := range re.Sub {
		size += programSize(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min, re.Max, 1)
	}
	return min(size, maxProgram+1)
}
