package query

import (
	"unicode"
	"unicode/utf8"
)

// appendQuoted writes s in double quotes so that name reads it back. What would not be seen, or
// would turn the text around it, is written in bytes.
func appendQuoted(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == utf8.RuneError && n == 1, unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp):
			for i := range n {
				dst = append(dst, '\\', 'x', hex[s[i]>>4], hex[s[i]&15])
			}
		default:
			dst = append(dst, s[:n]...)
		}
		s = s[n:]
	}
	return append(dst, '"')
}

// appendText writes s in single quotes.
func appendText(dst []byte, s string) []byte {
	dst = append(dst, '\'')
	for i := range len(s) {
		if s[i] == '\'' {
			dst = append(dst, '\'')
		}
		dst = append(dst, s[i])
	}
	return append(dst, '\'')
}

// appendName writes a header's name, bare where that reads back as the same.
func appendName(dst []byte, s string) []byte {
	if isWord(s) && s[0] != '$' && s[0] != '-' && !isKeyword(s) && !isNumeric(s) && !isOperator(s) && !hasAlias(s) {
		return append(dst, s...)
	}
	return appendQuoted(dst, s)
}

// isOperator reports whether a word is an arithmetic operator, or begins a comment.
func isOperator(s string) bool { return s == "-" || s == "/" || s == "--" }

// appendWord writes a value that stands for displayed text.
func appendWord(dst []byte, s string) []byte {
	if isWord(s) && !isNumeric(s) && !isOperator(s) && (!isKeyword(s) || isBoolWord(s)) {
		return append(dst, s...)
	}
	return appendQuoted(dst, s)
}
