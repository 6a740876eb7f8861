// Package plural writes counts with their nouns: "1 guess", "2 guesses".
package plural

import (
	"fmt"
	"strings"
)

// Integer is what can be counted in.
type Integer interface {
	~int | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Of writes a count with its noun, given for one.
func Of[N Integer](n N, one string) string { return fmt.Sprintf("%d %s", n, Noun(n, one)) }

// Noun is the noun alone, as it stands behind a count.
func Noun[N Integer](n N, one string) string {
	if n == 1 {
		return one
	}
	for _, end := range []string{"s", "x", "ch", "sh"} {
		if strings.HasSuffix(one, end) {
			return one + "es"
		}
	}
	if stem, ok := strings.CutSuffix(one, "y"); ok && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
		return stem + "ies"
	}
	return one + "s"
}

// Verb is one or many, as the count before it asks for: "1 packet was", "2 packets were".
func Verb[N Integer](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
