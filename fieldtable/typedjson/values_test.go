package typedjson_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/fieldtable/typedjson"
)

const (
	// Dialects that read a tag alike; 0-8 and 0-9 have few tags, qpid-336 its own.
	everywhere = "lenient rabbitmq spec-0-9-1 spec-0-9 spec-0-8 qpid-java qpid-dotnet py-amqp-legacy rabbitmq-c php-amqplib qpid-java-i8"
	modern     = "lenient rabbitmq spec-0-9-1 qpid-java qpid-dotnet py-amqp-legacy rabbitmq-c php-amqplib qpid-java-i8"
	rabbitLike = "lenient rabbitmq qpid-java qpid-dotnet rabbitmq-c qpid-java-i8"
	grammar    = "spec-0-9-1 py-amqp-legacy php-amqplib"
	qpidText   = "lenient qpid-java qpid-dotnet qpid-java-i8"
)

// values are the boundaries of every tag: octets in hexadecimal, tag first, and the type and value
// that they have.
var values = []struct{ dialects, octets, kind, value string }{
	{modern + " qpid-336", "74 00", "bool", "false"},
	{modern + " qpid-336", "74 01", "bool", "true"},
	{"lenient rabbitmq spec-0-9-1 qpid-dotnet py-amqp-legacy rabbitmq-c php-amqplib qpid-336", "74 02", "bool", "true"},
	{"lenient rabbitmq spec-0-9-1 qpid-dotnet py-amqp-legacy rabbitmq-c php-amqplib qpid-336", "74 ff", "bool", "true"},
	{"qpid-java qpid-java-i8", "74 02", "bool", "false"},
	{"qpid-java qpid-java-i8", "74 ff", "bool", "false"},

	{rabbitLike + " spec-0-9-1 php-amqplib qpid-336", "62 00", "int8", "0"},
	{rabbitLike + " spec-0-9-1 php-amqplib qpid-336", "62 7f", "int8", "127"},
	{rabbitLike + " spec-0-9-1 php-amqplib qpid-336", "62 80", "int8", "-128"},
	{rabbitLike + " spec-0-9-1 php-amqplib qpid-336", "62 ff", "int8", "-1"},
	{"py-amqp-legacy", "62 80", "uint8", "128"},
	{"py-amqp-legacy", "62 ff", "uint8", "255"},
	{rabbitLike + " spec-0-9-1 php-amqplib qpid-336", "42 00", "uint8", "0"},
	{rabbitLike + " spec-0-9-1 php-amqplib qpid-336", "42 80", "uint8", "128"},
	{rabbitLike + " spec-0-9-1 php-amqplib qpid-336", "42 ff", "uint8", "255"},
	{"py-amqp-legacy", "42 7f", "int8", "127"},
	{"py-amqp-legacy", "42 80", "int8", "-128"},

	{rabbitLike + " qpid-336", "73 7fff", "int16", "32767"},
	{rabbitLike + " qpid-336", "73 8000", "int16", "-32768"},
	{rabbitLike + " qpid-336", "73 ffff", "int16", "-1"},
	{rabbitLike + " qpid-336", "73 0141", "int16", "321"},
	{grammar, "73 00", "shortstr", `""`},
	{grammar, "73 01 41", "shortstr", `"A"`},
	{grammar, "73 02 fffe", "shortstr", `{"hex":"fffe"}`},
	{"lenient spec-0-9-1 py-amqp-legacy php-amqplib", "55 7fff", "int16", "32767"},
	{"lenient spec-0-9-1 py-amqp-legacy php-amqplib", "55 8000", "int16", "-32768"},
	{"lenient rabbitmq spec-0-9-1 qpid-java py-amqp-legacy rabbitmq-c php-amqplib qpid-java-i8", "75 8000", "uint16", "32768"},
	{"lenient rabbitmq spec-0-9-1 qpid-java py-amqp-legacy rabbitmq-c php-amqplib qpid-java-i8", "75 ffff", "uint16", "65535"},

	{everywhere, "49 7fffffff", "int32", "2147483647"},
	{everywhere, "49 80000000", "int32", "-2147483648"},
	{everywhere, "49 ffffffff", "int32", "-1"},
	{strings.Replace(modern, " qpid-java-i8", "", 1), "69 80000000", "uint32", "2147483648"},
	{strings.Replace(modern, " qpid-java-i8", "", 1), "69 ffffffff", "uint32", "4294967295"},
	{"qpid-java-i8", "69 0000000080000000", "uint64", `"2147483648"`},

	{rabbitLike + " qpid-336", "6c 7fffffffffffffff", "int64", `"9223372036854775807"`},
	{rabbitLike + " qpid-336", "6c 8000000000000000", "int64", `"-9223372036854775808"`},
	{rabbitLike + " qpid-336", "6c ffffffffffffffff", "int64", `"-1"`},
	{rabbitLike + " qpid-336", "6c 0020000000000001", "int64", `"9007199254740993"`},
	{grammar, "6c 7fffffffffffffff", "uint64", `"9223372036854775807"`},
	{grammar, "6c 8000000000000000", "uint64", `"9223372036854775808"`},
	{grammar, "6c ffffffffffffffff", "uint64", `"18446744073709551615"`},
	{"lenient rabbitmq spec-0-9-1 py-amqp-legacy php-amqplib", "4c 8000000000000000", "int64", `"-9223372036854775808"`},
	{"lenient rabbitmq spec-0-9-1 py-amqp-legacy php-amqplib", "4c ffffffffffffffff", "int64", `"-1"`},
	{"qpid-dotnet rabbitmq-c qpid-336", "4c 8000000000000000", "uint64", `"9223372036854775808"`},
	{"qpid-dotnet rabbitmq-c qpid-336", "4c ffffffffffffffff", "uint64", `"18446744073709551615"`},

	{modern + " qpid-336", "66 3dcccccd", "float32", "0.1"},
	{modern + " qpid-336", "66 00000000", "float32", "0"},
	{modern + " qpid-336", "66 80000000", "float32", "-0.0"},
	{modern + " qpid-336", "66 7f7fffff", "float32", "3.4028235e+38"},
	{modern + " qpid-336", "66 00000001", "float32", "1e-45"},
	{modern + " qpid-336", "66 7fc00000", "float32", `"NaN"`},
	{modern + " qpid-336", "66 7f800073", "float32", `"NaN"`},
	{modern + " qpid-336", "66 ffc00000", "float32", `"NaN"`},
	{modern + " qpid-336", "66 7f800000", "float32", `"+Inf"`},
	{modern + " qpid-336", "66 ff800000", "float32", `"-Inf"`},
	{modern + " qpid-336", "64 3fb999999999999a", "float64", "0.1"},
	{modern + " qpid-336", "64 bfb999999999999a", "float64", "-0.1"},
	{modern + " qpid-336", "64 8000000000000000", "float64", "-0.0"},
	{modern + " qpid-336", "64 7fefffffffffffff", "float64", "1.7976931348623157e+308"},
	{modern + " qpid-336", "64 0000000000000001", "float64", "5e-324"},
	{modern + " qpid-336", "64 4341c37937e08000", "float64", "10000000000000000"},
	{modern + " qpid-336", "64 444b1ae4d6e2ef50", "float64", "1e+21"},
	{modern + " qpid-336", "64 3eb0c6f7a0b5ed8d", "float64", "0.000001"},
	{modern + " qpid-336", "64 3e7ad7f29abcaf48", "float64", "1e-7"},
	{modern + " qpid-336", "64 7ff8000000000000", "float64", `"NaN"`},
	{modern + " qpid-336", "64 7ff0000000000001", "float64", `"NaN"`},
	{modern + " qpid-336", "64 7ff0000000000000", "float64", `"+Inf"`},
	{modern + " qpid-336", "64 fff0000000000000", "float64", `"-Inf"`},

	{strings.Replace(everywhere, " qpid-dotnet", "", 1), "44 02 0000013a", "decimal", `"3.14"`},
	{strings.Replace(everywhere, " qpid-dotnet", "", 1), "44 02 fffffec6", "decimal", `"-3.14"`},
	{strings.Replace(everywhere, " qpid-dotnet", "", 1), "44 00 80000000", "decimal", `"-2147483648"`},
	{strings.Replace(everywhere, " qpid-dotnet", "", 1), "44 0a 7fffffff", "decimal", `"0.2147483647"`},
	{strings.Replace(everywhere, " qpid-dotnet", "", 1), "44 0c 00000001", "decimal", `"0.000000000001"`},
	{strings.Replace(everywhere, " qpid-dotnet", "", 1), "44 02 00000000", "decimal", `"0.00"`},
	{
		strings.Replace(everywhere, " qpid-dotnet", "", 1),
		"44 ff 00000001",
		"decimal",
		`"0.` + strings.Repeat("0", 254) + `1"`,
	},

	{everywhere, "53 00000000", "longstr", `""`},
	{everywhere, "53 00000005 68656c6c6f", "longstr", `"hello"`},
	{everywhere, "53 00000002 c3a9", "longstr", `"é"`},
	{everywhere, "53 00000001 00", "longstr", `"\u0000"`},
	{everywhere, "53 00000001 ff", "longstr", `{"hex":"ff"}`},
	{everywhere, "53 00000003 eda080", "longstr", `{"hex":"eda080"}`},
	{qpidText, "63 00000003 616263", "longstr", `"abc"`},
	{qpidText + " qpid-336", "43 00000004 77696465", "longstr", `"wide"`},
	{"qpid-336", "63 0003 616263", "longstr", `"abc"`},
	{"qpid-336", "53 fffe", "uint16", "65534"},
	{"qpid-336", "49 fffffffe", "uint32", "4294967294"},
	{"qpid-336", "69 fffffffe", "int32", "-2"},
	{"qpid-336", "6e", "void", "null"},

	{"lenient rabbitmq qpid-java qpid-dotnet py-amqp-legacy rabbitmq-c php-amqplib qpid-java-i8 qpid-336", "78 00000000", "bytes", `{"hex":""}`},
	{
		"lenient rabbitmq qpid-java qpid-dotnet py-amqp-legacy rabbitmq-c php-amqplib qpid-java-i8 qpid-336",
		"78 00000002 6869",
		"bytes",
		`{"hex":"6869"}`,
	},
	{qpidText + " qpid-336", "6b 41", "char8", `{"hex":"41"}`},
	{qpidText + " qpid-336", "6b ff", "char8", `{"hex":"ff"}`},
	{"lenient rabbitmq spec-0-9-1 spec-0-9 qpid-java qpid-dotnet py-amqp-legacy rabbitmq-c php-amqplib qpid-java-i8", "56", "void", "null"},

	{"lenient rabbitmq spec-0-9-1 spec-0-9 spec-0-8 py-amqp-legacy rabbitmq-c php-amqplib", "54 000000006553f100", "timestamp",
		`{"unit":"s","value":"1700000000","time":"2023-11-14T22:13:20Z"}`},
	{"lenient rabbitmq spec-0-9-1 spec-0-9 spec-0-8 py-amqp-legacy rabbitmq-c php-amqplib", "54 0000000000000000", "timestamp",
		`{"unit":"s","value":"0","time":"1970-01-01T00:00:00Z"}`},
	{"lenient rabbitmq", "54 ffffffffffffffff", "timestamp", `{"unit":"s","value":"-1","time":"1969-12-31T23:59:59Z"}`},
	{
		"lenient",
		"54 0000003afff4417f",
		"timestamp",
		`{"unit":"s","value":"253402300799","time":"9999-12-31T23:59:59Z"}`,
	},
	{"lenient", "54 0000003afff44180", "timestamp", `{"unit":"s","value":"253402300800","time":null}`},
	{
		"lenient",
		"54 fffffff1886e0900",
		"timestamp",
		`{"unit":"s","value":"-62135596800","time":"0001-01-01T00:00:00Z"}`,
	},
	{"lenient", "54 fffffff1886e08ff", "timestamp", `{"unit":"s","value":"-62135596801","time":null}`},
	{"lenient", "54 8000000000000000", "timestamp", `{"unit":"s","value":"-9223372036854775808","time":null}`},
	{
		"qpid-java qpid-java-i8 qpid-336",
		"54 0000018bcfe5687b",
		"timestamp",
		`{"unit":"ms","value":"1700000000123","time":"2023-11-14T22:13:20.123Z"}`,
	},
	{
		"qpid-java qpid-java-i8 qpid-336",
		"54 000000006553f100",
		"timestamp",
		`{"unit":"ms","value":"1700000000","time":"1970-01-20T16:13:20.000Z"}`,
	},
	{"qpid-java qpid-java-i8 qpid-336", "54 ffffffffffffffff", "timestamp", `{"unit":"ms","value":"-1","time":"1969-12-31T23:59:59.999Z"}`},
	{
		"qpid-java qpid-java-i8 qpid-336",
		"54 0000e677d21fdbff",
		"timestamp",
		`{"unit":"ms","value":"253402300799999","time":"9999-12-31T23:59:59.999Z"}`,
	},
	{"qpid-java qpid-java-i8 qpid-336", "54 0000e677d21fdc00", "timestamp", `{"unit":"ms","value":"253402300800000","time":null}`},

	{everywhere + " qpid-336", "46 00000000", "table", `{"fields":[],"error":null}`},
	{everywhere, "46 00000008 0161 49 00000001 00", "table",
		`{"fields":[{"key":"a","tag":"I","type":"int32","value":1,"offset":11,"end":18}],` +
			`"error":{"offset":19,"reason":"missing_tag","path":"k.\"\""}}`},
	{
		"lenient rabbitmq spec-0-9-1 qpid-java py-amqp-legacy rabbitmq-c php-amqplib qpid-java-i8",
		"41 00000000",
		"array",
		`{"items":[],"error":null}`,
	},
	{"lenient rabbitmq spec-0-9-1 qpid-java py-amqp-legacy rabbitmq-c php-amqplib qpid-java-i8", "41 00000003 7401 56", "array",
		`{"items":[{"tag":"t","type":"bool","value":true,"offset":11,"end":13},{"tag":"V","type":"void","value":null,"offset":13,"end":14}],"error":null}`},
	{"lenient rabbitmq spec-0-9-1 qpid-java py-amqp-legacy rabbitmq-c php-amqplib qpid-java-i8", "41 00000003 56 ff 56", "array",
		`{"items":[{"tag":"V","type":"void","value":null,"offset":11,"end":12}],` +
			`"error":{"offset":12,"reason":"unknown_tag","path":"k[1]","tag":"ÿ"}}`},
}

// withRaw are the values of which other octets would be written alike, so that theirs are written
// too.
var withRaw = map[string]string{
	"74 02":               "02",
	"74 ff":               "ff",
	"64 7ff0000000000001": "7ff0000000000001",
	"66 7f800073":         "7f800073",
	"66 ffc00000":         "ffc00000",
}

func TestValues(t *testing.T) {
	for _, c := range values {
		value, err := hex.DecodeString(strings.ReplaceAll(c.octets, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		encoded := binary.BigEndian.AppendUint32(nil, uint32(2+len(value)))
		encoded = append(append(encoded, 1, 'k'), value...)
		raw := ""
		if octets := withRaw[c.octets]; octets != "" {
			raw = `,"raw":"` + octets + `"`
		}
		want := fmt.Sprintf(`{"fields":[{"key":"k","tag":"%c","type":"%s","value":%s%s,"offset":4,"end":%d}],"error":null}`,
			rune(value[0]), c.kind, c.value, raw, len(encoded))
		for name := range strings.FieldsSeq(c.dialects) {
			t.Run(c.octets+" in "+name, func(t *testing.T) {
				dialect, err := fieldtable.DialectByName(name)
				if err != nil {
					t.Fatal(err)
				}
				table := fieldtable.View(encoded, dialect)
				if got := string(typedjson.AppendTable(nil, table)); got != want {
					t.Errorf("\n got %s\nwant %s", got, want)
				}
				v, _ := table.Lookup("k")
				if got := string(typedjson.AppendValue(nil, v)); got != c.value {
					t.Errorf("alone:\n got %s\nwant %s", got, c.value)
				}
			})
		}
	}
}

func TestDecodeLine(t *testing.T) {
	for _, c := range []struct{ octets, want string }{
		{"", `{"dialect":"lenient","length":null,"fields":[],"error":{"offset":0,"reason":"table_length_truncated","path":""}}`},
		{"000000", `{"dialect":"lenient","length":null,"fields":[],"error":{"offset":0,"reason":"table_length_truncated","path":""}}`},
		{"00000000", `{"dialect":"lenient","length":0,"fields":[],"error":null}`},
		{"00000001", `{"dialect":"lenient","length":1,"fields":[],"error":{"offset":0,"reason":"table_length_overrun","path":""}}`},
		{"ffffffff00", `{"dialect":"lenient","length":4294967295,"fields":[],"error":{"offset":0,"reason":"table_length_overrun","path":""}}`},
		{"0000000000", `{"dialect":"lenient","length":0,"fields":[],"error":{"offset":4,"reason":"trailing_bytes","path":""}}`},
		{"00000005026bff7401", `{"dialect":"lenient","length":5,"fields":[{"key":null,"key_hex":"6bff","tag":"t","type":"bool","value":true,"offset":4,"end":9}],"error":null}`},
		{"00000004036b6579", `{"dialect":"lenient","length":4,"fields":[],"error":{"offset":8,"reason":"missing_tag","path":"key"}}`},
		{"00000004046b6579", `{"dialect":"lenient","length":4,"fields":[],"error":{"offset":4,"reason":"name_truncated","path":""}}`},
	} {
		t.Run(c.octets, func(t *testing.T) {
			encoded, err := hex.DecodeString(c.octets)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(typedjson.AppendDecode(nil, fieldtable.View(encoded, nil))); got != c.want {
				t.Errorf("%s:\n got %s\nwant %s", c.octets, got, c.want)
			}
		})
	}
}

func TestAppendString(t *testing.T) {
	for in, want := range map[string]string{
		"":                         `""`,
		`a"b\c/d`:                  `"a\"b\\c/d"`,
		"\b\f\n\r\t\x00\x1f\x7f":   `"\u0008\u000c\n\r\t\u0000\u001f\u007f"`,
		"</script><!--&":           `"\u003c/script\u003e\u003c!--\u0026"`,
		"\u2027\u2028\u2029\u202a": "\"\u2027\\u2028\\u2029\\u202a\"",
		"\u0080\u009b\u00a0\u061c\u200e\u202e\u2066\u2069\u206a": "\"\\u0080\\u009b\u00a0\\u061c\\u200e\\u202e\\u2066\\u2069\u206a\"",
		"é\U0001F4E6":                "\"é\U0001F4E6\"",
		"\xff\xc3":                   `"\ufffd\ufffd"`,
		"\uFFFD is itself, not half": "\"\uFFFD is itself, not half\"",
	} {
		t.Run(in, func(t *testing.T) {
			if got := string(typedjson.AppendString(nil, in)); got != want {
				t.Errorf("%q: %s, want %s", in, got, want)
			}
			if got := string(typedjson.AppendString([]byte("x"), []byte(in))); got != "x"+want {
				t.Errorf("%q as octets: %s, want x%s", in, got, want)
			}
		})
	}
}

// Whatever is in a table, the output is one line of JSON that says the same to a JSON reader.
func TestAlwaysJSON(t *testing.T) {
	for _, s := range specimens.Specimens() {
		for _, d := range fieldtable.Dialects() {
			checkJSON(t, s.Encoded, d)
		}
	}
	r := rand.New(rand.NewSource(1))
	for range 200 {
		checkJSON(t, specimens.Mix(r), fieldtable.Lenient())
	}
}

func checkJSON(t testing.TB, encoded []byte, d *fieldtable.Dialect) {
	t.Helper()
	table := fieldtable.View(encoded, d)
	out := typedjson.AppendDecode(nil, table)
	if !json.Valid(out) || bytes.ContainsAny(out, "\n\r") {
		t.Fatalf("not a line of JSON: %s", out)
	}
	var got struct {
		Fields []struct {
			Key    *string `json:"key"`
			KeyHex string  `json:"key_hex"`
			Tag    string  `json:"tag"`
			Offset int     `json:"offset"`
			End    int     `json:"end"`
		} `json:"fields"`
		Error *struct{ Path string } `json:"error"`
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	i := 0
	for f, err := range table.All() {
		if err != nil {
			if e := err.(*fieldtable.SyntaxError); got.Error == nil ||
				got.Error.Path != strings.ToValidUTF8(e.Path, "\uFFFD") {
				t.Fatalf("error %v, want %v", got.Error, err)
			}
			return
		}
		field := got.Fields[i]
		name := ""
		if field.Key != nil {
			name = *field.Key
		} else if octets, err := hex.DecodeString(field.KeyHex); err == nil {
			name = string(octets)
		}
		if name != string(f.Name) || []rune(field.Tag)[0] != rune(f.Value.Tag()) || field.Offset != f.Offset ||
			field.End != f.End {
			t.Fatalf("field %d is %+v, want %q", i, field, f.Name)
		}
		i++
	}
	if i != len(got.Fields) || got.Error != nil {
		t.Fatalf("%d fields and %v, want %d", len(got.Fields), got.Error, i)
	}
}

// Many errors cost no more than many values: each knows its path without searching for it.
func TestManyErrorsAreCheap(t *testing.T) {
	encoded := encode.Table(func(e *encode.Encoder) {
		e.Array("a", func(e *encode.Encoder) {
			for range 100_000 {
				e.Nested("", func(e *encode.Encoder) { e.Raw(1) })
			}
		})
	})
	start := time.Now()
	table := fieldtable.View(encoded, nil)
	out := typedjson.AppendTable(nil, table)
	text := typedjson.AppendText(nil, table)
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	last := `"path":"a[99999]"}`
	if !bytes.Contains(out, []byte(last)) || !bytes.Contains(text, []byte("in a[99999]\n")) {
		t.Errorf("%d octets of JSON without %s", len(out), last)
	}
}

func FuzzTypedJSON(f *testing.F) {
	for _, s := range specimens.Specimens() {
		if len(s.Encoded) < 5000 {
			f.Add(uint8(0), s.Encoded)
		}
	}
	f.Fuzz(func(t *testing.T, dialect uint8, encoded []byte) {
		all := fieldtable.Dialects()
		d := all[int(dialect)%len(all)]
		checkJSON(t, encoded, d)
		checkText(t, encoded, d)
	})
}
