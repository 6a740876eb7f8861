package fieldtable_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/specimens"
)

const all = "RabbitMQ server, Java, .NET, Go (amqp091-go), Node (amqplib), Python (pika), Python (py-amqp), Python (pamqp: aio-pika), " +
	"Ruby (Bunny), PHP (php-amqplib), C (rabbitmq-c), Rust (lapin), Apache Qpid (Broker-J), LavinMQ"

func except(names ...string) string {
	return strings.Join(
		slices.DeleteFunc(strings.Split(all, ", "), func(s string) bool { return slices.Contains(names, s) }),
		", ",
	)
}

func TestClients(t *testing.T) {
	var names []string
	for _, c := range fieldtable.Clients() {
		names = append(names, c.Name)
		if c.Version == "" || c.Refusal == "" || !strings.Contains(c.Source, "/") {
			t.Errorf("%+v", c)
		}
	}
	if got := strings.Join(names, ", "); got != all {
		t.Errorf("%s", got)
	}
}

// The field k, or the last part of it, as those read it who read it otherwise: "client: text", with
// ! for one that gives up.
func TestReadings(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(e *encode.Encoder)
		text  string
		want  []string
	}{
		{"I", func(e *encode.Encoder) { e.Int32("k", 1) }, "1", nil},
		{"S", func(e *encode.Encoder) { e.Str("k", "text") }, "text", nil},
		{"S not UTF-8", func(e *encode.Encoder) { e.Str("k", "a\xff") }, "0x61ff", []string{"Node (amqplib): a\uFFFD", "Apache Qpid (Broker-J)!"}},
		{"t 2", func(e *encode.Encoder) { e.Value("k", 't', []byte{2}) }, "true",
			[]string{"Ruby (Bunny): false", "Apache Qpid (Broker-J): false", "LavinMQ: false"}},
		{"b -1", func(e *encode.Encoder) { e.Int8("k", -1) }, "-1", []string{"Ruby (Bunny): 255"}},
		{"B 255", func(e *encode.Encoder) { e.Uint8("k", 255) }, "255", []string{"Ruby (Bunny)!"}},
		{"I -1", func(e *encode.Encoder) { e.Int32("k", -1) }, "-1", []string{"Ruby (Bunny): 4294967295"}},
		{"i", func(e *encode.Encoder) { e.Uint32("k", 1) }, "1", []string{"Ruby (Bunny)!"}},
		{"u", func(e *encode.Encoder) { e.Uint16("k", 1) }, "1", []string{"Ruby (Bunny)!"}},
		{"s as a string", func(e *encode.Encoder) { e.ShortStr("k", "A") }, "321", nil},
		{"s out of place", func(e *encode.Encoder) { e.Int16("k", 1000) }, "1000", nil},
		{"l -1000", func(e *encode.Encoder) { e.Int64("k", -1000) }, "-1000", nil},
		{"l 2^53+1", func(e *encode.Encoder) { e.Int64("k", 1<<53+1) }, "9007199254740993", []string{"Node (amqplib): 9007199254740992"}},
		{"L", func(e *encode.Encoder) { e.Int64L("k", 5) }, "5",
			[]string{"Java!", ".NET!", "Go (amqp091-go)!", "Node (amqplib)!", "Ruby (Bunny)!", "PHP (php-amqplib)!", "Apache Qpid (Broker-J)!"}},
		{"L -1", func(e *encode.Encoder) { e.Int64L("k", -1) }, "-1",
			[]string{"Java!", ".NET!", "Go (amqp091-go)!", "Node (amqplib)!", "Ruby (Bunny)!", "PHP (php-amqplib)!",
				"C (rabbitmq-c): 18446744073709551615", "Apache Qpid (Broker-J)!"}},
		{"f", func(e *encode.Encoder) { e.Value("k", 'f', []byte{0x3f, 0x80, 0, 0}) }, "1", []string{"Ruby (Bunny): 4.6006e-41"}},
		{"d NaN", func(e *encode.Encoder) { e.Float64("k", math.NaN()) }, "NaN", []string{"RabbitMQ server!", "Python (pika)!"}},
		{"d 1.5", func(e *encode.Encoder) { e.Float64("k", 1.5) }, "1.5", []string{"Python (pika): 1"}},
		{"d -0.5", func(e *encode.Encoder) { e.Float64("k", -0.5) }, "-0.5", []string{"Python (pika): 0"}},
		{"d 2", func(e *encode.Encoder) { e.Float64("k", 2) }, "2", nil},
		{"D of scale 128", func(e *encode.Encoder) { e.Decimal("k", 128, 0) }, "0." + strings.Repeat("0", 118) + "…",
			[]string{".NET!", "Apache Qpid (Broker-J)!"}},
		{"S with half of a character", func(e *encode.Encoder) { e.Str("k", "a\xe2\x82b\xed\xa0") }, "0x61e28262eda0",
			[]string{"Node (amqplib): a\uFFFDb\uFFFD\uFFFD", "Apache Qpid (Broker-J)!"}},
		{"D 3.14", func(e *encode.Encoder) { e.Decimal("k", 2, 314) }, "3.14", []string{"Apache Qpid (Broker-J): 314.00"}},
		{"D -3.14", func(e *encode.Encoder) { e.Decimal("k", 2, -314) }, "-3.14",
			[]string{"RabbitMQ server: 42949669.82", ".NET: -21474833.34", "Node (amqplib): 42949669.82",
				"Python (pamqp: aio-pika): 42949669.82", "Ruby (Bunny): 42949669.82",
				"C (rabbitmq-c): 42949669.82", "Rust (lapin): 42949669.82", "Apache Qpid (Broker-J): -314.00"}},
		{"D of scale 29", func(e *encode.Encoder) { e.Decimal("k", 29, 0) }, "0." + strings.Repeat("0", 29), []string{".NET!"}},
		{"T", func(e *encode.Encoder) { e.Timestamp("k", 1_700_000_000) }, "1700000000 s = 2023-11-14T22:13:20Z",
			[]string{"Apache Qpid (Broker-J): 1700000000 ms = 1970-01-20T16:13:20.000Z"}},
		{"T milliseconds", func(e *encode.Encoder) { e.Timestamp("k", 1_700_000_000_123) }, "1700000000123 s",
			[]string{"Python (pika)!", "Python (py-amqp)!", "Python (pamqp: aio-pika): 1700000000 s = 2023-11-14T22:13:20Z",
				"Apache Qpid (Broker-J): 1700000000123 ms = 2023-11-14T22:13:20.123Z"}},
		{"x empty", func(e *encode.Encoder) { e.Bytes("k", nil) }, "", []string{"Apache Qpid (Broker-J): null"}},
		{"A empty", func(e *encode.Encoder) { e.Array("k", func(*encode.Encoder) {}) }, "array", []string{".NET: null"}},
		{"F empty", func(e *encode.Encoder) { e.Nested("k", func(*encode.Encoder) {}) }, "table",
			[]string{".NET: null", "Apache Qpid (Broker-J)!"}},
		{"V at the end", func(e *encode.Encoder) { e.Void("k") }, "void", []string{"Ruby (Bunny): "}},
		{"U", func(e *encode.Encoder) { e.Int16U("k", 1) }, "1",
			[]string{"RabbitMQ server!", "Java!", ".NET!", "Go (amqp091-go)!", "Node (amqplib)!", "Python (pamqp: aio-pika)!",
				"Ruby (Bunny)!", "PHP (php-amqplib)!", "C (rabbitmq-c)!", "Apache Qpid (Broker-J)!"}},
		{"T microseconds", func(e *encode.Encoder) { e.Timestamp("k", 1_319_600_000_000_000) }, "1319600000000000 s",
			[]string{"Python (pika)!", "Python (py-amqp)!", "Python (pamqp: aio-pika)!",
				"Apache Qpid (Broker-J): 1319600000000000 ms"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			readings := fieldtable.Readings(fieldtable.View(encode.Table(c.write), nil))
			if len(readings) != 1 || readings[0].Path != "k" || readings[0].Offset != 4 || readings[0].Text != c.text {
				t.Errorf("%s: %+v, want k = %s", c.name, readings, c.text)
				return
			}
			if got := others(readings[0]); !slices.Equal(got, c.want) {
				t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
			}
			if readings[0].Loud() != (c.want != nil) {
				t.Errorf("%s: loud %v", c.name, readings[0].Loud())
			}
		})
	}
}

func others(r fieldtable.Reading) []string {
	var got []string
	for _, o := range r.Others {
		if o.Fatal {
			got = append(got, o.Client+"!")
		} else {
			got = append(got, o.Client+": "+o.Text)
		}
	}
	return got
}

func clientsOf(r fieldtable.Reading) string {
	var names []string
	for _, o := range r.Others {
		names = append(names, o.Client)
	}
	return strings.Join(names, ", ")
}

func TestReadingsOfDuplicates(t *testing.T) {
	r := fieldtable.Readings(fieldtable.View(encode.Table(func(e *encode.Encoder) {
		e.Int32("k", 1)
		e.Int32("other", 0)
		e.Int32("k", 2)
	}), nil))
	if got, want := clientsOf(r[0]), except("Java", "C (rabbitmq-c)", "Apache Qpid (Broker-J)", "LavinMQ"); got != want {
		t.Errorf("the first is not seen by %s, want %s", got, want)
	}
	if r[1].Loud() {
		t.Errorf("a field of its own: %+v", r[1])
	}
	if got, want := clientsOf(r[2]), "RabbitMQ server, Java, Apache Qpid (Broker-J), LavinMQ"; got != want {
		t.Errorf("the last is not seen by %s, want %s", got, want)
	}
}

func TestReadingsOfNames(t *testing.T) {
	for name, want := range map[string]string{
		"":                       "PHP (php-amqplib), Apache Qpid (Broker-J)",
		"\xff":                   "Java, Node (amqplib), Python (pamqp: aio-pika), Rust (lapin), Apache Qpid (Broker-J)",
		"__proto__":              "Node (amqplib)",
		"10":                     "Node (amqplib)",
		"010":                    "",
		strings.Repeat("n", 128): "",
		strings.Repeat("n", 129): "PHP (php-amqplib)",
	} {
		t.Run(name, func(t *testing.T) {
			r := fieldtable.Readings(fieldtable.View(encode.Table(func(e *encode.Encoder) { e.Int32(name, 1) }), nil))
			if got := clientsOf(r[0]); got != want {
				t.Errorf("%q: %s, want %s", name, got, want)
			}
		})
	}
}

func TestReadingsOfArrays(t *testing.T) {
	r := fieldtable.Readings(fieldtable.View(encode.Table(func(e *encode.Encoder) {
		e.Array("a", func(e *encode.Encoder) {
			e.Str("", "x")
			e.Int32("", 1)
			e.Bool("", true)
			e.Void("")
		})
		e.Str("after", "still here")
	}), nil))
	var got []string
	for _, r := range r {
		got = append(got, fmt.Sprintf("%s %s: %s", r.Path, r.Text, clientsOf(r)))
	}
	want := []string{
		"a array: ",
		"a[0] x: ",
		"a[1] 1: ",
		"a[2] true: Ruby (Bunny)",
		"a[3] void: Ruby (Bunny)",
		"after still here: ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What cannot be read kills whoever reads it; whoever gave up earlier is not named again.
func TestReadingsOfDamage(t *testing.T) {
	r := fieldtable.Readings(fieldtable.View(encode.Table(func(e *encode.Encoder) {
		e.Int64L("big", 1)
		e.Value("bad", 'Z', nil)
	}), nil))
	if got, want := clientsOf(r[1]), "RabbitMQ server, Python (pika), Python (py-amqp), Python (pamqp: aio-pika), C (rabbitmq-c), Rust (lapin), LavinMQ"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if r[1].Path != "bad" || r[1].Text != "unknown type tag 'Z'" || r[1].Offset != 17 || r[1].End != 22 {
		t.Errorf("%+v", r[1])
	}
	if why := r[1].Others[0].Why; why != "closes the connection with 541 INTERNAL_ERROR: unknown type tag 'Z'" {
		t.Error(why)
	}
	r = fieldtable.Readings(fieldtable.View(encode.Table(func(e *encode.Encoder) {
		e.Array("a", func(e *encode.Encoder) { e.Raw('I') })
		e.Sized("text", 'S', 10, []byte("abc"))
	}), nil))
	if got := others(r[1]); !slices.Contains(got, "Go (amqp091-go): ") || !slices.Contains(got, "Java!") {
		t.Errorf("an element without octets: %q", got)
	}
	if got := others(r[2]); !slices.Contains(got, "Go (amqp091-go)!") {
		t.Errorf("a string longer than the table: %q", got)
	}
}

// A table nested deeper than it is read here says nothing about the clients, which read on.
func TestReadingsOfDepth(t *testing.T) {
	for _, r := range fieldtable.Readings(fieldtable.View(specimens.Deep(33), nil)) {
		if got := others(r); got != nil {
			t.Errorf("%s: %q", r.Path, got)
		}
	}
}

// amqp091-go gives up at 8,193 elements, which is beyond what is compared one by one.
func TestReadingsOfManyElements(t *testing.T) {
	for n, want := range map[int]string{8192: "", 8193: "Go (amqp091-go)!"} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := fieldtable.Readings(fieldtable.View(encode.Table(func(e *encode.Encoder) {
				for i := range n {
					e.Void(fmt.Sprintf("k%d", i))
				}
			}), nil))
			if got := strings.Join(others(r[0]), ", "); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// Octets that hold no whole table are read by nobody, but by Bunny where hardly any is missing and
// by Java where whole fields are.
func TestReadingsOfNoTable(t *testing.T) {
	for octets, readers := range map[string][]string{
		"":                                     nil,
		"\x00\x00\x00":                         nil,
		"\x00\x00\x00\x09\x03keyI\x00\x00\x00": {"Ruby (Bunny)"},
		"\xff\xff\xff\xff\x03keyI\x00\x00\x00": nil,
		"\xff\xff\xff\xff\x03keyt\x01":         {"Java"},
	} {
		t.Run(fmt.Sprintf("%x", octets), func(t *testing.T) {
			r := fieldtable.Readings(fieldtable.View([]byte(octets), nil))
			var refuse []string
			for _, o := range r[0].Others {
				if o.Fatal {
					refuse = append(refuse, o.Client)
				}
			}
			if got, want := strings.Join(refuse, ", "), except(readers...); len(r) != 1 || got != want {
				t.Errorf("refused by %s, want %s", got, want)
			}
		})
	}
}

// Broker-J takes some messages and deletes them afterwards, which its users must know.
func TestReadingsSayWhatIsDeleted(t *testing.T) {
	for _, tt := range []struct{ name, table, why string }{
		{"text", "\x00\x00\x00\x0d\x04testS\x00\x00\x00\x03\x5c\x6d\xb4", "the text is no UTF-8"},
		{"name", "\x00\x00\x00\x04\x01\xfft\x01", "the name is no UTF-8"},
		{"empty table", "\x00\x00\x00\x07\x01GF\x00\x00\x00\x00", "the nested table is empty"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := fieldtable.Readings(fieldtable.View([]byte(tt.table), nil))
			last := r[0].Others[len(r[0].Others)-1]
			want := fieldtable.Other{
				Client: "Apache Qpid (Broker-J)", Version: "1df338ce92", Why: "accepts the message and then deletes it (QUE-1006): " + tt.why, Fatal: true,
			}
			if last != want {
				t.Errorf("%+v, want %+v", last, want)
			}
		})
	}
}

func TestReadingsAreBounded(t *testing.T) {
	long := strings.Repeat("é", 500)
	r := fieldtable.Readings(fieldtable.View(encode.Table(func(e *encode.Encoder) {
		for range 3000 {
			e.Str("k", long)
		}
	}), nil))
	if len(r) != 1000 || len(r[0].Text) > 130 || !strings.HasSuffix(r[0].Text, "…") {
		t.Errorf("%d readings, %q", len(r), r[0].Text)
	}
}
