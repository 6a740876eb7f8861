package opened

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/viewtest"
)

func TestPackOf(t *testing.T) {
	for name, want := range map[string]Pack{
		"x-death":                             PackRabbitMQ,
		"x-first-death-queue":                 PackRabbitMQ,
		"x-opt-to":                            PackRabbitMQ,
		"CC":                                  PackRabbitMQ,
		"x-stream-offset":                     PackRabbitMQ,
		"MT-Reason":                           PackMassTransit,
		"NServiceBus.MessageId":               PackNServiceBus,
		"$.diagnostics.originating.hostid":    PackNServiceBus,
		"__TypeId__":                          PackSpring,
		"spring_returned_message_correlation": PackSpring,
		"x-exception-stacktrace":              PackSpring,
		"x-original-routingKey":               PackSpring,
		"traceparent":                         PackTracing,
		"X-B3-TraceId":                        PackTracing,
		"baggage":                             PackTracing,
		"x-tenant":                            PackOther,
		"task":                                PackOther,
		"":                                    PackOther,
		"mt-reason":                           PackOther,
	} {
		if got := packOf([]byte(name), false); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
	if packOf([]byte("task"), true) != PackCelery || packOf([]byte("tenant"), true) != PackOther {
		t.Error("Celery's names are not told from others")
	}
	if !isCelery(fieldtable.View(specimens.Celery(rand.New(rand.NewSource(1))), fieldtable.Lenient()).Scan()) {
		t.Error("a task of Celery's is not recognised")
	}
}

func TestOrderByPack(t *testing.T) {
	names := func(q address.State) []string {
		table := viewtest.GuessesTable()
		tree := BuildTree(table, fieldtable.View(table, fieldtable.Lenient()), nil, TreeOptions{
			Links: address.Links{State: q},
			Key:   address.Key{Seq: 1},
		})
		var got []string
		for _, n := range tree.Nodes {
			if n.Kind == NodePack {
				got = append(got, fmt.Sprintf("%s %d:", n.Pack, n.Children))
			} else {
				got = append(got, n.Path)
			}
		}
		return got
	}
	wire := []string{
		"traceparent",
		"tenant",
		"MT-Fault-Timestamp",
		`"NServiceBus.MessageId"`,
		`"__TypeId__"`,
		"x-delivery-count",
		"tracestate",
		"payload",
		"made",
		"b3",
		"callback",
	}
	if got := names(address.State{}); !slices.Equal(got, wire) {
		t.Errorf("by default %q", got)
	}
	want := []string{
		"RabbitMQ 1:", "x-delivery-count", "MassTransit 1:", "MT-Fault-Timestamp", "NServiceBus 1:", `"NServiceBus.MessageId"`, "Spring 1:", `"__TypeId__"`,
		"Tracing 3:", "traceparent", "tracestate", "b3", "Other 4:", "tenant", "payload", "made", "callback",
	}
	if got := names(address.State{Packs: true}); !slices.Equal(got, want) {
		t.Errorf("by pack %q", got)
	}
}
