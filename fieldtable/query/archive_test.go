package query

import (
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// testMessage is a delivery to be archived; table nil is no headers property.
type testMessage struct {
	exchange, key string
	redelivered   bool
	received      time.Time
	bodySize      uint64
	body          []byte // what is kept
	props         []wire.Property
	table         []byte
}

func appendMessage(w *archive.Writer, m *testMessage) uint64 {
	props := m.props
	if m.table != nil {
		props = append(props[:len(props):len(props)], wire.Property{Name: "headers", Raw: m.table})
	}
	w.Begin(&wire.Delivery{
		DeliveryTag: 7,
		ConsumerTag: []byte("ctag"),
		Exchange:    []byte(m.exchange),
		RoutingKey:  []byte(m.key),
		Redelivered: m.redelivered,
		Header:      wire.AppendContentHeaderPayload(nil, m.bodySize, props...),
		BodySize:    m.bodySize,
	}, m.received)
	w.Body(m.body)
	return w.Commit()
}

func archived(cfg archive.Config, messages ...testMessage) archive.Snapshot {
	a := archive.New(cfg)
	for i := range messages {
		appendMessage(a.Writer(), &messages[i])
	}
	return a.Snapshot()
}

// one archives a message with this header table.
func one(t testing.TB, table []byte) archive.Message {
	t.Helper()
	m, err := archived(archive.Config{MaxBytes: 1 << 20}, testMessage{table: table}).Get(1)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func compile(t testing.TB, src string) *Filter {
	t.Helper()
	q, err := Compile(src)
	if err != nil {
		t.Fatalf("Compile(%q): %v", src, err)
	}
	return q
}

// verdictCase is a filter and what it says about the table at hand.
type verdictCase struct {
	filter string
	want   Verdict
}

func checkVerdicts(t *testing.T, m archive.Message, cases []verdictCase) {
	t.Helper()
	var s Scratch
	for _, c := range cases {
		runCase(t, c.filter, func(t *testing.T) {
			if got := compile(t, c.filter).Match(m, nil, &s); got != c.want {
				t.Errorf("%s: %v, want %v", c.filter, got, c.want)
			}
		})
	}
}
