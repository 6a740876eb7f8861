package snippet

import (
	"fmt"
	"strings"
)

// ShellWord is s as one word for bash, in quotes only where it needs them.
func ShellWord(s string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return shellArg(s)
}

// shellArg is one argument for bash, without zero bytes, which no argument can hold. What is not
// printable ASCII or a line end makes it a $'…' argument.
func shellArg(s string) string {
	s = strings.ReplaceAll(s, "\x00", "")
	plain := true
	for i := range len(s) {
		plain = plain && (s[i] >= ' ' && s[i] < 0x7f || s[i] == '\n')
	}
	if plain {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	b := []byte("$'")
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			b = append(b, '\\', c)
		case c >= ' ' && c < 0x7f:
			b = append(b, c)
		default:
			b = fmt.Appendf(b, `\x%02x`, c)
		}
	}
	return string(append(b, '\''))
}
