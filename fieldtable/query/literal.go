package query

import (
	"bytes"
	"math/big"
	"strings"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
)

type literalKind uint8

const (
	// literalWord equals whatever is displayed as this word.
	literalWord literalKind = iota
	// literalText equals text only.
	literalText
	// literalNumber equals any number, and text that reads as one.
	literalNumber
)

// literal is the right side of a comparison.
type literal struct {
	kind literalKind
	text []byte // a number's as it was written
	num  number
	// asWord: the number is not written with digits alone, so it also equals what is displayed as
	// it is written, as a word does.
	asWord bool
	// bare: written without quotes.
	bare bool
	// time is what a word or text reads as where isTime is true.
	time   time.Time
	isTime bool
	// isBool: a word that says true or false, in any case.
	isBool, bool bool
}

func isBoolWord(s string) bool {
	return strings.EqualFold(s, "true") || strings.EqualFold(s, "false")
}

func newLiteral(t token) literal {
	l := literal{text: []byte(t.text)}
	switch t.kind {
	case tokText:
		l.kind = literalText
	case tokWord:
		if n, ok := parseNumber(t.text); ok {
			l.kind, l.num = literalNumber, n
			return l
		}
		if n, ok := suffixedNumber(t.text); ok {
			l.kind, l.num, l.asWord = literalNumber, n, true
			return l
		}
		l.bare = true
		fallthrough
	default:
		l.isBool = isBoolWord(t.text)
		l.bool = strings.EqualFold(t.text, "true")
	}
	l.time, l.isTime = parseTime(t.text)
	return l
}

// suffixedNumber reads numbers as Java writes them: 5L, 1.5f, 2d, 0xFF.
func suffixedNumber(s string) (number, bool) {
	const maxHex = 1024 // octets have many digits too
	if digits, ok := hexDigits(s); ok && len(digits) <= maxHex {
		n, ok := new(big.Int).SetString(digits, 16)
		if !ok {
			return number{}, false
		}
		return parseNumber(n.String())
	}
	if s == "" || strings.IndexByte("lLfFdD", s[len(s)-1]) < 0 {
		return number{}, false
	}
	n, ok := parseNumber(s[:len(s)-1])
	if last := s[len(s)-1]; last != 'l' && last != 'L' {
		n.exact = false
	} else if !n.exact {
		return number{}, false
	}
	return n, ok
}

// plainDigits are those of a number that is written in another notation.
func plainDigits(n number, written string) string {
	if digits, ok := hexDigits(written); ok {
		v, _ := new(big.Int).SetString(digits, 16)
		return v.String()
	}
	digits := written[:len(written)-1]
	if !n.exact && leadingDigits([]byte(digits)) == len(digits) {
		digits += ".0"
	}
	return digits
}

// hexDigits returns what stands behind 0x.
func hexDigits(s string) (string, bool) {
	if len(s) < 3 || s[0] != '0' || s[1] != 'x' && s[1] != 'X' {
		return "", false
	}
	return s[2:], true
}

// octal reports whether s is written as an octal number is in Java, C and SQL's dialects of them.
func octal(s string) bool {
	s = strings.TrimRight(s, "lL")
	return len(s) > 1 && s[0] == '0' && leadingDigits([]byte(s)) == len(s)
}

// parseTime reads RFC 3339; the zone (then UTC), the seconds and the time of day
// may be left out.
func parseTime(s string) (time.Time, bool) {
	if len(s) < len(time.DateOnly) || s[4] != '-' {
		return time.Time{}, false
	}
	for _, layout := range [...]string{
		time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04",
		"2006-01-02 15:04:05Z07:00", time.DateTime, "2006-01-02 15:04", time.DateOnly,
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// constant is the literal as one side of a calculation.
func (l *literal) constant() (*constant, *Error) {
	t := token{kind: tokText, text: string(l.text)}
	if l.kind == literalNumber || l.isBool && l.bare {
		t.kind = tokWord
	}
	return newConstant(t)
}

func (l *literal) append(dst []byte) []byte {
	switch l.kind {
	case literalText:
		return appendText(dst, string(l.text))
	case literalNumber:
		return append(dst, l.text...)
	}
	return appendWord(dst, string(l.text))
}

// equals never leaves a comparison of different types open: they differ. Only a
// void, as SQL's NULL, is neither equal nor different; the word void names it.
func (l *literal) equals(s *Scratch, d *datum) truths {
	if d.class == classVoid {
		if l.kind == literalWord && string(l.text) == "void" {
			return isYes
		}
		return isUnknown
	}
	if sign, ok := l.cmp(d); ok && sign == 0 {
		return isYes
	}
	if l.asWord {
		return truthOf(l.equalsWord(s.displayed(d), d))
	}
	if l.kind != literalWord {
		return isNo
	}
	switch d.class {
	case classText:
		return isNo
	case classBool:
		if l.isBool {
			return truthOf(l.bool == d.bool)
		}
	}
	return truthOf(bytes.Equal(s.displayed(d), l.text))
}

// equalsWord is for a number that is also a word. Octets are displayed as their hex digits.
func (l *literal) equalsWord(displayed []byte, d *datum) bool {
	if d.value != nil && d.value.Kind() == fieldtable.KindBytes {
		digits, ok := hexDigits(string(l.text))
		return ok && strings.EqualFold(digits, string(displayed))
	}
	return bytes.Equal(displayed, l.text)
}

// cmp orders a value against the literal; ok is false where the two types have
// no order.
func (l *literal) cmp(d *datum) (sign int, ok bool) {
	if l.kind != literalNumber {
		switch d.class {
		case classText:
			return bytes.Compare(d.bytes, l.text), true
		case classTime:
			if l.isTime {
				return d.cmpTime(l.time), true
			}
		}
		return 0, false
	}
	switch d.class {
	case classInt:
		return l.num.cmpInt(d.int), true
	case classUint:
		return l.num.cmpUint(d.uint), true
	case classFloat:
		return l.num.cmpFloat(d.float, d.narrow)
	case classDecimal, classTime:
		return l.num.cmpScaled(d.int, d.scale), true
	case classText:
		return l.num.cmpText(d.bytes)
	}
	return 0, false
}
