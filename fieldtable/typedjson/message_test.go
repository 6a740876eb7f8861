package typedjson_test

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"reflect"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/fieldtable/typedjson"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// A message that is written and read back is the same message: the delivery, its time and its body,
// whatever octets are in it. Written once more, it is the same text.
func TestMessagesRoundTrip(t *testing.T) {
	r := rand.New(rand.NewSource(31))
	octets := func(most int) []byte {
		b := make([]byte, r.Intn(most+1))
		if r.Intn(2) == 0 {
			for i := range b {
				b[i] = "az<>&\"\\\n"[r.Intn(8)]
			}
			return b
		}
		r.Read(b)
		return b
	}
	all := specimens.Specimens()
	for n := range 2000 {
		props := []wire.Property{
			{Name: "content_type", Raw: octets(20)},
			{Name: "headers", Raw: all[n%len(all)].Encoded},
			{Name: "priority", Raw: []byte{byte(r.Intn(256))}},
			{Name: "timestamp", Raw: append(make([]byte, 3), 0, 0xff, 0, 0, 1)},
		}
		header := wire.AppendContentHeaderPayload(nil, uint64(r.Intn(9)), props[:r.Intn(len(props)+1)]...)
		if r.Intn(4) == 0 {
			header = header[:14+r.Intn(len(header)-13)] // damaged
		}
		body := octets(40)
		want := wire.Delivery{
			DeliveryTag: r.Uint64(),
			Redelivered: r.Intn(2) == 0,
			ConsumerTag: octets(10),
			Exchange:    octets(10),
			RoutingKey:  octets(255),
			Header:      header,
			BodySize:    uint64(len(body) + r.Intn(3)),
		}
		received := time.Unix(r.Int63n(1<<32), r.Int63n(1e9)).UTC()
		written := typedjson.AppendWhole(nil, stored(t, &want, received, body), fieldtable.Lenient())
		var m typedjson.Message
		if err := json.Unmarshal(written, &m); err != nil {
			t.Fatalf("%v in %s", err, written)
		}
		if got := m.Delivery(); !reflect.DeepEqual(got, want) || !m.Received.Equal(received) ||
			!bytes.Equal(m.Body, body) {
			t.Fatalf("%s\nis %+v, want %+v", written, got, want)
		}
		got := m.Delivery()
		again := typedjson.AppendWhole(nil, stored(t, &got, m.Received, m.Body), fieldtable.Lenient())
		if !bytes.Equal(again, written) {
			t.Fatalf("%s\nis written again as\n%s", written, again)
		}
	}
}

func stored(t *testing.T, d *wire.Delivery, received time.Time, body []byte) archive.Message {
	t.Helper()
	a := archive.New(archive.Config{MaxBytes: 4 << 20})
	w := a.Writer()
	w.Begin(d, received)
	w.Body(body)
	w.Commit()
	m, err := a.Snapshot().Get(1)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
