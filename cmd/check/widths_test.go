package main

import (
	"strings"
	"testing"
)

func TestTooWide(t *testing.T) {
	words := func(n int) string { return strings.Repeat("ab ", n/3) + strings.Repeat("c", n%3) }
	for _, tt := range []struct {
		name, line string
		wide       bool
	}{
		{"prose", "// " + words(97), false},
		{"wide prose", "// " + words(98), true},
		{"indented prose", "\t// " + words(94), true},
		{"an address", "// https://" + strings.Repeat("x", 120), false},
		{"code", "\tx := " + words(111), false},
		{"wide code", "\tx := " + words(112), true},
		{"letters, not octets", "x := " + strings.Repeat("é", 115), false},
		{"a string", "\t\"" + words(130) + "\",", false},
		{"a raw string", "x := `\n" + words(130) + "\n`", false},
		{"code after a raw string", "x := `\n`\n" + words(130), true},
		{"a case of a table", "\t{" + words(130) + "},", false},
		{"a named case", "\t\"name\": " + words(130) + ",", false},
		{"markup", "\t<p>" + words(130) + "</p>", false},
		{"code around a string", "x := f(\"" + words(90) + "\", " + words(100) + ")", false},
		{"wide code around a string", "x := f(\"" + words(90) + "\", " + words(114) + ")", true},
		{"a directive", "//go:generate " + words(110), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tooWide(tt.line + "\n"); (len(got) > 0) != tt.wide {
				t.Errorf("%q: %q", tt.line, got)
			}
		})
	}
}
