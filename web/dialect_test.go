package web

import (
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/source"
)

// TestDialectFollowsTheProduct: timestamps of Qpid Broker-J are in milliseconds, unless a dialect
// was chosen.
func TestDialectFollowsTheProduct(t *testing.T) {
	for _, tt := range []struct {
		name, product string
		chosen        *fieldtable.Dialect
		path, want    string
	}{
		{"Qpid", source.BrokerJ, nil, "/api/messages/1", `"dialect":"qpid-java"`},
		{"Qpid's time", source.BrokerJ, nil, "/api/messages/1", `2023-11-14T22:13:20.123Z`},
		{"Qpid's time in a filter", source.BrokerJ, nil, "/api/messages?q=sent<'2024-01-01'", `"seq":1`},
		{"Qpid, one chosen", source.BrokerJ, fieldtable.Lenient(), "/api/messages/1", `"dialect":"lenient"`},
		{"Qpid, one asked for", source.BrokerJ, nil, "/api/messages/1?dialect=rabbitmq", `"dialect":"rabbitmq"`},
		{"RabbitMQ", source.RabbitMQ, nil, "/api/messages/1", `"dialect":"lenient"`},
		{"not known yet", "", nil, "/api/messages/1", `"dialect":"lenient"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, func(c *Config, _ *archive.Config) {
				c.Dialect = tt.chosen
				status := source.Status{Mode: source.Peek, Product: tt.product}
				c.Sources[0].Status = func() source.Status { return status }
			})
			f.add(message{
				key:     "k",
				headers: encode.Table(func(e *encode.Encoder) { e.Timestamp("sent", 1700000000123) }),
			})
			f.get(tt.path).wantText(tt.want)
		})
	}
}
