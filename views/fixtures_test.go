package views

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/static"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/kit"
	"github.com/headerglass/headerglass/views/listing"
	"github.com/headerglass/headerglass/views/opened"
	"github.com/headerglass/headerglass/views/shell"
	"github.com/headerglass/headerglass/views/viewtest"
	"github.com/headerglass/headerglass/web/export"
)

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
	base := func(q address.State) Page {
		return Page{Page: listing.Page{
			Frame: shell.Frame{
				Links: address.Links{State: q}, Assets: assets, Now: viewtest.Now,
				Broker: source.Status{
					State:     source.Consuming,
					Since:     viewtest.Now.Add(-41 * time.Minute),
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
						Oldest:   viewtest.Now.Add(-3 * time.Hour),
						Bytes:    41 << 20,
						MaxBytes: 256 << 20,
						Rate:     48.2,
					},
					PublishCommand: `rabbitmqadmin publish exchange=amq.default routing_key=orders.dead-letter payload=hello properties='{"headers":{"tenant":"acme","retries":5}}'`,
				},
			},
			Bar:   listing.QueryBar{Query: q.Q, Live: true, Exports: fixtureExports(), ExportLimit: 100_000},
			Keys:  fixtureKeys(),
			Chart: fixtureChart(r),
		}}
	}
	rows := func(n int) []listing.Row {
		var rows []listing.Row
		for i := range n {
			rows = append(
				rows,
				fixtureRow(r, uint64(12340-i), viewtest.Now.Add(-time.Duration(i)*137*time.Millisecond)),
			)
		}
		return rows
	}
	open := func(q address.State, m facts.Message) Page {
		p := base(q)
		p.List = listing.List{Rows: rows(60), Older: "12280", Total: 12340, Selected: address.Key{Seq: 12338}, Last: "12340"}
		m.Seq, m.Received, m.DeliveryTag = 12338, viewtest.Now.Add(-90*time.Second), 4711
		if m.ContentHeader == nil {
			m.ContentHeader = append(make([]byte, 14), m.Headers...)
		}
		if m.BodySize == 0 {
			m.BodySize = uint64(len(m.Body))
		}
		in := opened.Build(m, opened.Options{
			Links: p.Links, Older: address.Key{Seq: 12337}, Newer: address.Key{Seq: 12339}, Now: viewtest.Now,
			Print: "1a2b3c4d",
		})
		p.Opened = &in
		p.Title = "#12338"
		return p
	}
	var all []fixture
	add := func(name string, p Page) { all = append(all, fixture{name: name, page: p}) }

	p := base(address.State{})
	p.List = listing.List{Rows: rows(100), Older: "12240", Total: 12340, Last: "12340"}
	add("list", p)

	p = base(address.State{Q: "tenant = 'acme' AND retries > 3", Columns: []string{"tenant", "x-death[0].reason"}})
	p.List = listing.List{
		Rows:    rows(40),
		Older:   "12240",
		Newer:   "12340",
		Total:   12340,
		Last:    "12340",
		Columns: []listing.Column{{Path: "tenant", Tags: []byte("S")}, {Path: "x-death[0].reason", Tags: []byte("SI")}},
		Count:   total(312, 2, false),
	}
	for i := range p.List.Rows {
		p.List.Rows[i].Cells = []query.Cell{cell("acme"), {}}
		if i%3 != 0 {
			p.List.Rows[i].Cells[1] = cell("expired")
		}
	}
	p.Bar.Live = false
	p.Bar.Chips = []listing.Chip{
		{Text: "tenant = 'acme'", Without: "retries > 3"},
		{Text: "retries > 3", Without: "tenant = 'acme'"},
	}
	p.Bar.Explain = &query.Explain{
		Keys:          []string{"tenant", "retries"},
		Shapes:        41,
		ShapesMatched: 6,
		Scanned:       10240,
		Skipped:       9900,
		Damaged:       2,
		BytesRead:     41233,
		Elapsed:       1234 * time.Microsecond,
	}
	add("filtered", p)

	p = base(address.State{
		Q:       "x-death",
		Facet:   "tenant",
		Columns: []string{"retries"},
		Sort:    address.Sort{Path: "retries", Desc: true},
		Damaged: true,
	})
	p.List = listing.List{
		Rows:    rows(30),
		Total:   12340,
		Last:    "12340",
		Columns: []listing.Column{{Path: "retries", Tags: []byte("IS")}},
		Count:   total(4211, 3, true),
	}
	for i := range p.List.Rows {
		p.List.Rows[i].Cells = []query.Cell{{}}
		if i < 25 {
			p.List.Rows[i].Cells[0] = cell(int32(30 - i))
		}
		p.List.Rows[i].Undecided = p.List.Rows[i].Damaged
	}
	p.Bar.Live = false
	p.Bar.Explain = &query.Explain{
		Keys:          []string{"x-death"},
		Shapes:        41,
		ShapesMatched: 9,
		Skipped:       12340,
		Elapsed:       81 * time.Microsecond,
	}
	p.Chart.Filtered, p.Chart.Complete = true, false
	p.Facet = fixtureFacet()
	for _, v := range p.Facet.Values[:3] {
		p.Chart.Series = append(p.Chart.Series, query.Series{Text: v.Text, Total: v.Count})
	}
	for i := range p.Chart.Series {
		for _, n := range p.Chart.Counts {
			p.Chart.Series[i].Counts = append(p.Chart.Series[i].Counts, n>>(i+1))
		}
	}
	add("facet", p)

	p = base(address.State{
		From:  viewtest.Now.Add(-10 * time.Minute),
		To:    viewtest.Now.Add(-5 * time.Minute),
		Facet: "a b",
	})
	p.Chart.From, p.Chart.To = p.Links.State.From, p.Links.State.To
	p.Facet = &listing.Facet{
		Facet: query.Facet{Operand: "a b"},
		Error: &query.Error{Offset: 2, Msg: "Expected nothing more here."},
	}
	p.List = listing.List{Rows: rows(20), Total: 12340, Last: "12340", Count: total(20, 0, true)}
	p.Bar.Live = false
	add("range", p)

	add("message", open(address.State{}, facts.Message{
		Exchange:    []byte("amq.topic"),
		RoutingKey:  []byte("acme.orders.created"),
		ConsumerTag: []byte("headerglass-1f2e"),
		HasHeaders:  true,
		Redelivered: true,
		Headers:     viewtest.RichTable(),
		Properties:  viewtest.Properties(),
		Body: []byte(
			"{\n  \"order\": 8812,\n  \"tenant\": \"acme\",\n  \"lines\": [{\"sku\": \"A-1\", \"qty\": 2}],\n  \"note\": \"Grüße aus Köln\"\n}\n",
		),
	}))
	p = open(address.State{Full: true}, facts.Message{
		Exchange:   []byte("amq.topic"),
		RoutingKey: []byte("acme.orders.created"),
		HasHeaders: true,
		Headers:    viewtest.RichTable(),
		Properties: viewtest.Properties(),
		Body:       []byte("hello"),
	})
	add("full", p)
	add("damaged", open(address.State{}, facts.Message{
		RoutingKey:    []byte("orders"),
		HasHeaders:    true,
		Headers:       viewtest.DamagedTable(),
		Body:          []byte{0, 1, 2, 0xff, 0xfe, 'a', 'b', 'c'},
		BodySize:      70000,
		Properties:    viewtest.Properties()[:2],
		PropertiesErr: "the content header ends inside message_id, at byte 212 (0xd4)",
	}))
	add("forty", open(address.State{}, facts.Message{
		Exchange:   []byte("celery"),
		RoutingKey: []byte("celery"),
		HasHeaders: true,
		Headers: encode.Table(func(e *encode.Encoder) {
			for i := range 40 {
				e.Str(fmt.Sprintf("x-acme-header-%02d", i), strings.Repeat("value ", i%7+1))
			}
		}),
	}))
	add("long", open(address.State{}, facts.Message{
		Exchange:   []byte("ex"),
		RoutingKey: bytes.Repeat([]byte("order.created.eu."), 15),
		HasHeaders: true,
		Headers: encode.Table(func(e *encode.Encoder) {
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
	add("rtl", open(address.State{}, facts.Message{
		Exchange:   []byte("أوامر"),
		RoutingKey: []byte("طلبات.جديدة"),
		HasHeaders: true,
		Headers: encode.Table(func(e *encode.Encoder) {
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
	add("deep", open(address.State{}, facts.Message{
		RoutingKey: []byte("deep"),
		HasHeaders: true,
		Headers:    viewtest.DeepTable(31),
	}))
	add("array", open(address.State{}, facts.Message{
		RoutingKey: []byte("array"),
		HasHeaders: true,
		Headers:    viewtest.BigArray(120_000),
	}))
	at := 4 // the array is the first field
	add("zoomed", open(address.State{
		At:   at,
		Skip: 500,
	}, facts.Message{
		RoutingKey: []byte("array"),
		HasHeaders: true,
		Headers:    viewtest.BigArray(120_000),
	}))
	add("clients", open(address.State{Tab: address.TabReadings}, facts.Message{
		RoutingKey: []byte("k"),
		HasHeaders: true,
		Headers:    viewtest.RichTable(),
	}))
	add("bare", open(address.State{}, facts.Message{RoutingKey: []byte("bare")}))
	add("deaths", open(address.State{Tab: address.TabDeaths}, facts.Message{
		RoutingKey: []byte("orders.dead-letter"),
		HasHeaders: true,
		Headers:    viewtest.DeathsTable(),
	}))
	add("guesses", open(address.State{Packs: true}, facts.Message{
		RoutingKey: []byte("acme.orders"),
		HasHeaders: true,
		Headers:    viewtest.GuessesTable(),
		Body:       []byte(`{"order":8812,"total":12.50,"note":"Grüße","lines":[{"sku":"A-1","qty":2}]}`),
	}))
	for _, lang := range []string{"go", "rabbitmqadmin"} { // comments inside the code, and above it
		add("code-"+lang, open(address.State{Tab: address.TabCode, Lang: lang}, facts.Message{
			Exchange:   []byte("amq.topic"),
			RoutingKey: []byte("acme.orders.created"),
			HasHeaders: true,
			Headers:    viewtest.RichTable(),
			Properties: viewtest.Properties(),
			Body:       []byte("hello"),
		}))
	}
	all = append(
		all,
		diffFixture(base(address.State{})),
		inspectFixture(base(address.State{}), nil, ""),
		inspectFixture(base(address.State{}), viewtest.DamagedTable(), ""),
		captureFixture(base(address.State{})),
	)
	all[len(all)-2].name = "inspected"

	p = base(address.State{})
	p.Broker.Kept, p.Broker.Held = source.Kept{
		MaxBytes: p.Broker.Kept.MaxBytes,
		Bytes:    p.Broker.Kept.Bytes,
		Oldest:   p.Broker.Kept.Oldest,
	}, 0
	p.Keys, p.Chart = listing.KeyList{}, listing.Histogram{}
	add("empty", p)
	fresh := base(address.State{})
	clear(fresh.Chart.Counts[:110])
	fresh.Chart.Width = time.Second
	fresh.Broker.Mode, fresh.Broker.Name, fresh.Broker.Product = "demo", "demo", "headerglass demo"
	fresh.List = listing.List{Rows: rows(40), Total: 40, Last: "12340"}
	add("demo", fresh)
	busy := base(address.State{})
	busy.List = listing.List{Rows: rows(40), Total: 40, Last: "12340"}
	busy.Broker.State, busy.Broker.NextAttempt = source.Paused, viewtest.Now.Add(25*time.Second)
	busy.Broker.HeldSince, busy.Broker.GiveBackAt = viewtest.Now.Add(-6*time.Minute), viewtest.Now.Add(9*time.Minute)
	busy.Broker.Ready, busy.Broker.Consumers, busy.Broker.ObservedAt = 4211, 3, viewtest.Now.Add(-4*time.Second)
	busy.Broker.QueueType, busy.Broker.Policy, busy.Broker.DeliveryLimit = "quorum", "ha", 20
	busy.Broker.Reconnects, busy.Broker.Known = 2, 312
	busy.Broker.URL, busy.Broker.Management = "amqps://explorer@rabbit.internal:5671/orders", "The management API at rabbit.internal:15672 answered 401."
	add("shared", busy)
	p.Broker.State, p.Broker.Error = source.Reconnecting, "The broker at 10.1.2.3:5672 refused the connection."
	p.Broker.Since, p.Broker.NextAttempt = viewtest.Now.Add(-3*time.Minute), viewtest.Now.Add(4*time.Second)
	add("down", p)
	p = base(address.State{Q: "tennant = 'acme'"})
	p.List = listing.List{
		Empty: listing.EmptyNoMatch,
		Notes: []query.Note{{
			Text:     "No message that is kept has a header tennant.",
			Readings: []string{"tenant = 'acme'", "tenant-id = 'acme'"},
		}},
		Total: 12340,
	}
	p.Bar.Explain = &query.Explain{Keys: []string{"tennant"}, Shapes: 41, Skipped: 12340}
	add("nomatch", p)
	p = base(address.State{Q: "retries > AND x"})
	p.List = listing.List{Empty: listing.EmptyNoMatch, Total: 12340}
	p.Bar.Error = &query.Error{Offset: 10, End: 13, Msg: "expected a number, a text in single quotes or a header name"}
	add("badfilter", p)
	p = base(address.State{})
	p.List = listing.List{Rows: rows(60), Older: "12280", Total: 12340, Last: "12340"}
	p.Problem = &kit.Problem{
		Status: 410,
		Title:  "Evicted",
		Msg:    "Message 17 was kept once and has made way for newer ones.",
		Hint:   "Raise --memory to keep more; 12\u202f340 messages since 11:03 fit into 256 MiB.",
		Action: "Newest messages",
		URL:    "/",
	}
	add("evicted", p)
	p = base(address.State{})
	p.Problem = &kit.Problem{
		Status: 404,
		Title:  "No such page",
		Msg:    "There is nothing at this address.",
		Action: "To the messages",
		URL:    "/",
	}
	all = append(all, fixture{name: "error", page: p, failed: true})
	return all
}

func fixtureRow(r *rand.Rand, seq uint64, at time.Time) listing.Row {
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
	row := listing.Row{
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

// total is a count of matches.
func total(matched, damaged uint64, complete bool) *query.Count {
	return &query.Count{Matched: matched, Complete: complete, Explain: query.Explain{Damaged: damaged}}
}

// cell is what a message has in a column: a text or a number.
func cell(v any) query.Cell {
	table := encode.Table(func(e *encode.Encoder) {
		switch v := v.(type) {
		case string:
			e.Str("", v)
		case int32:
			e.Int32("", v)
		}
	})
	s := fieldtable.View(table, fieldtable.Lenient()).Scan()
	s.Next()
	value := s.Field().Value
	return query.Cell{Set: true, Value: value, Text: value.AppendText(nil)}
}

func fixtureKeys() listing.KeyList {
	k := listing.KeyList{Messages: 12340, More: 12, Damaged: 3, Values: true, Active: map[string]bool{"retries": true}}
	for i, name := range []string{
		"tenant", "x-death", "traceparent", "retries", "x-first-death-exchange", "x-first-death-queue", "x-first-death-reason", "id", "task", "lang",
		"NServiceBus.MessageId", "NServiceBus.EnclosedMessageTypes", "__TypeId__", "content-type", "MT-Activity-Id", "x-opt-to", "priority", "<b>bold</b>", "a\u202eb", "",
	} {
		key := archive.KeyCount{
			Key:   name,
			Count: uint64(12000 / (i + 1)),
			Tags:  map[byte]uint64{"SAFSISTtxl"[i%10]: uint64(11000 / (i + 1))},
		}
		if name == "retries" {
			key.Tags = map[byte]uint64{'I': 2900, 'S': 100}
		}
		k.Keys = append(k.Keys, key)
	}
	return k
}

func fixtureChart(r *rand.Rand) listing.Histogram {
	h := query.Histogram{Width: 10 * time.Second, Complete: true}
	h.Start = viewtest.Now.Add(-120 * h.Width)
	for i := range 120 {
		n := uint64(40 + r.Intn(30))
		if i > 70 && i < 84 {
			n = uint64(r.Intn(4))
		}
		if i > 100 {
			n += uint64(i)
		}
		h.Counts = append(h.Counts, n)
	}
	return listing.Histogram{Histogram: h}
}

func fixtureFacet() *listing.Facet {
	f := &listing.Facet{Kept: 12340, Facet: query.Facet{
		Operand: "tenant",
		Tags:    map[byte]uint64{'S': 3980, 'I': 120},
		Matched: 4211,
		With:    4100,
		Other:   260,
		Bounded: true,
		Explain: query.Explain{Scanned: 9900},
	}}
	for i, text := range []string{"acme", "globex", "<b>initech</b>", "", "umbrella\u202egro", strings.Repeat("very long ", 20), "42"} {
		v := query.FacetValue{
			Text:  text,
			Tag:   'S',
			Kind:  fieldtable.KindLongStr,
			Count: uint64(2000 / (i + 1)),
			Cut:   i == 5,
		}
		if i == 6 {
			v.Tag, v.Kind = 'I', fieldtable.KindInt32
		}
		f.Values = append(f.Values, v)
	}
	return f
}

func fixtureExports() (forms []listing.ExportForm) {
	for _, f := range export.Formats() {
		forms = append(forms, listing.ExportForm{Extension: f.Extension, Label: f.Label, Use: f.Use})
	}
	return forms
}
