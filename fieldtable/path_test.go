package fieldtable_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
)

func name(s string) fieldtable.Step { return fieldtable.Step{Name: s} }
func index(i int) fieldtable.Step   { return fieldtable.Step{Index: i, IsIndex: true} }

func TestParsePath(t *testing.T) {
	for path, want := range map[string][]fieldtable.Step{
		"a":                       {name("a")},
		"x-death[0].reason":       {name("x-death"), index(0), name("reason")},
		"a.b.c":                   {name("a"), name("b"), name("c")},
		"a[0][12]":                {name("a"), index(0), index(12)},
		"-_$#:/@9":                {name("-_$#:/@9")},
		`"NServiceBus.MessageId"`: {name("NServiceBus.MessageId")},
		`"a.b"[2]."c d"`:          {name("a.b"), index(2), name("c d")},
		`""`:                      {name("")},
		`"".""`:                   {name(""), name("")},
		`"quote\"back\\slash"`:    {name(`quote"back\slash`)},
		`"\xff\x00\x0A"`:          {name("\xff\x00\n")},
		`"ключ"`:                  {name("ключ")},
		"a[007]":                  {name("a"), index(7)},
		"a[2147483647].b":         {name("a"), index(2147483647), name("b")},
	} {
		t.Run(path, func(t *testing.T) {
			got, err := fieldtable.ParsePath(path)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %v, %v, want %v", path, got, err, want)
			}
		})
	}
}

func TestParsePathErrors(t *testing.T) {
	for path, offset := range map[string]int{
		"":                       0,
		".a":                     0,
		"a.":                     2,
		"a..b":                   2,
		"[0]":                    0,
		"a[":                     2,
		"a[]":                    2,
		"a[-1]":                  2,
		"a[x]":                   2,
		"a[1":                    3,
		"a[1x]":                  3,
		"a[1]b":                  4,
		"a b":                    1,
		"ключ":                   0,
		`"a`:                     2,
		`"a"b`:                   3,
		`"a\`:                    2,
		`"a\n"`:                  2,
		`"\x4"`:                  1,
		`"\xzz"`:                 1,
		"a[9999999999999999999]": 2,
	} {
		t.Run(path, func(t *testing.T) {
			_, err := fieldtable.ParsePath(path)
			e, ok := errors.AsType[*fieldtable.PathError](err)
			if !ok || e.Offset != offset || e.Path != path {
				t.Errorf("%s: %v, want an error at %d", path, err, offset)
			}
		})
	}
}

func TestAppendStep(t *testing.T) {
	for name, want := range map[string]string{
		"plain-_$#:/@09":        "plain-_$#:/@09",
		"":                      `""`,
		"a.b":                   `"a.b"`,
		`a"b\c`:                 `"a\"b\\c"`,
		"a\xffb\x00\x1f\x7f":    `"a\xffb\x00\x1f\x7f"`,
		"é":                     `"é"`,
		"a[0]":                  `"a[0]"`,
		"\xf0\x9f\x93":          `"\xf0\x9f\x93"`,
		"\uFFFD":                "\"\uFFFD\"",
		strings.Repeat("n", 99): strings.Repeat("n", 99),
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(fieldtable.AppendStep(nil, []byte(name))); got != want {
				t.Errorf("%q: %s, want %s", name, got, want)
			}
			if got := string(fieldtable.AppendStep([]byte("x"), []byte(name))); got != "x."+want {
				t.Errorf("%q after x: %s, want x.%s", name, got, want)
			}
		})
	}
}

func FuzzPath(f *testing.F) {
	f.Add("a[0].b", "c d")
	f.Add(`"\xff\""[12]`, "\xff\x00\u2028")
	f.Fuzz(func(t *testing.T, path, name string) {
		quoted := string(fieldtable.AppendStep(nil, []byte(name)))
		if steps, err := fieldtable.ParsePath(quoted); err != nil || len(steps) != 1 || steps[0].Name != name ||
			!utf8.ValidString(quoted) {
			t.Fatalf("%q is written %s, which reads as %v, %v", name, quoted, steps, err)
		}
		steps, err := fieldtable.ParsePath(path)
		if err != nil {
			return
		}
		var again []byte
		for _, s := range steps {
			if s.IsIndex {
				again = fieldtable.AppendIndex(again, s.Index)
			} else {
				again = fieldtable.AppendStep(again, []byte(s.Name))
			}
		}
		if got, err := fieldtable.ParsePath(string(again)); err != nil || !slices.Equal(got, steps) {
			t.Fatalf("%q is written %s, which reads as %v, %v", path, again, got, err)
		}
	})
}

func TestAt(t *testing.T) {
	table := fieldtable.View(encode.Table(func(e *encode.Encoder) {
		e.Str("a.b", "dotted")
		e.Array("x-death", func(e *encode.Encoder) {
			e.Nested("", func(e *encode.Encoder) {
				e.Str("reason", "rejected")
				e.Str("reason", "second")
			})
			e.Array("", func(e *encode.Encoder) { e.Int32("", 7) })
			e.Nested("", func(e *encode.Encoder) {
				e.Str("queue", "orders")
				e.Value("bad", 'Z', nil)
			})
		})
		e.Int32("x-death", 1)
	}), nil)
	for path, want := range map[string]string{
		`"a.b"`:             "dotted",
		"x-death":           "array",
		"x-death[0]":        "table",
		"x-death[0].reason": "rejected",
		"x-death[1][0]":     "7",
		"x-death[2].queue":  "orders",
	} {
		t.Run(path, func(t *testing.T) {
			v, err := table.At(path)
			if got := string(v.AppendText(nil)); err != nil || got != want {
				t.Errorf("%s: %q, %v, want %q", path, got, err, want)
			}
		})
	}
	for _, path := range []string{"a", "a.b", `"a.b".c`, `"a.b"[0]`, "x-death.reason", "x-death[3]", "x-death[0].none", "x-death[0][0]", "x-death[1][1]", "x-death[1].a"} {
		if v, err := table.At(path); err != fieldtable.ErrAbsent || !v.IsZero() {
			t.Errorf("%s: %v, %v, want ErrAbsent", path, v, err)
		}
	}
	_, err := table.At("x-death[2].none")
	if e, ok := errors.AsType[*fieldtable.SyntaxError](err); !ok || e.Path != "x-death[2].bad" {
		t.Errorf("past the damage: %v", err)
	}
	if _, err := table.At("x-death["); err == nil || err == fieldtable.ErrAbsent {
		t.Errorf("no path: %v", err)
	}
	if v, err := table.Follow(nil); err != fieldtable.ErrAbsent || !v.IsZero() {
		t.Errorf("no steps: %v, %v", v, err)
	}
	if v, err := table.Follow([]fieldtable.Step{{
		Index:   -1,
		IsIndex: true,
	}}); err != fieldtable.ErrAbsent || !v.IsZero() {
		t.Errorf("an index first: %v, %v", v, err)
	}
}
