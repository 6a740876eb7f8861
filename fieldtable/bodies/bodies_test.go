package bodies

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// shown writes rows as lines: level, name, type, text, and damage with its offset.
func shown(rows []Row) string {
	var lines []string
	for _, r := range rows {
		indent := strings.Repeat("  ", r.Level)
		switch {
		case r.Damage != "":
			lines = append(lines, fmt.Sprintf("%s! %d %s", indent, r.Offset, r.Damage))
		case r.Name != "":
			lines = append(lines, fmt.Sprintf("%s%s %s = %s", indent, r.Name, r.Type, r.Text))
		default:
			lines = append(lines, fmt.Sprintf("%s%s = %s", indent, r.Type, r.Text))
		}
	}
	return strings.Join(lines, "\n")
}

// Written by hand from part 1, section 1.6, and part 3, section 3.2.
func TestAMQP10(t *testing.T) {
	for _, c := range []struct{ name, octets, want string }{
		{"nothing", "", ""},
		{"the value of a message", "005377a10568656c6c6f", "amqp-value: string = hello"},
		{"a section by its symbol", "00a311616d71703a616d71702d76616c75653a2a 41", "amqp-value: boolean = true"},
		{"a section by its long code", "00 800000000000000075 a0021f00", "data: binary = 0x1f00"},
		{"a sequence", "005376 c00603 5401 54fe 40", "amqp-sequence: list = 3 items\n  [0] int = 1\n  [1] int = -2\n  [2] null = null"},
		{"two sections", "005376 45 005377 43", "amqp-sequence: list = 0 items\namqp-value: uint = 0"},
		{"a map", "c11904 a10161 41 a10162 9800112233445566778899aabbccddeeff", "map = 2 items\n  a boolean = true\n  b uuid = 00112233-4455-6677-8899-aabbccddeeff"},
		{"a map with long lengths", "d10000000a 00000002 a3026b31 5280", "map = 1 item\n  k1 uint = 128"},
		{"an array", "e00602 61 0001 ffff", "array = 2 items\n  [0] short = 1\n  [1] short = -1"},
		{"an array of lists", "f00000000b 00000002 c0 03015401 0100", "array = 2 items\n  [0] list = 1 item\n    [0] int = 1\n  [1] list = 0 items"},
		{"an empty array without a constructor", "e00100", "array = 0 items"},
		{"an array of truths", "e00203 41", "array = 3 items\n  [0] boolean = true\n  [1] boolean = true\n  [2] boolean = true"},
		{"another descriptor", "00a303 613a62 5007", "described by a:b: ubyte = 7"},
		{"properties", "005373 c00a03 a1026964 40 a1027131", "properties: list = 3 items\n  message-id string = id\n  user-id null = null\n  to string = q1"},
		{"header", "005370 c00402 41 5004", "header: list = 2 items\n  durable boolean = true\n  priority ubyte = 4"},
		{"integers", "50ff 60ffff 70ffffffff 80ffffffffffffffff 5380", "ubyte = 255\nushort = 65535\nuint = 4294967295\nulong = 18446744073709551615\nulong = 128"},
		{"signed integers", "5180 618000 7180000000 818000000000000000 55ff", "byte = -128\nshort = -32768\nint = -2147483648\nlong = -9223372036854775808\nlong = -1"},
		{"floats", "723dcccccd 823fb999999999999a 727fc00000", "float = 0.1\ndouble = 0.1\nfloat = NaN"},
		{"a time", "830000018bcfe5687b", "timestamp = 1700000000123 ms = 2023-11-14T22:13:20.123Z"},
		{"a time that no calendar has", "837fffffffffffffff", "timestamp = 9223372036854775807 ms"},
		{"a character", "730001f4e6", `char = '\U0001f4e6' (U+1F4E6)`},
		{"a decimal, whose digits stay octets", "7422000001", "decimal32 = 0x22000001"},
		{"booleans", "41 42 5600 5601 5602", "boolean = true\nboolean = false\nboolean = false\nboolean = true\nboolean = 0x02, neither true nor false"},
		{"a free code of known width", "5f07", "unknown = 0x07"},

		{"no width", "10", "! 0 unknown type code"},
		{"cut in a number", "70 000000", "! 1 the value is incomplete"},
		{"cut in a length", "b1 000000", "! 1 the value is incomplete"},
		{"a text that overruns", "a103 6162", "! 1 the value's length is greater than what is left"},
		{"a length of 4 GiB", "b0 ffffffff", "! 1 the value's length is greater than what is left"},
		{"cut after a descriptor", "005377", "! 3 the value is incomplete"},
		{"a list shorter than its count", "c00302 5401", "list = 2 items\n  [0] int = 1\n  ! 5 there are fewer items than the count says"},
		{"a list longer than its count", "c00501 5401 5402", "list = 1 item\n  [0] int = 1\n  ! 5 octets follow the last item"},
		{"an item beyond its list", "c00302 5401 54", "list = 2 items\n  [0] int = 1\n  ! 5 there are fewer items than the count says\n! 6 the value is incomplete"},
		{"a map with a key alone", "c10603 a10161 41 40", "map = 1 item\n  a boolean = true\n  ! 8 a map's last key has no value"},
		{"no room for a count", "c000", "list = 0 items\n  ! 1 the value is incomplete"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, more := AMQP10(unhex(t, c.octets), 100)
			if got := shown(rows); got != c.want || more {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// A count costs nothing until somebody goes on, and nesting ends.
func TestHostileAMQP10(t *testing.T) {
	rows, more := AMQP10(unhex(t, "f000000005 ffffffff 40"), 10)
	if len(rows) != 10 || !more || rows[0].Text != "4294967295 items" {
		t.Errorf("%d rows, more %v: %s", len(rows), more, shown(rows))
	}
	deep := unhex(t, "41")
	for range 40 { // a list in a list in a list …
		deep = append([]byte{0xd0, 0, 0, 0, byte(4 + len(deep)), 0, 0, 0, 1}, deep...)
		if len(deep) > 200 {
			break
		}
	}
	for range 40 {
		deep = append([]byte{0xd0, 0, 0, byte((4 + len(deep)) >> 8), byte(4 + len(deep)), 0, 0, 0, 1}, deep...)
	}
	rows, _ = AMQP10(deep, 100)
	if last := rows[len(rows)-1]; last.Damage != ErrDepth.Error() || len(rows) != MaxDepth+2 {
		t.Errorf("%d rows, the last %+v", len(rows), last)
	}
	_, err := Read(append(make([]byte, 100), 0x40), 0)
	if !errors.Is(err, ErrDepth) {
		t.Errorf("a hundred descriptors: %v", err)
	}
}

func TestJMS(t *testing.T) {
	const text = "0a 6869 00"
	for _, c := range []struct{ name, octets, want string }{
		{"an empty map", "00000000", ""},
		{"a map", "00000002 6e616d65 00 " + text + " 6e 00 06 ffffffff", "name string = hi\nn int = -1"},
		{"a name without characters", "00000001 00 01 01", `"" boolean = true`},
		{"null", "00000001 6b 00 0b", "k string = null"},
		{"octets", "00000002 61 00 03 00000002 00ff 62 00 03 ffffffff", "a byte[] = 0x00ff\nb byte[] = null"},
		{"cut before the count", "000000", "! 0 the value is incomplete"},
		{"a count of -1", "ffffffff", "! 0 the value's length is greater than what is left"},
		{"fewer than the count", "00000002 61 00 01 00", "a boolean = false\n! 8 there are fewer items than the count says"},
		{"more than the count", "00000000 61", "! 4 octets follow the last item"},
		{"a name without an end", "00000001 6162", "! 4 the text has no end"},
		{"a text without an end", "00000001 61 00 0a 6869", "! 7 the text has no end"},
		{"an unknown code", "00000001 61 00 63", "! 6 unknown type code"},
		{"octets that overrun", "00000001 61 00 03 7fffffff 00", "! 7 the value's length is greater than what is left"},
	} {
		t.Run("map/"+c.name, func(t *testing.T) {
			rows, _ := JMSMap(unhex(t, c.octets), 100)
			if got := shown(rows); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	for _, c := range []struct{ name, octets, want string }{
		{"nothing", "", ""},
		{"every type", "0101 02ff 0300000000 048000 050041 0680000000 078000000000000000 083dcccccd 093fb999999999999a " + text + " 0b", "[0] boolean = true\n[1] byte = -1\n[2] byte[] = 0x\n[3] short = -32768\n[4] char = 'A'\n[5] int = -2147483648\n[6] long = -9223372036854775808\n[7] float = 0.1\n[8] double = 0.1\n[9] string = hi\n[10] string = null"},
		{"cut", "0101 06 0000", "[0] boolean = true\n! 3 the value is incomplete"},
	} {
		t.Run("stream/"+c.name, func(t *testing.T) {
			rows, _ := JMSStream(unhex(t, c.octets), 100)
			if got := shown(rows); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// Whatever the octets, the rows are bounded and lie within them, in order.
func checkRows(t *testing.T, b []byte, rows []Row, max int) {
	t.Helper()
	if len(rows) > max {
		t.Fatalf("%d rows", len(rows))
	}
	for i, r := range rows {
		if r.Offset < 0 || r.End < r.Offset || r.End > len(b) || len(r.Text) > maxRowText || len(r.Name) > maxKeyText ||
			r.Level > MaxDepth+1 {
			t.Fatalf("row %d: %+v of %d octets", i, r, len(b))
		}
	}
}

func FuzzBodies(f *testing.F) {
	for _, seed := range []string{
		"005377a10568656c6c6f", "005376c006035401 54fe40", "c11904a1016141a101629800112233445566778899aabbccddeeff",
		"f000000005ffffffff40", "00000002 6e616d6500 0a686900 6e00 06ffffffff", "0101 02ff 0300000000 0b",
	} {
		f.Add(unhex(f, seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		const max = 50
		rows, _ := AMQP10(b, max)
		checkRows(t, b, rows, max)
		rows, _ = JMSMap(b, max)
		checkRows(t, b, rows, max)
		rows, _ = JMSStream(b, max)
		checkRows(t, b, rows, max)
	})
}
