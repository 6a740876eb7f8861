package views

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"github.com/headerglass/headerglass/fieldtable/fttest"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/static"
)

var fixtureNow = time.Date(2026, 11, 29, 14, 3, 22, 481_000_000, time.UTC)

// fixture is a page in one of its states.
type fixture struct {
	name string
	page Page
	// failed draws ErrorPage.
	failed bool
	draw   func(Page) templ.Component // nil = Document, or ErrorPage
}

func fixtures(t testing.TB, assets *static.Assets) []fixture {
	t.Helper()
	r := rand.New(rand.NewSource(4))
	base := func(q Query) Page {
		return Page{ListPage: ListPage{Frame: Frame{
			Links: Links{Query: q}, Assets: assets, Now: fixtureNow,
			Broker: source.Status{
				State:     source.Consuming,
				Since:     fixtureNow.Add(-41 * time.Minute),
				Mode:      source.Peek,
				Name:      "orders.dead-letter",
				Held:      312,
				Window:    1000,
				GivenBack: 0,
				Product:   "RabbitMQ",
				Version:   "3.10.8",
				Kept: source.Kept{
					Messages: 12340,
					Evicted:  1204,
					Oldest:   fixtureNow.Add(-3 * time.Hour),
					Bytes:    41 << 20,
					MaxBytes: 256 << 20,
					Rate:     48.2,
				},
				PublishCommand: `rabbitmqadmin publish exchange=amq.default routing_key=orders.dead-letter payload=hello properties='{"headers":{"tenant":"acme","retries":5}}'`,
			},
			Examples: []FilterExample{
				{`x-death`, "has that header"},
				{`retries > 3 AND tenant = 'acme'`, "numbers compare exactly across types"},
				{`malformed()`, "the header table is damaged"},
			},
		}, Bar: QueryBar{Query: q.Q, Live: true, ExportLimit: 100_000}, Keys: fixtureKeys(), Chart: fixtureChart(r)}}
	}
	rows := func(n int) []Row {
		var rows []Row
		for i := range n {
			rows = append(rows, fixtureRow(r, uint64(12340-i), fixtureNow.Add(-time.Duration(i)*137*time.Millisecond)))
		}
		return rows
	}
	open := func(q Query, m Message) Page {
		p := base(q)
		p.List = List{Rows: rows(60), Older: 12280, Total: 12340, Selected: 12338, Last: 12340}
		m.Seq, m.Received, m.DeliveryTag = 12338, fixtureNow.Add(-90*time.Second), 4711
		if m.ContentHeader == nil {
			m.ContentHeader = append(make([]byte, 14), m.Headers...)
		}
		if m.BodySize == 0 {
			m.BodySize = uint64(len(m.Body))
		}
		in := BuildInspector(m, InspectorOptions{Links: p.Links, Older: 12337, Newer: 12339, Now: fixtureNow})
		p.Inspector = &in
		p.Title = "#12338"
		return p
	}
	var all []fixture
	add := func(name string, p Page) { all = append(all, fixture{name: name, page: p}) }

	p := base(Query{})
	p.List = List{Rows: rows(100), Older: 12240, Total: 12340, Last: 12340}
	add("list", p)

	p = base(Query{Q: "tenant = 'acme' AND retries > 3", Columns: []string{"tenant", "x-death[0].reason"}})
	p.List = List{
		Rows:    rows(40),
		Older:   12240,
		Newer:   12340,
		Total:   12340,
		Last:    12340,
		Columns: []Column{{Path: "tenant", Tags: []byte("S")}, {Path: "x-death[0].reason", Tags: []byte("SI")}},
		Count:   &Total{Matched: 312, Damaged: 2},
	}
	for i := range p.List.Rows {
		p.List.Rows[i].Cells = []Cell{
			{Tag: 'S', Text: []byte("acme"), Set: true},
			{Tag: 'S', Text: []byte("expired"), Set: i%3 != 0},
		}
	}
	p.Bar.Live = false
	p.Bar.Chips = []Chip{{"tenant = 'acme'", "retries > 3"}, {"retries > 3", "tenant = 'acme'"}}
	p.Bar.Explain = &Explain{
		Keys:          []string{"tenant", "retries"},
		Shapes:        41,
		ShapesMatched: 6,
		Matched:       312,
		Scanned:       10240,
		Skipped:       9900,
		Damaged:       2,
		BytesRead:     41233,
		Elapsed:       1234 * time.Microsecond,
		Complete:      true,
	}
	add("filtered", p)

	p = base(Query{
		Q:       "x-death",
		Facet:   "tenant",
		Columns: []string{"retries"},
		Sort:    Sort{Path: "retries", Desc: true},
		Damaged: true,
	})
	p.List = List{
		Rows:    rows(30),
		Total:   12340,
		Last:    12340,
		Columns: []Column{{Path: "retries", Tags: []byte("IS")}},
		Count:   &Total{Matched: 4211, Damaged: 3, Complete: true},
	}
	for i := range p.List.Rows {
		p.List.Rows[i].Cells = []Cell{{Tag: 'I', Text: []byte(itoa(30 - i)), Set: i < 25}}
		p.List.Rows[i].Undecided = p.List.Rows[i].Damaged
	}
	p.Bar.Live = false
	p.Bar.Explain = &Explain{
		Keys:          []string{"x-death"},
		Shapes:        41,
		ShapesMatched: 9,
		Matched:       4211,
		Skipped:       12340,
		Elapsed:       81 * time.Microsecond,
		Complete:      true,
	}
	p.Chart.Filtered, p.Chart.Partial = true, true
	p.Facet = fixtureFacet()
	for _, v := range p.Facet.Values[:3] {
		p.Chart.Series = append(p.Chart.Series, Series{Text: v.Text, Total: v.Count})
	}
	for i := range p.Chart.Buckets {
		n := p.Chart.Buckets[i].Count
		p.Chart.Buckets[i].Parts = []uint64{n / 2, n / 4, n / 8}
	}
	add("facet", p)

	p = base(Query{From: fixtureNow.Add(-10 * time.Minute), To: fixtureNow.Add(-5 * time.Minute), Facet: "a b"})
	p.Chart.From, p.Chart.To = p.Links.Query.From, p.Links.Query.To
	p.Facet = &Facet{Operand: "a b", Error: &QueryError{Offset: 2, Msg: "Expected nothing more here."}}
	p.List = List{Rows: rows(20), Total: 12340, Last: 12340, Count: &Total{Matched: 20, Complete: true}}
	p.Bar.Live = false
	add("range", p)

	add("message", open(Query{}, Message{
		Exchange:    []byte("amq.topic"),
		RoutingKey:  []byte("acme.orders.created"),
		ConsumerTag: []byte("headerglass-1f2e"),
		HasHeaders:  true,
		Redelivered: true,
		Headers:     richTable(),
		Properties:  fixtureProperties(),
		Body: []byte(
			"{\n  \"order\": 8812,\n  \"tenant\": \"acme\",\n  \"lines\": [{\"sku\": \"A-1\", \"qty\": 2}],\n  \"note\": \"Grüße aus Köln\"\n}\n",
		),
	}))
	p = open(Query{Full: true}, Message{
		Exchange:   []byte("amq.topic"),
		RoutingKey: []byte("acme.orders.created"),
		HasHeaders: true,
		Headers:    richTable(),
		Properties: fixtureProperties(),
		Body:       []byte("hello"),
	})
	add("full", p)
	add("damaged", open(Query{}, Message{
		RoutingKey:    []byte("orders"),
		HasHeaders:    true,
		Headers:       damagedTable(),
		Body:          []byte{0, 1, 2, 0xff, 0xfe, 'a', 'b', 'c'},
		BodySize:      70000,
		Properties:    fixtureProperties()[:2],
		PropertiesErr: "the content header ends inside message_id, at byte 212 (0xd4)",
	}))
	add("forty", open(Query{}, Message{
		Exchange:   []byte("celery"),
		RoutingKey: []byte("celery"),
		HasHeaders: true,
		Headers: fttest.Table(func(e *fttest.Encoder) {
			for i := range 40 {
				e.Str(fmt.Sprintf("x-acme-header-%02d", i), strings.Repeat("value ", i%7+1))
			}
		}),
	}))
	add("long", open(Query{}, Message{
		Exchange:   []byte("ex"),
		RoutingKey: bytes.Repeat([]byte("order.created.eu."), 15),
		HasHeaders: true,
		Headers: fttest.Table(func(e *fttest.Encoder) {
			e.Str(
				"x-exception-stacktrace",
				"java.lang.IllegalStateException: no such order\n"+strings.Repeat(
					"\tat com.acme.orders.Handler.handle(Handler.java:42)\n",
					1300,
				),
			)
			e.Bytes("blob", bytes.Repeat([]byte{0xde, 0xad, 0xbe, 0xef, 'o', 'k', '<', '&'}, 1000))
			e.Str("after", "it")
		}),
	}))
	add("rtl", open(Query{}, Message{
		Exchange:   []byte("أوامر"),
		RoutingKey: []byte("طلبات.جديدة"),
		HasHeaders: true,
		Headers: fttest.Table(func(e *fttest.Encoder) {
			e.Str("greeting", "مرحبا بالعالم 123 abc")
			e.Str("hebrew", "שלום עולם")
			e.Str("spoof", "invoice\u202efdp.exe")
			e.Str("مفتاح", "قيمة")
			e.Str("<script>alert(1)</script>", `<img src=x onerror="alert(2)">`)
			e.Str("'\"&", "\x00\x1b[31mred\u200b")
			e.Str("", "empty name")
			e.Str("emoji", "🐇❤\ufe0f")
		}),
	}))
	add("deep", open(Query{}, Message{RoutingKey: []byte("deep"), HasHeaders: true, Headers: deepTable(31)}))
	add("array", open(Query{}, Message{RoutingKey: []byte("array"), HasHeaders: true, Headers: bigArray(120_000)}))
	at := 4 // the array is the first field
	add("zoomed", open(Query{
		At:   at,
		Skip: 500,
	}, Message{
		RoutingKey: []byte("array"),
		HasHeaders: true,
		Headers:    bigArray(120_000),
	}))
	add("clients", open(Query{Tab: tabReadings}, Message{
		RoutingKey: []byte("k"),
		HasHeaders: true,
		Headers:    richTable(),
	}))
	add("bare", open(Query{}, Message{RoutingKey: []byte("bare")}))
	add("deaths", open(Query{Tab: tabDeaths}, Message{
		RoutingKey: []byte("orders.dead-letter"),
		HasHeaders: true,
		Headers:    deathsTable(),
	}))
	add("guesses", open(Query{Packs: true}, Message{
		RoutingKey: []byte("acme.orders"),
		HasHeaders: true,
		Headers:    guessesTable(),
		Body:       []byte(`{"order":8812,"total":12.50,"note":"Grüße","lines":[{"sku":"A-1","qty":2}]}`),
	}))
	for _, lang := range []string{"go", "rabbitmqadmin"} { // comments inside the code, and above it
		add("code-"+lang, open(Query{Tab: tabCode, Lang: lang}, Message{
			Exchange:   []byte("amq.topic"),
			RoutingKey: []byte("acme.orders.created"),
			HasHeaders: true,
			Headers:    richTable(),
			Properties: fixtureProperties(),
			Body:       []byte("hello"),
		}))
	}
	all = append(
		all,
		diffFixture(base(Query{})),
		inspectFixture(base(Query{}), nil, ""),
		inspectFixture(base(Query{}), damagedTable(), ""),
		captureFixture(base(Query{})),
	)
	all[len(all)-2].name = "inspected"

	p = base(Query{})
	p.Broker.Kept, p.Broker.Held = source.Kept{MaxBytes: p.Broker.Kept.MaxBytes, Bytes: p.Broker.Kept.Bytes, Oldest: p.Broker.Kept.Oldest}, 0
	p.Keys, p.Chart = KeyList{}, Histogram{}
	add("empty", p)
	fresh := base(Query{})
	fresh.Chart.Buckets = fresh.Chart.Buckets[:len(fresh.Chart.Buckets):len(fresh.Chart.Buckets)]
	for i := range fresh.Chart.Buckets[:110] {
		fresh.Chart.Buckets[i].Count = 0
	}
	fresh.Chart.Step = time.Second
	fresh.Broker.Mode, fresh.Broker.Name, fresh.Broker.Product = "demo", "demo", "headerglass demo"
	fresh.List = List{Rows: rows(40), Total: 40, Last: 12340}
	add("demo", fresh)
	busy := base(Query{})
	busy.List = List{Rows: rows(40), Total: 40, Last: 12340}
	busy.Broker.State, busy.Broker.NextAttempt = source.Paused, fixtureNow.Add(25*time.Second)
	busy.Broker.HeldSince, busy.Broker.GiveBackAt = fixtureNow.Add(-6*time.Minute), fixtureNow.Add(9*time.Minute)
	busy.Broker.Ready, busy.Broker.Consumers, busy.Broker.ObservedAt = 4211, 3, fixtureNow.Add(-4*time.Second)
	busy.Broker.QueueType, busy.Broker.Policy, busy.Broker.DeliveryLimit, busy.Broker.Reconnects, busy.Broker.Known = "quorum", "ha", 20, 2, 312
	busy.Broker.URL, busy.Broker.Management = "amqps://explorer@rabbit.internal:5671/orders", "The management API at rabbit.internal:15672 answered 401."
	add("shared", busy)
	p.Broker.State, p.Broker.Error = source.Reconnecting, "The broker at 10.1.2.3:5672 refused the connection."
	p.Broker.Since, p.Broker.NextAttempt = fixtureNow.Add(-3*time.Minute), fixtureNow.Add(4*time.Second)
	add("down", p)
	p = base(Query{Q: "tennant = 'acme'"})
	p.List = List{Empty: EmptyNoMatch, Nearest: []string{"tenant = 'acme'", "tenant-id = 'acme'"}, Total: 12340}
	p.Bar.Explain = &Explain{Keys: []string{"tennant"}, Shapes: 41, Skipped: 12340, Complete: true}
	add("nomatch", p)
	p = base(Query{Q: "retries > AND x"})
	p.List = List{Empty: EmptyNoMatch, Total: 12340}
	p.Bar.Error = &QueryError{Offset: 10, End: 13, Msg: "expected a number, a text in single quotes or a header name"}
	add("badfilter", p)
	p = base(Query{})
	p.List = List{Rows: rows(60), Older: 12280, Total: 12340, Last: 12340}
	p.Problem = &Problem{
		Status: 410,
		Title:  "Evicted",
		Msg:    "Message 17 was kept once and has made way for newer ones.",
		Hint:   "Raise --memory to keep more; 12\u202f340 messages since 11:03 fit into 256 MiB.",
		Action: "Newest messages",
		URL:    "/",
	}
	add("evicted", p)
	p = base(Query{})
	p.Problem = &Problem{
		Status: 404,
		Title:  "No such page",
		Msg:    "There is nothing at this address.",
		Action: "To the messages",
		URL:    "/",
	}
	all = append(all, fixture{name: "error", page: p, failed: true})
	return all
}

func fixtureRow(r *rand.Rand, seq uint64, at time.Time) Row {
	exchanges := []string{"", "amq.topic", "orders", "celery", "dlx"}
	keys := []string{
		"acme.orders.created",
		"orders",
		"celery",
		"payments.captured.eu-west-1",
		"invoices.retry",
		"device.1af3.telemetry",
	}
	names := [][]string{
		{"x-death", "x-first-death-exchange", "x-first-death-queue", "tenant", "retries"},
		{"lang", "task", "id", "shadow", "eta", "retries"},
		{"traceparent", "tracestate", "baggage"},
		{"__TypeId__", "spring_returned_message"},
		{"NServiceBus.MessageId", "NServiceBus.EnclosedMessageTypes"},
		{"tenant"},
	}
	k := r.Intn(len(names))
	row := Row{
		Seq:         seq,
		Received:    at,
		Exchange:    []byte(exchanges[r.Intn(len(exchanges))]),
		RoutingKey:  []byte(keys[r.Intn(len(keys))]),
		HeaderCount: len(names[k]) + r.Intn(4),
		HeaderBytes: 60 + r.Intn(1400),
		BodyBytes:   uint64(r.Intn(90000)),
		Keys:        names[k],
		Redelivered: r.Intn(9) == 0,
		Damaged:     r.Intn(23) == 0,
		Duplicates:  r.Intn(17) == 0,
	}
	if r.Intn(30) == 0 {
		row.NoHeaders, row.Keys = true, nil
	}
	if r.Intn(30) == 0 {
		row.RoutingKey = bytes.Repeat([]byte("order.created.eu."), 15)
	}
	return row
}

func fixtureKeys() KeyList {
	k := KeyList{Messages: 12340, More: 12}
	for i, name := range []string{
		"tenant", "x-death", "traceparent", "retries", "x-first-death-exchange", "x-first-death-queue", "x-first-death-reason", "id", "task", "lang",
		"NServiceBus.MessageId", "NServiceBus.EnclosedMessageTypes", "__TypeId__", "content-type", "MT-Activity-Id", "x-opt-to", "priority", "<b>bold</b>", "a\u202eb", "",
	} {
		key := Key{
			Name:  []byte(name),
			Count: uint64(12000 / (i + 1)),
			Tags:  []TagCount{{Tag: "SAFSISTtxl"[i%10], Count: uint64(11000 / (i + 1))}},
		}
		if name == "retries" {
			key.Tags, key.Active = []TagCount{{'I', 2900}, {'S', 100}}, true
		}
		k.Keys = append(k.Keys, key)
	}
	return k
}

func fixtureChart(r *rand.Rand) Histogram {
	h := Histogram{Step: 10 * time.Second}
	for i := range 120 {
		n := uint64(40 + r.Intn(30))
		if i > 70 && i < 84 {
			n = uint64(r.Intn(4))
		}
		if i > 100 {
			n += uint64(i)
		}
		h.Buckets = append(h.Buckets, Bucket{Start: fixtureNow.Add(time.Duration(i-120) * h.Step), Count: n})
	}
	return h
}

func fixtureFacet() *Facet {
	f := &Facet{
		Operand: "tenant",
		Types:   []TagCount{{'S', 3980}, {'I', 120}},
		Matched: 4211,
		With:    4100,
		Other:   260,
		Bounded: true,
		Partial: true,
		Looked:  9900,
		Kept:    12340,
	}
	for i, text := range []string{"acme", "globex", "<b>initech</b>", "", "umbrella\u202egro", strings.Repeat("very long ", 20), "42"} {
		v := FacetValue{Text: []byte(text), Tag: 'S', Count: uint64(2000 / (i + 1)), Filter: "tenant = '" + text + "'"}
		if i == 5 {
			v.Cut, v.Filter = true, ""
		}
		if i == 6 {
			v.Tag = 'I'
		}
		f.Values = append(f.Values, v)
	}
	return f
}

func fixtureProperties() []wire.Property {
	short := func(name, v string, at int) wire.Property {
		return wire.Property{Name: name, Raw: []byte(v), Offset: at, End: at + 1 + len(v)}
	}
	return []wire.Property{
		short("content_type", "application/json", 14), short("content_encoding", "", 31), {
			Name:   "headers",
			Raw:    make([]byte, 545),
			Offset: 32,
			End:    581,
		},
		{
			Name:   "delivery_mode",
			Raw:    []byte{2},
			Offset: 581,
			End:    582,
		}, short("correlation_id", "6f1c2d0e-8c1b-4d3e-9a53-ff7e0d2a91aa", 582),
		short("message_id", "a\x00b\xff<i>", 619), {
			Name:   "timestamp",
			Raw:    []byte{0, 0, 0, 0, 0x67, 0x48, 0x57, 0},
			Offset: 630,
			End:    638,
		}, short("app_id", "shop", 638),
	}
}

// richTable holds every type, duplicates, guesses and nesting.
func richTable() []byte {
	return fttest.Table(func(e *fttest.Encoder) {
		e.Array("x-death", func(e *fttest.Encoder) {
			e.Nested("", func(e *fttest.Encoder) {
				e.Int64("count", 3)
				e.Str("reason", "expired")
				e.Str("queue", "orders.retry")
				e.Timestamp("time", 1795960000)
				e.Str("exchange", "")
				e.Array("routing-keys", func(e *fttest.Encoder) { e.Str("", "acme.orders.created") })
			})
			e.Nested("", func(e *fttest.Encoder) {
				e.Int64("count", 1)
				e.Str("reason", "rejected")
				e.Str("queue", "orders")
			})
		})
		e.Str("tenant", "acme")
		e.Int32("retries", 5)
		e.Str("retries", "5")
		e.Int64("max", 9223372036854775807)
		e.Int64("min", -9223372036854775808)
		e.Int8("i8", -128)
		e.Uint8("u8", 255)
		e.Int16("i16", -32768)
		e.Uint32("u32", 4294967295)
		e.Float64("ratio", 0.1)
		e.Float32("f32", 3.4e38)
		e.Decimal("price", 2, 31415)
		e.Bool("dry_run", false)
		e.Timestamp("published", 1795960942)
		e.Timestamp("published_ms", 1795960942123)
		e.Void("nothing")
		e.Str("empty", "")
		e.Bytes("digest", []byte{0xde, 0xad, 0xbe, 0xef, 0, 1, 2, 3, 'h', 'e', 'l', 'l', 'o'})
		e.Str("latin1", "Gr\xfc\xdfe")
		e.Str("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
		e.Nested("nothing-in-it", func(*fttest.Encoder) {})
	})
}

func damagedTable() []byte {
	return fttest.Table(func(e *fttest.Encoder) {
		e.Str("tenant", "acme")
		e.Nested("context", func(e *fttest.Encoder) {
			e.Str("user", "u-1")
			e.Value("odd", 'Z', []byte("\x01\x02\x03 whatever follows cannot be skipped"))
		})
		e.Int32("after", 7)
		e.Sized("cut", 'S', 4000, []byte("only this much"))
	})
}

func deepTable(depth int) []byte {
	var nest func(e *fttest.Encoder, left int)
	nest = func(e *fttest.Encoder, left int) {
		e.Int32("level", int32(depth-left))
		if left > 0 {
			e.Nested("down", func(e *fttest.Encoder) { nest(e, left-1) })
		}
	}
	return fttest.Table(func(e *fttest.Encoder) { nest(e, depth) })
}

func bigArray(n int) []byte {
	return fttest.Table(func(e *fttest.Encoder) {
		e.Array("samples", func(e *fttest.Encoder) {
			for i := range n {
				e.Int32("", int32(i))
			}
		})
		e.Str("after", "still here")
	})
}
