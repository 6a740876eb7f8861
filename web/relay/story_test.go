package relay

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// play sends what each side of a connection says, in turn: "c" before what the client sends, "s"
// before what the server does. It returns the relay once all of it has been read.
func play(t *testing.T, turns ...any) *running {
	t.Helper()
	broker := listen(t)
	r := run(t, Config{Address: broker.Addr().String()})
	client, server := pair(t, r, broker)
	from, to := client, server
	for _, turn := range turns {
		switch v := turn.(type) {
		case string:
			from, to = client, server
			if v == "s" {
				from, to = server, client
			}
		case []byte:
			send(t, from, v)
			expect(t, to, v)
		}
	}
	client.Close()
	server.Close()
	until(t, "the connection is over", func() bool { return r.Status().Relay.Open == 0 })
	return r
}

// greeting is how a connection begins.
func greeting(mechanism string, response []byte) []any {
	start := args(uint8(0), uint8(9), encode.Table(func(e *encode.Encoder) {
		e.Str("product", "RabbitMQ")
		e.Str("version", "4.0.5")
	}), long("PLAIN AMQPLAIN"), long("en_US"))
	startOk := args(encode.Table(func(e *encode.Encoder) {
		e.Str("product", "pika")
		e.Str("version", "1.3.2")
		e.Str("connection_name", "shop")
	}), mechanism, long(string(response)), "en_US")
	const tune, tuneOk = 30, 31
	limits := args(uint16(2047), uint16(2), uint16(0), uint16(60))
	connection := func(method uint16, a []byte) []byte {
		return wire.AppendMethod(nil, 0, wire.ClassConnection, method, a)
	}
	return []any{
		"c", []byte(opening),
		"s", connection(wire.MethodConnectionStart, start),
		"c", connection(wire.MethodConnectionStartOk, startOk),
		"s", connection(tune, limits),
		"c", connection(tuneOk, limits), connection(wire.MethodConnectionOpen, args("shop", "", uint8(0))),
		"s", connection(wire.MethodConnectionOpenOk, args("")),
		"c", wire.AppendMethod(nil, 1, wire.ClassChannel, wire.MethodChannelOpen, args("")),
	}
}

func plainResponse() []byte { return []byte("\x00app\x00s3cret") }

var confirmSelect = wire.AppendMethod(nil, 1, wire.ClassConfirm, wire.MethodConfirmSelect, []byte{0})

// passages are those of every message, in order.
func passages(t *testing.T, r *running) (all []*source.Passage) {
	t.Helper()
	for m := range r.cfg.Archive.Snapshot().Forward(0) {
		p := r.Passage(m.Seq())
		if p == nil {
			t.Fatalf("nothing is known of message %d", m.Seq())
		}
		all = append(all, p)
	}
	return all
}

func TestWhatIsKnownOfAConnection(t *testing.T) {
	amqplain := encode.Table(func(e *encode.Encoder) {
		e.Str("LOGIN", "app")
		e.Str("PASSWORD", "s3cret")
	})[4:]
	for _, tt := range []struct {
		mechanism string
		response  []byte
		user      string
	}{
		{"PLAIN", plainResponse(), "app"},
		{"PLAIN", []byte("another\x00app\x00s3cret"), "app"},
		{"PLAIN", []byte("s3cret"), ""},
		{"AMQPLAIN", amqplain, "app"},
		{"AMQPLAIN", []byte("s3cret"), ""},
		{"EXTERNAL", nil, ""},
		{"SCRAM-SHA-256", []byte("n,,n=s3cret"), ""},
	} {
		t.Run(tt.mechanism+" "+tt.user, func(t *testing.T) {
			r := play(t, append(greeting(tt.mechanism, tt.response), "c", published("e", "k", 1, nil, nil))...)
			all := passages(t, r)
			if len(all) != 1 {
				t.Fatalf("%d messages", len(all))
			}
			got := *all[0]
			if !strings.HasPrefix(got.Connection.Peer, "127.0.0.1:") {
				t.Errorf("the peer is %q", got.Connection.Peer)
			}
			got.Connection.Peer = ""
			want := source.Connection{
				ID: 1, User: tt.user, Mechanism: tt.mechanism, Product: "pika", Version: "1.3.2", Name: "shop", VHost: "shop",
			}
			if got.Connection != want || got.Channel != 1 || !got.Mandatory || got.Immediate || got.Confirms {
				t.Errorf("%+v", got)
			}
			s := r.Status()
			if s.Product != "RabbitMQ" || s.Version != "4.0.5" {
				t.Errorf("the broker is %q %q", s.Product, s.Version)
			}
		})
	}
}

// What came of a publish is what the broker said of it.
func TestOutcomesOfPublishes(t *testing.T) {
	ack := func(method uint16, tag uint64, multiple uint8) []byte { return basic(1, method, args(tag, multiple)) }
	send := func(key string, bits uint8) []byte { return published("e", key, bits, nil, []byte(key)) }
	back := content(1, wire.MethodBasicReturn, args(uint16(312), "NO_ROUTE", "e", "d"), nil, []byte("d"))
	channelClose := args(uint16(404), "NOT_FOUND - no exchange 'x'", uint16(60), uint16(40))
	turns := append(greeting("PLAIN", plainResponse()),
		"c", send("unasked", 0), confirmSelect, send("a", 0), send("b", 0), send("c", 0), send("d", 1), send("e", 0),
		send("f", 0), send("g", 0),
		"s", ack(wire.MethodBasicAck, 2, 1), ack(wire.MethodBasicNack, 3, 0), back, ack(wire.MethodBasicAck, 4, 0),
		ack(wire.MethodBasicAck, 6, 0),
		wire.AppendMethod(nil, 1, wire.ClassChannel, wire.MethodChannelClose, channelClose),
	)
	r := play(t, turns...)
	var got []string
	for _, p := range passages(t, r) {
		got = append(got, fmt.Sprintf("%s %s %d %s", p.Method, p.Outcome, p.Code, p.Text))
	}
	want := []string{
		"publish  0 ",
		"publish confirmed 0 ",
		"publish confirmed 0 ",
		"publish refused 0 ",
		"publish returned 312 NO_ROUTE",
		"publish closed 404 NOT_FOUND - no exchange 'x'",
		"publish confirmed 0 ",
		"publish closed 404 NOT_FOUND - no exchange 'x'",
		"return  312 NO_ROUTE",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	all := passages(t, r)
	if !slices.Equal(all[4].Returned, []uint64{9}) || !slices.Equal(all[8].Published, []uint64{5}) {
		t.Errorf("returned as %v, published as %v", all[4].Returned, all[8].Published)
	}
	// Publishes are numbered as the broker's confirms number them.
	for i, tag := range []uint64{0, 1, 2, 3, 4, 5, 6, 7} {
		if m, err := r.cfg.Archive.Snapshot().Get(uint64(i + 1)); err != nil || m.DeliveryTag() != tag {
			t.Errorf("message %d has tag %d, %v", i+1, m.DeliveryTag(), err)
		}
	}
}

// What came of a delivery is what its consumer said of it.
func TestOutcomesOfDeliveries(t *testing.T) {
	consume := func(queue, tag string, bits uint8) []byte {
		return basic(1, wire.MethodBasicConsume, args(uint16(0), queue, tag, bits, []byte{0, 0, 0, 0}))
	}
	deliver := func(consumer string, tag uint64) []byte {
		return content(1, wire.MethodBasicDeliver, args(consumer, tag, uint8(0), "e", "k"), nil, nil)
	}
	turns := append(greeting("PLAIN", plainResponse()),
		"c", consume("orders", "", 0), consume("audit", "watcher", 2),
		"s", basic(1, wire.MethodBasicConsumeOk, args("ctag-1")), basic(1, wire.MethodBasicConsumeOk, args("watcher")),
		deliver("ctag-1", 1), deliver("watcher", 2), deliver("ctag-1", 3), deliver("ctag-1", 4), deliver("ctag-1", 5),
		deliver("ctag-1", 6),
		"c", basic(1, wire.MethodBasicAck, args(uint64(3), uint8(1))), basic(1, wire.MethodBasicReject, args(uint64(5), uint8(1))),
		basic(1, wire.MethodBasicNack, args(uint64(4), uint8(0))),
		basic(1, wire.MethodBasicGet, args(uint16(0), "gone", uint8(0))),
		basic(1, wire.MethodBasicGet, args(uint16(0), "invoices", uint8(0))),
		"s", basic(1, wire.MethodBasicGetEmpty, args("")),
		content(1, wire.MethodBasicGetOk, args(uint64(7), uint8(0), "e", "k", []byte{0, 0, 0, 0}), nil, nil),
		"c", basic(1, wire.MethodBasicRecover, args(uint8(1))),
	)
	var got []string
	for _, p := range passages(t, play(t, turns...)) {
		got = append(got, fmt.Sprintf("%s %s %s %t", p.Method, p.Queue, p.Outcome, p.NoAck))
	}
	want := []string{
		"deliver orders acknowledged false",
		"deliver audit  true",
		"deliver orders acknowledged false",
		"deliver orders rejected false",
		"deliver orders requeued false",
		"deliver orders requeued false",
		"get-ok invoices requeued false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A message is found on its other ways by its message id, or by its body.
func TestPublishedAgainstDelivered(t *testing.T) {
	id := func(s string) wire.Property { return wire.Property{Name: "message_id", Raw: []byte(s)} }
	deliver := func(key string, table, body []byte, properties ...wire.Property) []byte {
		return content(1, wire.MethodBasicDeliver, args("ctag", uint64(1), uint8(0), "e", key), table, body, properties...)
	}
	turns := append(greeting("PLAIN", plainResponse()),
		"c",
		published("e", "a", 0, tenants("a", "b"), []byte("same"), id("1")), // 1
		published("e", "a", 0, tenants("a", "b"), []byte("same"), id("2")), // 2
		published("e", "b", 0, tenants("x"), []byte("one")),                // 3
		published("e", "b", 0, tenants("y"), []byte("one")),                // 4
		published("e", "c", 0, nil, []byte("nobody")),                      // 5
		published("e", "d", 0, nil, []byte("one")),                         // 6
		"s",
		deliver("a", tenants("b"), []byte("same"), id("2")),    // 7
		deliver("b", tenants("x"), []byte("one")),              // 8
		deliver("b", tenants("y"), []byte("one")),              // 9
		deliver("dead", tenants("a"), []byte("same"), id("1")), // 10
		deliver("d", nil, []byte("one")),                       // 11
	)
	r := play(t, turns...)
	for _, tt := range []struct{ seq, other uint64 }{
		{1, 10}, {2, 7}, {3, 8}, {4, 9}, {5, 0}, {6, 11}, {7, 2}, {8, 3}, {9, 4}, {10, 1}, {11, 6},
	} {
		t.Run(fmt.Sprint(tt.seq), func(t *testing.T) {
			p := r.Passage(tt.seq)
			others := append(slices.Clone(p.Published), p.Delivered...)
			if tt.other == 0 && len(others) == 0 {
				return
			}
			if len(others) == 0 || others[0] != tt.other {
				t.Errorf("the other is %v, want %d", others, tt.other)
			}
		})
	}
}

// Passwords are in nothing that is kept.
func TestSecretsAreNotKept(t *testing.T) {
	r := play(t, append(greeting("PLAIN", plainResponse()), "c", published("e", "k", 1, nil, nil))...)
	r.stop()
	for range 100 {
		b := r.queue.small.Get().(*buffer)
		if strings.Contains(string(b.b), "s3cret") {
			t.Fatal("a buffer still has the password")
		}
	}
	if said := fmt.Sprintf("%+v %+v", r.Status(), passages(t, r)[0]); strings.Contains(said, "s3cret") {
		t.Error(said)
	}
}

// The ledger forgets what the archive has no more, and is bounded.
func TestLedgerIsBounded(t *testing.T) {
	oldest := uint64(0)
	l := newLedger(3 * lineBytes * pageLines)
	l.oldest = func() uint64 { return oldest }
	for seq := uint64(1); seq <= 5*pageLines; seq++ {
		l.add(seq, line{key: seq})
	}
	if len(l.pages) != 3 || l.line(2*pageLines) != nil || l.line(2*pageLines+1).key != 2*pageLines+1 {
		t.Errorf("%d pages from %d", len(l.pages), l.first)
	}
	if l.line(0) != nil || l.line(5*pageLines+1) != nil || l.line(5*pageLines).key != 5*pageLines {
		t.Error("the ends are wrong")
	}
	oldest = 4*pageLines + 7
	l.add(5*pageLines+1, line{})
	if len(l.pages) != 2 || l.first != 4*pageLines+1 {
		t.Errorf("%d pages from %d", len(l.pages), l.first)
	}
}
