package views

import (
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/fttest"
)

// deathsTable has an x-death with everything that can be odd about one.
func deathsTable() []byte {
	return fttest.Table(func(e *fttest.Encoder) {
		e.Str("tenant", "acme")
		e.Array("x-death", func(e *fttest.Encoder) {
			e.Nested("", func(e *fttest.Encoder) {
				e.Int64("count", 3)
				e.Str("reason", "expired")
				e.Str("queue", "orders.retry")
				e.Timestamp("time", 1795960000)
				e.Str("exchange", "")
				e.Array("routing-keys", func(e *fttest.Encoder) {
					e.Str("", "orders.retry")
					e.Str("", "<b>cc</b>")
				})
				e.Str("original-expiration", "30000")
			})
			e.Nested("", func(e *fttest.Encoder) {
				e.Int32("count", 1)
				e.Str("reason", "rejected")
				e.Str("queue", "orders")
				e.Timestamp("time", 1795950000)
				e.Str("exchange", "amq.topic")
				e.Array("routing-keys", func(e *fttest.Encoder) { e.Str("", "acme.orders.created") })
			})
			e.Str("", "no table")
			e.Nested("", func(e *fttest.Encoder) {
				e.Str("queue", "audit")
				e.Value("count", 'Z', []byte("?"))
			})
		})
	})
}

// guessesTable has headers of several senders and texts that look like something.
func guessesTable() []byte {
	return fttest.Table(func(e *fttest.Encoder) {
		e.Str("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
		e.Str("tenant", "acme")
		e.Str("MT-Fault-Timestamp", "2026-11-29T03:04:05.0000000Z")
		e.Str("NServiceBus.MessageId", "6f1c2d0e-8c1b-4d3e-9a53-ff7e0d2a91aa")
		e.Str("__TypeId__", "com.acme.Order")
		e.Int64("x-delivery-count", 2)
		e.Str("tracestate", "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7")
		e.Str("payload", `{"a":[1,2.50,{"b":"<i>\u202e</i>"}],"big":12345678901234567890}`)
		e.Str("made", "1795960942123")
		e.Str("b3", "80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-1-05e3ac9a4f6e3b90")
		e.Str("callback", "https://evil.example/?a=1")
	})
}

func diffMessages() []Message {
	message := func(seq uint64, m Message, write func(*fttest.Encoder)) Message {
		m.Seq, m.Received, m.HasHeaders, m.Headers = seq, fixtureNow.Add(
			-time.Duration(seq)*time.Second,
		), true, fttest.Table(
			write,
		)
		m.BodySize = uint64(len(m.Body))
		m.Exchange = []byte("amq.topic")
		return m
	}
	return []Message{
		message(17, Message{
			RoutingKey: []byte("acme.orders"),
			Body:       []byte("one"),
			Properties: fixtureProperties(),
		}, func(e *fttest.Encoder) {
			e.Str("tenant", "acme")
			e.Int32("retries", 5)
			e.Str("dup", "a")
			e.Str("dup", "b")
			e.Nested("ctx", func(e *fttest.Encoder) { e.Str("user", "u-1"); e.Bool("admin", false) })
			e.Array("path", func(e *fttest.Encoder) { e.Str("", "x"); e.Int64("", 1) })
			e.Void("none")
		}),
		message(19, Message{
			RoutingKey: []byte("acme.orders"),
			Body:       []byte("two"),
			Properties: fixtureProperties()[:3],
		}, func(e *fttest.Encoder) {
			e.Str("retries", "5")
			e.Str("tenant", "acme")
			e.Str("dup", "a")
			e.Nested("ctx", func(e *fttest.Encoder) { e.Str("user", "u-2"); e.Bool("admin", false) })
			e.Array("path", func(e *fttest.Encoder) { e.Str("", "x"); e.Int64("", 2) })
			e.Str("<script>", "\u202e")
			e.Void("none")
		}),
	}
}

func diffFixture(p Page) fixture {
	p.Title = "Compare"
	return fixture{
		name: "diff",
		page: p,
		draw: func(p Page) templ.Component { return DiffPage(p.Frame, BuildDiff(diffMessages(), nil, p.Links)) },
	}
}

func inspectFixture(p Page, data []byte, problem string) fixture {
	f := InspectForm{MaxBytes: 1 << 20, Error: problem}
	for _, d := range fieldtable.Dialects() {
		f.Dialects = append(f.Dialects, DialectOption{Name: d.Name(), Description: d.Description()})
	}
	if data != nil {
		p.Links.Pasted = "z=abc"
		in := BuildInspector(Message{Headers: data, HasHeaders: true}, InspectorOptions{
			Links: p.Links,
			Now:   fixtureNow,
			Pasted: &Pasted{
				Size:     len(data),
				As:       "field table",
				Other:    "content header",
				OtherURL: "/inspect?as=header&z=abc",
			},
		})
		f.Inspector = &in
	}
	return fixture{name: "inspect", page: p, draw: func(p Page) templ.Component { return InspectPage(p.Frame, f) }}
}

func captureFixture(p Page) fixture {
	found := &Found{
		More:  12,
		Notes: []string{"3 packets were clipped when they were captured; tcpdump -s 0 keeps them whole"},
	}
	for i := range 5 {
		found.Messages = append(found.Messages, FoundMessage{
			Received:   fixtureNow,
			Exchange:   []byte("amq.topic"),
			RoutingKey: []byte("acme.orders.<b>created"),
			Headers:    i,
			Size:       1 << (4 * i),
			URL:        "/inspect?z=abc",
		})
	}
	found.Messages[4].URL, found.Messages[0].Exchange, found.Messages[1].RoutingKey = "", nil, []byte(
		strings.Repeat("a long key.", 20),
	)
	return fixture{
		name: "capture",
		page: p,
		draw: func(p Page) templ.Component {
			return InspectPage(p.Frame, InspectForm{MaxBytes: 1 << 20, Found: found})
		},
	}
}
