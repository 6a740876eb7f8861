package fieldtable

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// A path leads from a table to a value nested in it: x-death[0].reason. Names of letters, digits
// and -_$#:/@ stand as they are; any other is quoted, with \" and \\ for those two characters and
// \xNN for an octet that is no UTF-8 or a control character: "NServiceBus.MessageId", "a\"b"[2].
// The empty name is "".

// Step is one step of a path: the first field of that name, or the element with that index, counted
// from 0.
type Step struct {
	Name    string
	Index   int
	IsIndex bool
}

// PathError says where a path is not written as a path.
type PathError struct {
	Path   string
	Offset int // in octets from the start of Path
	Msg    string
}

func (e *PathError) Error() string {
	return fmt.Sprintf("path %q: %s, at byte %d", e.Path, e.Msg, e.Offset)
}

// ParsePath reads a path. The error is a *PathError.
func ParsePath(path string) ([]Step, error) { return appendSteps(nil, path) }

func appendSteps(steps []Step, path string) ([]Step, error) {
	p := 0
	fail := func(msg string) ([]Step, error) { return nil, &PathError{path, p, msg} }
	for first := true; first || p < len(path); first = false {
		if !first && path[p] == '[' {
			from := p + 1
			for p = from; p < len(path) && path[p] >= '0' && path[p] <= '9'; {
				p++
			}
			index, err := strconv.Atoi(path[from:p])
			if err != nil {
				p = from
				return fail("an index is a decimal number that an int can hold")
			}
			if p == len(path) || path[p] != ']' {
				return fail("] is missing")
			}
			p++
			steps = append(steps, Step{Index: index, IsIndex: true})
			continue
		}
		if !first {
			if path[p] != '.' {
				return fail("a name is followed by . or [ (quote names with other characters)")
			}
			p++
		}
		name, n, msg := cutName(path[p:])
		p += n
		if msg != "" {
			return fail(msg)
		}
		steps = append(steps, Step{Name: name})
	}
	return steps, nil
}

// cutName reads the name that s begins with, and says how much of s it is, or where and what is
// wrong.
func cutName(s string) (name string, n int, msg string) {
	if s == "" || s[0] != '"' {
		for n < len(s) && bare(s[n]) {
			n++
		}
		if n == 0 {
			return "", 0, "a name is missing"
		}
		return s[:n], n, ""
	}
	var unescaped []byte
	from := 1 // of the part not yet in unescaped
	for n = 1; n < len(s); n++ {
		switch s[n] {
		case '"':
			if unescaped == nil {
				return s[1:n], n + 1, ""
			}
			return string(append(unescaped, s[from:n]...)), n + 1, ""
		case '\\':
			unescaped = append(unescaped, s[from:n]...)
			switch rest := s[n+1:]; {
			case rest != "" && (rest[0] == '"' || rest[0] == '\\'):
				unescaped = append(unescaped, rest[0])
				n++
			case len(rest) >= 3 && rest[0] == 'x':
				octet, err := strconv.ParseUint(rest[1:3], 16, 8)
				if err != nil {
					return "", n, `\x is followed by two hexadecimal digits`
				}
				unescaped = append(unescaped, byte(octet))
				n += 3
			default:
				return "", n, `a backslash is followed by ", \ or xNN`
			}
			from = n + 1
		}
	}
	return "", n, "the closing quote is missing"
}

func bare(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return true
	}
	switch c {
	case '-', '_', '$', '#', ':', '/', '@':
		return true
	}
	return false
}

// AppendStep appends a name to a path, quoted if it has to be, after a dot unless the path is
// empty.
func AppendStep(path, name []byte) []byte {
	if len(path) > 0 {
		path = append(path, '.')
	}
	plain := len(name) > 0
	for _, c := range name {
		plain = plain && bare(c)
	}
	if plain {
		return append(path, name...)
	}
	path = append(path, '"')
	for len(name) > 0 {
		r, n := utf8.DecodeRune(name)
		switch {
		case r == utf8.RuneError && n == 1, r < ' ', r == 0x7f:
			path = fmt.Appendf(path, `\x%02x`, name[0])
		case r == '"', r == '\\':
			path = append(path, '\\', name[0])
		default:
			path = append(path, name[:n]...)
		}
		name = name[n:]
	}
	return append(path, '"')
}

// AppendIndex appends an array index to a path.
func AppendIndex(path []byte, index int) []byte {
	path = append(path, '[')
	path = strconv.AppendInt(path, int64(index), 10)
	return append(path, ']')
}

// At returns the value that a path leads to. The error is a *PathError if the path is not written
// as one, ErrAbsent if it leads nowhere, or a *SyntaxError if there is damage on the way.
func (t Table) At(path string) (Value, error) {
	steps, err := appendSteps(make([]Step, 0, 8), path)
	if err != nil {
		return Value{}, err
	}
	return t.Follow(steps)
}

// Follow is At for a path that has been parsed.
func (t Table) Follow(steps []Step) (v Value, err error) {
	for i, step := range steps {
		if i > 0 {
			var ok bool
			if t, ok = v.Table(); !ok && !step.IsIndex {
				return Value{}, ErrAbsent
			}
		}
		if step.IsIndex {
			a, ok := v.Array()
			if !ok {
				return Value{}, ErrAbsent
			}
			v, err = a.Index(step.Index)
		} else {
			v, err = t.Lookup(step.Name)
		}
		if err != nil {
			return Value{}, err
		}
	}
	if v.IsZero() {
		return Value{}, ErrAbsent
	}
	return v, nil
}
