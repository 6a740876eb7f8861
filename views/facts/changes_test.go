package facts

import (
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

func TestChanges(t *testing.T) {
	type enc = *encode.Encoder
	table := func(write func(enc)) Message { return Message{Headers: encode.Table(write), HasHeaders: true} }
	rewritten := func(e enc) { e.Int64("a", 5); e.Str("tenant", "acme") }
	for _, tt := range []struct {
		name                 string
		published, delivered Message
		want                 string
	}{
		{"nothing", table(rewritten), table(rewritten), ""},
		{"as RabbitMQ 4 writes it", table(func(e enc) { e.Str("tenant", "acme"); e.Str("tenant", "b"); e.Int64L("a", 5) }),
			table(rewritten), "sorted, second `tenant` dropped, `L` became `l`"},
		{"the first of two", table(func(e enc) { e.Str("t", "a"); e.Str("t", "b") }), table(func(e enc) { e.Str("t", "b") }),
			"first `t` dropped"},
		{"order", table(func(e enc) { e.Void("a"); e.Void("b"); e.Void("c") }),
			table(func(e enc) { e.Void("c"); e.Void("a"); e.Void("b") }), "in another order"},
		{"tags", table(func(e enc) { e.Int64L("a", 1); e.Int64L("b", 2) }), table(func(e enc) { e.Int64("a", 1); e.Int64("b", 2) }),
			"`L` became `l` 2 times"},
		{"a boolean", table(func(e enc) { e.Value("a", 't', []byte{2}) }), table(func(e enc) { e.Bool("a", true) }),
			"`a` written otherwise, with the same meaning"},
		{"a value", table(func(e enc) { e.Str("a", "x") }), table(func(e enc) { e.Str("a", "y") }), "`a` changed"},
		{"nested", table(func(e enc) { e.Nested("n", func(e enc) { e.Int64L("x", 1); e.Void("y") }) }),
			table(func(e enc) { e.Nested("n", func(e enc) { e.Int64("x", 1) }) }), "`\"n\".y` dropped, `L` became `l`"},
		{"an array", table(func(e enc) { e.Array("n", func(e enc) { e.Str("", "x"); e.Str("", "y") }) }),
			table(func(e enc) { e.Array("n", func(e enc) { e.Str("", "x") }) }), "`n[1]` dropped"},
		{"added", Message{}, table(func(e enc) { e.Void("x-death") }), "`x-death` added"},
		{"no table", table(func(enc) {}), Message{}, "header table dropped"},
		{"a property", Message{Properties: []wire.Property{{Name: "expiration", Raw: []byte("5")}, {Name: "type", Raw: []byte("a")}}},
			Message{Properties: []wire.Property{{Name: "type", Raw: []byte("b")}, {Name: "app_id"}}},
			"property `expiration` dropped, property `type` changed, property `app_id` added"},
		{"another route", Message{Exchange: []byte("e"), RoutingKey: []byte("k")}, Message{RoutingKey: []byte("q")},
			"exchange `e` became ``, routing key `k` became `q`"},
		{"the body", Message{Body: []byte("a"), BodySize: 1}, Message{Body: []byte("b"), BodySize: 1}, "body changed"},
		{"less of the body kept", Message{Body: []byte("ab"), BodySize: 5}, Message{Body: []byte("abc"), BodySize: 5}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said []string
			for _, c := range Changes(tt.published, tt.delivered, fieldtable.RabbitMQ()) {
				said = append(said, c.String())
			}
			if got := strings.Join(said, ", "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
