package typedjson_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/fieldtable/typedjson"
)

func TestText(t *testing.T) {
	encoded := encode.Table(func(e *encode.Encoder) {
		e.Str("lang", "py")
		e.Int16("retries", 3)
		e.Array("x-death", func(e *encode.Encoder) {
			e.Nested("", func(e *encode.Encoder) {
				e.Int64("count", 1)
				e.Timestamp("time", 1_700_000_000)
				e.Value("bad", 'Z', []byte{1, 2})
			})
			e.Void("")
		})
		e.Bytes("raw", []byte{0, 255})
		e.Char8("grade", 'A')
		e.Value("two", 't', []byte{2})
		e.Str("\u202Eevil\n", "bell\a\u202E \xe2\x80")
		e.Nested("none", func(*encode.Encoder) {})
		e.Timestamp("late", 1_700_000_000_123)
	})
	want := `dialect lenient, length 152
      4  S     longstr    lang = "py"
     16  s     int16      retries = 3
     27  A     array      x-death (42 bytes)
     40  F     table        [0] (36 bytes)
     45  l     int64          count = 1
     60  T     timestamp      time = 1700000000 s = 2023-11-14T22:13:20Z
     78  !     unknown_tag      unknown type tag 'Z', at byte 78 (0x4e), in x-death[0].bad
     78        unread         0x5a0102 (3 bytes)
     81  V     void         [1] = void
     82  x     bytes      raw = 0x00ff (2 bytes)
     93  k     char8      grade = 0x41 'A'
    101  t     bool       two = true (octet 0x02)
    107  S     longstr    "\u202eevil\n" = 0x62656c6c07e280ae20e280 (11 bytes), not UTF-8
    132  F     table      none (0 bytes)
    142  T     timestamp  late = 1700000000123 s, outside the years 1 to 9999

no dialect reads this without damage

other readings:
     16  retries: the start of a string of 0 octets for the 0-9-1 grammar, py-amqp up to 5.3.1 and AMQP-CPP
    101  two: false for Apache Qpid, LavinMQ and Bunny, for which only the octet 1 is true
    142  late: as milliseconds, which some clients write, 2023-11-14T22:13:20.123Z
`
	if got := string(typedjson.AppendText(nil, fieldtable.View(encoded, nil))); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestTextOffersDialects(t *testing.T) {
	encoded := encode.Table(func(e *encode.Encoder) { e.ShortStr("k", "hello") })
	before, after := `dialect rabbitmq, length 9
      4  s     int16      k = 1384
      9  !     name_truncated  the name is longer than what is left of the table, at byte 9 (0x9)
      9        unread     0x656c6c6f (4 bytes)

read without damage by --dialect spec-0-9-1, py-amqp-legacy`, `

other readings:
      4  k: the start of a string of 5 octets for the 0-9-1 grammar, py-amqp up to 5.3.1 and AMQP-CPP
`
	got := string(typedjson.AppendText(nil, fieldtable.View(encoded, fieldtable.RabbitMQ())))
	if !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) {
		t.Errorf("got:\n%s\nwant:\n%s … %s", got, before, after)
	}
}

func TestTextIsSafeForTerminals(t *testing.T) {
	for _, s := range specimens.Specimens() {
		for _, d := range fieldtable.Dialects() {
			checkText(t, s.Encoded, d)
		}
	}
}

func checkText(t testing.TB, encoded []byte, d *fieldtable.Dialect) {
	t.Helper()
	out := string(typedjson.AppendText(nil, fieldtable.View(encoded, d)))
	if !utf8.ValidString(out) || !strings.HasSuffix(out, "\n") {
		t.Fatalf("%q is no text", out)
	}
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasSuffix(line, " ") {
			t.Fatalf("a space at the end of %q", line)
		}
		for _, r := range line {
			if !unicode.IsPrint(r) {
				t.Fatalf("%U in %q", r, line)
			}
		}
	}
}
