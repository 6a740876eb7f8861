package kit

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	// In want, an escape stands between ‹ and ›.
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", "acme", "acme"},
		{"markup stays text", `<script>alert(1)</script>&amp;"'`, `<script>alert(1)</script>&amp;"'`},
		{"backslash is no escape", `C:\new`, `C:\new`},
		{"spaces stay", "  a  b ", "  a  b "},
		{"umlaut, kanji, emoji", "Köln 東京 🐇", "Köln 東京 🐇"},
		{"line ends", "a\r\nb\n", `a‹\r\n›b‹\n›`},
		{"line ends apart", "\n\n", `‹\n›‹\n›`},
		{"tab", "a\tb", `a‹\t›b`},
		{"NUL and escape", "\x00\x1b[31m", `‹\x00\x1b›[31m`},
		{"delete", "\x7f", `‹\x7f›`},
		{"C1 control", "\u0085", `‹\x85›`},
		{"no-break space", "a\u00a0b", `a‹\xa0›b`},
		{"soft hyphen", "pass\u00adword", `pass‹\xad›word`},
		{"right-to-left override", "gpj.\u202eexe", `gpj.‹\u202e›exe`},
		{"isolates and marks", "\u2066a\u2069\u200e", `‹\u2066›a‹\u2069\u200e›`},
		{"zero width", "a\u200bb\u200dc\ufeff", `a‹\u200b›b‹\u200d›c‹\ufeff›`},
		{"line separator", "a\u2028b", `a‹\u2028›b`},
		{"tag character", "a\U000e0041", `a‹\U000e0041›`},
		{"variation selector", "❤\ufe0f", `❤‹\ufe0f›`},
		{"private use", "\ue000", `‹\ue000›`},
		{"hangul filler, braille blank", "\u3164\u2800", `‹\u3164\u2800›`},
		{"not UTF-8", "ok\xff\xfe!", `ok‹\xff\xfe›!`},
		{"surrogate half", "\xed\xa0\x80", `‹\xed\xa0\x80›`},
		{"cut short", "a\xe2\x82", `a‹\xe2\x82›`},
		{"replacement character is itself", "a\ufffd", "a\ufffd"},
		{"arabic stays", "مرحبا", "مرحبا"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got, joined strings.Builder
			for _, p := range Parts([]byte(tt.in)) {
				if p.Escape {
					got.WriteString("‹" + p.Text + "›")
				} else {
					got.WriteString(p.Text)
				}
				joined.WriteString(p.Text)
			}
			if got.String() != tt.want {
				t.Errorf("Visible(%q) = %s, want %s", tt.in, got.String(), tt.want)
			}
			if s := VisibleText([]byte(tt.in)); s != joined.String() {
				t.Errorf("VisibleText(%q) = %q, want %q", tt.in, s, joined.String())
			}
		})
	}
}

func FuzzVisible(f *testing.F) {
	for _, s := range []string{"", "a\u202eb", "\xff", "\r\n", "\U000e0041", "❤\ufe0f"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, s []byte) {
		out := VisibleText(s)
		if !utf8.ValidString(out) {
			t.Fatalf("VisibleText(%q) is not UTF-8", s)
		}
		for _, r := range out {
			if hidden(r) {
				t.Fatalf("VisibleText(%q) still holds %U", s, r)
			}
		}
		for _, p := range Parts(s) {
			if p.Text == "" {
				t.Fatalf("Visible(%q) has an empty part", s)
			}
		}
	})
}

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "abc"},
		{"aé", 2, "a"},
		{"a東", 3, "a"},
		{"東", 1, "\xe6"}, // never empty: one byte at least
		{"\x80\x80\x80\x80\x80", 4, "\x80\x80\x80\x80"},
	} {
		if got := string(Clip([]byte(tt.in), tt.n)); got != tt.want {
			t.Errorf("clip(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}
