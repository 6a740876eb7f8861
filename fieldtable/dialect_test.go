package fieldtable_test

import (
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
)

// tagTables reads what each dialect reads, tag by tag: the kind and the octets of its payload, with
// "4+" for a length of 4 octets.
func tagTables(t *testing.T) (names []string, tags map[string]string) {
	t.Helper()
	file, err := os.ReadFile("testdata/dialects.txt")
	if err != nil {
		t.Fatal(err)
	}
	tags = map[string]string{}
	for line := range strings.Lines(string(file)) {
		name, list, _ := strings.Cut(strings.TrimSpace(line), ": ")
		names, tags[name] = append(names, name), list
	}
	return names, tags
}

type tagWidth struct {
	kind  string
	octet int  // of the payload, or of its length
	long  bool // octet counts those of a length
}

func parseTags(s string) map[byte]tagWidth {
	tags := map[byte]tagWidth{}
	for entry := range strings.SplitSeq(s, ", ") {
		words := strings.Fields(entry)
		width, long := strings.CutSuffix(words[2], "+")
		tags[words[0][0]] = tagWidth{words[1], int(width[0] - '0'), long}
	}
	return tags
}

func TestEveryTagOfEveryDialect(t *testing.T) {
	names, tags := tagTables(t)
	for i, d := range fieldtable.Dialects() {
		if i >= len(names) || d.Name() != names[i] {
			t.Fatalf("dialect %d is %s: the table has %v", i, d.Name(), names)
		}
		t.Run(d.Name(), func(t *testing.T) {
			known := parseTags(tags[d.Name()])
			for tag := range 256 {
				want, ok := known[byte(tag)]
				if !ok {
					want.kind = "invalid"
				}
				if got := d.Kind(byte(tag)).String(); got != want.kind {
					t.Errorf("%q is %s, want %s", rune(tag), got, want.kind)
				}
				if !ok {
					wantDamage(t, d, []byte{byte(tag)}, fieldtable.ErrUnknownTag, 6)
					continue
				}
				testWidth(t, d, byte(tag), want)
			}
		})
	}
}

// testWidth reads a field k of that tag, whole, one octet short, and with one octet more than the
// table has.
func testWidth(t *testing.T, d *fieldtable.Dialect, tag byte, w tagWidth) {
	t.Helper()
	if !w.long {
		payload := make([]byte, w.octet)
		wantWhole(t, d, append([]byte{tag}, payload...), w, len(payload))
		if w.octet > 0 {
			wantDamage(t, d, append([]byte{tag}, payload[1:]...), fieldtable.ErrValueTruncated, 7)
			wantDamage(t, d, []byte{tag}, fieldtable.ErrValueTruncated, 7)
		}
		return
	}
	for n := range w.octet {
		wantDamage(t, d, append([]byte{tag}, make([]byte, n)...), fieldtable.ErrLengthTruncated, 7)
	}
	length := func(n uint64) []byte {
		return append([]byte{tag}, binary.BigEndian.AppendUint64(nil, n)[8-w.octet:]...)
	}
	for _, n := range []int{0, 1, 200} {
		// An octet 0 is an empty name or a tag that only damages the inside.
		wantWhole(t, d, append(length(uint64(n)), make([]byte, n)...), w, n)
		wantDamage(t, d, append(length(uint64(n)+1), make([]byte, n)...), fieldtable.ErrLengthOverrun, 7)
	}
	wantDamage(t, d, length(1<<(8*w.octet)-1), fieldtable.ErrLengthOverrun, 7)
	wantDamage(t, d, length(1<<(8*w.octet-1)), fieldtable.ErrLengthOverrun, 7)
}

func fieldK(value []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(2+len(value)))
	return append(append(b, 1, 'k'), value...)
}

func wantWhole(t *testing.T, d *fieldtable.Dialect, value []byte, w tagWidth, payload int) {
	t.Helper()
	// The field that follows shows that exactly this one was passed over; every dialect knows F.
	v, err := fieldtable.View(fieldK(append(slices.Clone(value), 1, 'z', 'F', 0, 0, 0, 0)), d).Lookup("k")
	if err != nil || v.Kind().String() != w.kind || len(v.Raw()) != payload || v.Offset() != 6 ||
		v.End() != 6+len(value) {
		t.Errorf(
			"%s: %x: %s of %d octets from %d to %d, %v",
			d.Name(),
			value,
			v.Kind(),
			len(v.Raw()),
			v.Offset(),
			v.End(),
			err,
		)
	}
	followed := fieldK(append(slices.Clone(value), 1, 'z', 'F', 0, 0, 0, 0))
	if _, err := fieldtable.View(followed, d).Lookup("z"); err != nil {
		t.Errorf("%s: after %x: %v", d.Name(), value, err)
	}
	if v, err := fieldtable.View(fieldK(value), d).Lookup("k"); err != nil || v.End() != 6+len(value) {
		t.Errorf("%s: %x at the end of the table: %v", d.Name(), value, err)
	}
}

func wantDamage(t *testing.T, d *fieldtable.Dialect, value []byte, reason error, offset int) {
	t.Helper()
	err := fieldtable.View(fieldK(value), d).Valid()
	e, ok := errors.AsType[*fieldtable.SyntaxError](err)
	if !ok || !errors.Is(err, reason) || e.Offset != offset || e.Path != "k" || !e.HasTag || e.Tag != value[0] {
		t.Errorf("%s: %x: %v, want %v at %d", d.Name(), value, err, reason, offset)
	}
}

func TestDialectByName(t *testing.T) {
	for _, d := range fieldtable.Dialects() {
		if got, err := fieldtable.DialectByName(d.Name()); got != d || err != nil {
			t.Errorf("%s: %v, %v", d.Name(), got, err)
		}
		if d.Description() == "" {
			t.Errorf("%s has no description", d.Name())
		}
	}
	_, err := fieldtable.DialectByName("amqp")
	if err == nil {
		t.Fatal("no error")
	}
	for _, d := range fieldtable.Dialects() {
		if !strings.Contains(err.Error(), d.Name()) {
			t.Errorf("%q does not name %s", err, d.Name())
		}
	}
}

func TestExtendedFloatOfQpid336(t *testing.T) {
	err := fieldtable.View(fieldK([]byte{'D', 0, 0, 0, 0, 0}), fieldtable.Qpid336()).Valid()
	if !errors.Is(err, fieldtable.ErrUnknownTag) || !strings.Contains(err.Error(), "extended float") {
		t.Errorf("%v, want an unknown tag with the reason why", err)
	}
}

func TestExactDialects(t *testing.T) {
	for _, c := range []struct {
		value     string
		with, not string // dialects that are among them, and some that are not
	}{
		// A short string "A" and the integer 321 are the same octets; 0-8 and 0-9 know no s.
		{"s\x01A", "lenient rabbitmq spec-0-9-1 qpid-java qpid-dotnet py-amqp-legacy rabbitmq-c qpid-336", "spec-0-9 spec-0-8"},
		{"s\x05hello", "spec-0-9-1 py-amqp-legacy php-amqplib", "lenient rabbitmq qpid-java rabbitmq-c qpid-336"},
		{"L\x00\x00\x00\x00\x00\x00\x00\x01", "lenient rabbitmq spec-0-9-1 qpid-dotnet rabbitmq-c qpid-336", "qpid-java spec-0-9"},
		{"x\x00\x00\x00\x01\xff", "lenient rabbitmq qpid-java qpid-dotnet py-amqp-legacy rabbitmq-c php-amqplib qpid-336", "spec-0-9-1"},
		{"c\x00\x00\x00\x01a", "lenient qpid-java qpid-dotnet", "rabbitmq qpid-336"},
		{"c\x00\x01a", "qpid-336", "lenient qpid-java"},
		{"i\x00\x00\x00\x00\x80\x00\x00\x00", "qpid-java-i8", "lenient rabbitmq qpid-java"},
		{"n", "qpid-336", "lenient rabbitmq"},
		{"Z", "", "lenient rabbitmq spec-0-9-1 qpid-336"},
	} {
		t.Run(c.value, func(t *testing.T) {
			var names []string
			for _, d := range fieldtable.ExactDialects(fieldK([]byte(c.value))) {
				names = append(names, d.Name())
			}
			for name := range strings.FieldsSeq(c.with) {
				if !slices.Contains(names, name) {
					t.Errorf("%v lack %s", names, name)
				}
			}
			for name := range strings.FieldsSeq(c.not) {
				if slices.Contains(names, name) {
					t.Errorf("%v have %s", names, name)
				}
			}
		})
	}
}
