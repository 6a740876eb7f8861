package query

import (
	"context"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

func TestAnywhere(t *testing.T) {
	m := archivedOne(t, testMessage{
		exchange: "amq.topic",
		key:      "Orders.created",
		props:    []wire.Property{{Name: "message_id", Raw: []byte("ID:4711-A")}, {Name: "priority", Raw: []byte{7}}},
		table: encode.Table(func(e *encode.Encoder) {
			e.Str("Tenant", "ACME Köln")
			e.Int64("order", 1002003)
			e.Float64("price", 19.5)
			e.Bool("on", true)
			e.Void("nothing")
			e.Bytes("raw", []byte("Blob\xff"))
			e.Array("x-death", func(e *encode.Encoder) {
				e.Nested("", func(e *encode.Encoder) { e.Str("reason", "rejected") })
			})
		}),
	})
	checkVerdicts(t, m, []verdictCase{
		{"anywhere('acme')", Yes},
		{"anywhere('Acme KÖLN')", Yes},
		{"anywhere('tenant')", Yes},
		{"anywhere(TOPIC)", Yes},
		{"anywhere('orders.')", Yes},
		{"anywhere('id:4711-a')", Yes},
		{"anywhere('0200')", Yes},
		{"anywhere(19.5)", Yes},
		{"anywhere(true)", Yes},
		{"anywhere(blob)", Yes},
		{"anywhere('626c')", No},
		{"anywhere('426c')", Yes},
		{"anywhere('REASON')", Yes},
		{"anywhere('eject')", Yes},
		{"anywhere('void')", No},
		{"anywhere('7')", Yes},
		{"anywhere('8')", No},
		{"anywhere('acme_')", No},
		{"anywhere('missing')", No},
		{"NOT anywhere('acme')", No},
		{`anywhere("\xff")`, Yes},
		{"Anywhere('reject') AND order > 5", Yes},
	})
}

func TestAnywhereDamaged(t *testing.T) {
	table := encode.Table(func(e *encode.Encoder) {
		e.Str("tenant", "acme")
		e.Value("z", 'Z', []byte("hidden"))
	})
	checkVerdicts(t, one(t, table), []verdictCase{
		{"anywhere('acme')", Yes},
		{"anywhere('hidden')", Damaged},
		{"NOT anywhere('hidden')", Damaged},
		{"NOT anywhere('acme')", No},
	})
}

// What an archive removed can be anything.
func TestAnywhereRedacted(t *testing.T) {
	redaction, err := archive.ParseRedaction("token")
	if err != nil {
		t.Fatal(err)
	}
	s := archived(archive.Config{MaxBytes: 1 << 20, Redact: redaction}, testMessage{
		table: encode.Table(func(e *encode.Encoder) { e.Str("token", "secret"); e.Str("tenant", "acme") }),
	})
	m, err := s.Get(1)
	if err != nil {
		t.Fatal(err)
	}
	checkVerdicts(t, m, []verdictCase{
		{"anywhere('secret')", Unknown},
		{"NOT anywhere('secret')", Unknown},
		{"anywhere('token')", Yes},
		{"anywhere('acme')", Yes},
	})
}

func TestAnywhereWritten(t *testing.T) {
	for _, tt := range []struct{ filter, want string }{
		{"ANYWHERE( acme )", "anywhere('acme')"},
		{`anywhere("it's")`, "anywhere('it''s')"},
		{`anywhere("a\x0a")`, `anywhere("a\x0a")`},
		{`anywhere("\xff")`, `anywhere("\xff")`},
		{"anywhere(4711)", "anywhere('4711')"},
		{"anywhere(null)", "anywhere('null')"},
	} {
		runCase(t, tt.filter, func(t *testing.T) {
			q := compile(t, tt.filter)
			if q.String() != tt.want || compile(t, q.String()).String() != tt.want {
				t.Errorf("%s, want %s", q, tt.want)
			}
		})
	}
	if got := Anywhere("it's"); got != "anywhere('it''s')" {
		t.Error(got)
	}
	for _, filter := range []string{"anywhere()", "anywhere('')", "anywhere(a, b)", "anywhere('a'"} {
		if _, err := Compile(filter); err == nil {
			t.Errorf("%s compiles", filter)
		}
	}
}

func TestWhereabouts(t *testing.T) {
	ids := func(value string) testMessage {
		return testMessage{
			props: []wire.Property{{Name: "correlation_id", Raw: []byte(value)}},
			table: encode.Table(func(e *encode.Encoder) { e.Str("id", value); e.Str("id", value); e.Str("a b", "x") }),
		}
	}
	s := archived(archive.Config{MaxBytes: 1 << 20}, ids("one"), ids("two"), ids("none"))
	for _, tt := range []struct {
		filter, text string
		want         []Whereabouts
	}{
		{"", "ONE", []Whereabouts{{"$correlation_id", 2}, {"id", 2}}},
		{"id = two", "one", nil},
		{"", "x", []Whereabouts{{`"a b"`, 3}}},
		{"", "zzz", nil},
		{"", "", nil},
	} {
		runCase(t, tt.filter, func(t *testing.T) {
			got, err := compile(t, tt.filter).Whereabouts(context.Background(), s, PageRequest{}, tt.text, 2)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%v, %v, want %v", got, err, tt.want)
			}
		})
	}
}

func TestFinderAgreesWithContains(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	text := func(n int) string {
		var b strings.Builder
		for range r.Intn(n) {
			b.WriteString(pick(r, "a", "A", "b", "B", "-", "ä", "Ä", "\xe4", "K", "k", "\u212a"))
		}
		return b.String()
	}
	found := 0
	for range 20_000 {
		needle, in := text(5), text(40)
		if needle == "" {
			continue
		}
		f := newFinder(needle)
		got, want := f.in([]byte(in)), strings.Contains(naiveLow(in), naiveLow(needle))
		if got != want {
			t.Fatalf("%q in %q: %t", needle, in, got)
		}
		if got {
			found++
		}
	}
	if found < 1000 {
		t.Errorf("found %d times", found)
	}
}

// naiveLow is the text in lower case; what is not ASCII stays so.
func naiveLow(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 || strings.ToLower(string(r))[0] >= 0x80 {
			return []rune(strings.ToLower(string(r)))[0]
		}
		return r
	}, latin(s))
}

func naiveAnywhere(n *everywhere, table *naiveValue, m archive.Message) truths {
	has := func(s string) truths { return truthOf(strings.Contains(naiveLow(s), naiveLow(n.text))) }
	t := max(has(string(m.Exchange())), has(string(m.RoutingKey())))
	open := false
	for p, err := range m.Header().All() {
		if err != nil {
			open = true
		} else if text, ok := p.Text(); ok {
			t = max(t, has(string(text)))
		}
	}
	var look func(v naiveValue)
	look = func(v naiveValue) {
		open = open || v.damaged
		switch v.kind {
		case fieldtable.KindVoid:
			return
		case fieldtable.KindBytes, fieldtable.KindChar8:
			t = max(t, has(v.raw))
		}
		if v.kind != fieldtable.KindTable && v.kind != fieldtable.KindArray {
			t = max(t, has(v.displayed))
		}
		for _, f := range v.fields {
			t = max(t, has(f.name))
			look(f.naiveValue)
		}
		for _, i := range v.items {
			look(i)
		}
	}
	if table != nil {
		look(*table)
	}
	if open && t != isYes {
		return isNo | isYes
	}
	return t
}
