package query

import (
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// Where a message comes from is a property like any other, absent where it is not known.
func TestOrigin(t *testing.T) {
	for _, tt := range []struct {
		filter string
		origin archive.Origin
		want   Verdict
	}{
		{"$source = dlq", archive.Origin{Source: "dlq", Queue: "orders.dlq"}, Yes},
		{"$queue = 'orders.dlq'", archive.Origin{Source: "dlq", Queue: "orders.dlq"}, Yes},
		{"$queue LIKE 'orders.%' AND NOT $source = orders", archive.Origin{Source: "dlq", Queue: "orders.dlq"}, Yes},
		{"$source IN (orders, retry)", archive.Origin{Source: "dlq"}, No},
		{"$queue", archive.Origin{Source: "copy"}, No},
		{"$source", archive.Origin{}, No},
		{"$source = ''", archive.Origin{}, Unknown},
	} {
		t.Run(tt.filter, func(t *testing.T) {
			a := archive.New(archive.Config{Origin: tt.origin})
			w := a.Writer()
			w.Begin(&wire.Delivery{Header: wire.AppendContentHeaderPayload(nil, 0)}, time.Unix(1, 0))
			w.Commit()
			m, err := a.Snapshot().Get(1)
			if err != nil {
				t.Fatal(err)
			}
			f, err := Compile(tt.filter)
			if err != nil {
				t.Fatal(err)
			}
			var s Scratch
			if got := f.Match(m, nil, &s); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
			if m.Origin() != a.Origin() || m.Clone().Origin() != a.Origin() {
				t.Error("the message has another origin")
			}
		})
	}
}
