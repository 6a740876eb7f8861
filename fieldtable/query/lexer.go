package query

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokEnd   tokenKind = iota
	tokWord            // a bare word
	tokName            // in double quotes
	tokText            // in single quotes
	tokOp              // = <> < <= > >=
	tokPunct           // ( ) [ ] , *
)

type token struct {
	kind tokenKind
	// off and end enclose the token in the source, quotes included.
	off, end int
	// text is the token without quotes and escapes.
	text string
}

func (t token) is(punct string) bool { return t.kind == tokPunct && t.text == punct }

// keyword reports whether t is the given keyword (in upper case).
func (t token) keyword(upper string) bool {
	return t.kind == tokWord && len(t.text) == len(upper) && strings.EqualFold(t.text, upper)
}

// isKeyword reports whether a bare word would be read as part of the language
// and not as a name.
func isKeyword(word string) bool {
	switch strings.ToUpper(word) {
	case "AND", "OR", "NOT", "LIKE", "ESCAPE", "IN", "BETWEEN", "IS", "NULL", "EXISTS", "TRUE", "FALSE":
		return true
	}
	return false
}

// isWordRune reports whether r may stand in a bare word.
func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.IndexByte("-_.:$#@/", byte(r)) >= 0
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// isWord reports whether s can be written without quotes as far as its
// characters go.
func isWord(s string) bool {
	for _, r := range s {
		if !isWordRune(r) {
			return false
		}
	}
	return s != ""
}

type lexer struct {
	src string
	pos int
}

func (l *lexer) next() (token, *Error) {
	if err := l.skip(); err != nil {
		return token{}, err
	}
	if l.pos == len(l.src) {
		return token{kind: tokEnd, off: l.pos, end: l.pos}, nil
	}
	switch c := l.src[l.pos]; c {
	case '"':
		return l.name()
	case '\'':
		return l.quotedText()
	case '(', ')', '[', ']', ',', '*', '%':
		return l.take(tokPunct, 1, string(c)), nil
	case '=', '<', '>', '!':
		return l.operator()
	}
	end := l.pos
	for end < len(l.src) {
		r, n := utf8.DecodeRuneInString(l.src[end:])
		if !isWordRune(r) && !(r == '+' && l.signsNumber(end)) || strings.HasPrefix(l.src[end:], "/*") {
			break
		}
		end += n
	}
	if end > l.pos {
		return l.take(tokWord, end-l.pos, l.src[l.pos:end]), nil
	}
	if l.src[l.pos] == '+' {
		return l.take(tokPunct, 1, "+"), nil
	}
	return token{}, l.unexpected()
}

// skip passes white space and comments: -- with a space or the line's end after it, and /* … */.
func (l *lexer) skip() *Error {
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		switch {
		case strings.IndexByte(" \t\r\n\f\v", rest[0]) >= 0:
			l.pos++
		case strings.HasPrefix(rest, "--") && (len(rest) == 2 || strings.IndexByte(" \t\r\n\f\v", rest[2]) >= 0):
			if end := strings.IndexByte(rest, '\n'); end >= 0 {
				l.pos += end
			} else {
				l.pos = len(l.src)
			}
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return &Error{l.pos, len(l.src), "This comment has no closing */."}
			}
			l.pos += 2 + end + 2
		default:
			return nil
		}
	}
	return nil
}

// bracketed reads a name that ends with ], behind its [ that was read last. Two brackets of a kind
// stand for one.
func (l *lexer) bracketed(open token) (token, *Error) {
	var b strings.Builder
	for i := open.end; i < len(l.src); i++ {
		c := l.src[i]
		twice := i+1 < len(l.src) && l.src[i+1] == c
		switch {
		case c == ']' && !twice:
			l.pos = i + 1
			return token{kind: tokName, off: open.off, end: l.pos, text: b.String()}, nil
		case twice && (c == ']' || c == '['):
			i++
		}
		b.WriteByte(c)
	}
	return token{}, &Error{open.off, len(l.src), "This name has no closing ]."}
}

// signsNumber reports whether the plus at this offset is the sign of a number that begins there, or
// of the exponent of one that began at pos.
func (l *lexer) signsNumber(plus int) bool {
	before, after := l.src[l.pos:plus], l.src[plus+1:]
	if after == "" || after[0] < '0' || after[0] > '9' {
		return false
	}
	if before == "" {
		r, _ := utf8.DecodeLastRuneInString(l.src[:plus])
		return !isWordRune(r) && r != '"' && r != '\''
	}
	mantissa := strings.TrimRight(before, "eE")
	return len(mantissa) == len(before)-1 && isNumber(mantissa)
}

func (l *lexer) take(k tokenKind, n int, text string) token {
	t := token{kind: k, off: l.pos, end: l.pos + n, text: text}
	l.pos += n
	return t
}

func (l *lexer) operator() (token, *Error) {
	rest := l.src[l.pos:]
	for _, op := range [...]struct{ spelling, means string }{
		{"<>", "<>"}, {"!=", "<>"}, {"<=", "<="}, {">=", ">="}, {"==", "="}, {"=", "="}, {"<", "<"}, {">", ">"},
	} {
		if strings.HasPrefix(rest, op.spelling) {
			return l.take(tokOp, len(op.spelling), op.means), nil
		}
	}
	return token{}, &Error{l.pos, l.pos + 1, "Write NOT instead of !."}
}

func (l *lexer) unexpected() *Error {
	r, n := utf8.DecodeRuneInString(l.src[l.pos:])
	at := token{off: l.pos, end: l.pos + n}
	switch {
	case r == '&':
		return errorAt(at, "Write AND instead of &.")
	case r == '|':
		return errorAt(at, "Write OR instead of |.")
	case r == utf8.RuneError && n == 1:
		return errorAt(at, "Byte 0x%02X is not UTF-8: write \\x%02x in double quotes.", l.src[l.pos], l.src[l.pos])
	case !unicode.IsPrint(r):
		return errorAt(at, "The character U+%04X cannot stand here: a name or value with it needs quotes.", r)
	}
	return errorAt(at, "%c cannot stand here: a name or value with it needs quotes.", r)
}

// quotedText reads text in single quotes, in which two single quotes stand for
// one and nothing else is special.
func (l *lexer) quotedText() (token, *Error) {
	var b strings.Builder
	for i := l.pos + 1; i < len(l.src); i++ {
		c := l.src[i]
		if c == '\'' {
			if i+1 == len(l.src) || l.src[i+1] != '\'' {
				return l.take(tokText, i+1-l.pos, b.String()), nil
			}
			i++
		}
		b.WriteByte(c)
	}
	return token{}, &Error{l.pos, len(l.src), "This text has no closing single quote."}
}

// name reads a word in double quotes, with the escapes \" \\ and \xNN (one byte); two double quotes
// stand for one too.
func (l *lexer) name() (token, *Error) {
	var b strings.Builder
	for i := l.pos + 1; i < len(l.src); i++ {
		c := l.src[i]
		if c == '"' {
			if i+1 == len(l.src) || l.src[i+1] != '"' {
				return l.take(tokName, i+1-l.pos, b.String()), nil
			}
			i++
		}
		if c != '\\' {
			b.WriteByte(c)
			continue
		}
		rest := l.src[i+1:]
		switch {
		case strings.HasPrefix(rest, `"`), strings.HasPrefix(rest, `\`):
			b.WriteByte(rest[0])
			i++
		case len(rest) >= 3 && rest[0] == 'x' && unhex(rest[1]) >= 0 && unhex(rest[2]) >= 0:
			b.WriteByte(byte(unhex(rest[1])<<4 | unhex(rest[2])))
			i += 3
		default:
			return token{}, &Error{
				i,
				min(i+2, len(l.src)),
				`After a backslash in double quotes stands ", \ or x with two hex digits.`,
			}
		}
	}
	return token{}, &Error{l.pos, len(l.src), "This name has no closing double quote."}
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c - 'a' + 10)
	case 'A' <= c && c <= 'F':
		return int(c - 'A' + 10)
	}
	return -1
}
