package specimens

import (
	"fmt"
	"math/rand"

	"github.com/headerglass/headerglass/fieldtable/encode"
)

// The tables of the benchmarks: what well-known software puts into headers. The same source gives
// the same octets, so that figures compare. Sizes are averages over many draws, in octets.

var (
	celeryTasks = []string{
		"shop.tasks.send_invoice",
		"shop.tasks.reindex_product",
		"mail.tasks.deliver",
		"billing.tasks.charge_card",
		"media.tasks.transcode_video",
	}
	deadQueues = []string{"orders", "payments.in", "invoices.retry", "shipments", "notifications.email"}
	eventTypes = []string{
		"com.acme.orders.events.OrderPlaced",
		"com.acme.orders.events.OrderCancelled",
		"com.acme.billing.PaymentCaptured",
		"com.acme.shipping.ParcelDispatched",
	}
	sources = []string{"web", "batch", "api"}
	reasons = []string{"rejected", "expired", "maxlen"}
)

// Celery draws a task message's headers: 18 keys.
func Celery(r *rand.Rand) []byte {
	return encode.Table(func(e *encode.Encoder) {
		id := uuid(r)
		e.Str("lang", "py")
		e.Str("task", pick(r, celeryTasks))
		e.Str("id", id)
		for _, key := range []string{"shadow", "eta", "expires", "group", "group_index"} {
			e.Void(key)
		}
		e.Int32("retries", int32(r.Intn(4)))
		e.Array("timelimit", func(e *encode.Encoder) {
			e.Void("")
			e.Void("")
		})
		e.Str("root_id", id)
		e.Str("parent_id", uuid(r))
		e.Str("argsrepr", fmt.Sprintf("(%d, 'customer-%d')", r.Intn(1e6), r.Intn(1e5)))
		e.Str("kwargsrepr", fmt.Sprintf("{'tenant': '%s', 'dry_run': False}", tenant(r)))
		e.Str("origin", fmt.Sprintf("gen%d@worker-%d", r.Intn(90000), r.Intn(40)))
		e.Bool("ignore_result", r.Intn(2) == 0)
		e.Void("stamped_headers")
		e.Nested("stamps", func(*encode.Encoder) {})
	})
}

// XDeath draws the headers of a message that was dead-lettered one to three times.
func XDeath(r *rand.Rand) []byte {
	deaths := 1 + r.Intn(3)
	queue := pick(r, deadQueues)
	return encode.Table(func(e *encode.Encoder) {
		e.Array("x-death", func(e *encode.Encoder) {
			for range deaths {
				e.Nested("", func(e *encode.Encoder) {
					e.Int64("count", int64(1+r.Intn(9)))
					e.Str("reason", pick(r, reasons))
					e.Str("queue", queue)
					e.Timestamp("time", 1764000000+int64(r.Intn(1e6)))
					e.Str("exchange", "amq.topic")
					e.Array("routing-keys", func(e *encode.Encoder) { e.Str("", "acme."+queue+".created") })
					if r.Intn(3) == 0 {
						e.Str("original-expiration", "60000")
					}
				})
			}
		})
		e.Str("x-first-death-exchange", "amq.topic")
		e.Str("x-first-death-queue", queue)
		e.Str("x-first-death-reason", "rejected")
		e.Str("tenant", tenant(r))
		e.Str("x-exception-message", "timeout calling upstream after 30s")
		e.Int32("x-retry", int32(r.Intn(5)))
	})
}

// NServiceBus draws the headers of NServiceBus with MassTransit's beside them: 20 keys, all text.
func NServiceBus(r *rand.Rand) []byte {
	return encode.Table(func(e *encode.Encoder) {
		id := uuid(r)
		e.Str("NServiceBus.MessageId", id)
		e.Str("NServiceBus.MessageIntent", "Publish")
		e.Str("NServiceBus.ConversationId", uuid(r))
		e.Str("NServiceBus.CorrelationId", id)
		e.Str("NServiceBus.OriginatingMachine", fmt.Sprintf("WEB-%02d", r.Intn(30)))
		e.Str("NServiceBus.OriginatingEndpoint", "Acme.Sales.Web")
		e.Str("$.diagnostics.originating.hostid", hexDigits(r, 32))
		e.Str("NServiceBus.ContentType", "application/json")
		e.Str(
			"NServiceBus.EnclosedMessageTypes",
			pick(r, eventTypes)+", Acme.Contracts, Version=4.2.0.0, Culture=neutral, PublicKeyToken=null",
		)
		e.Str("NServiceBus.Version", "8.1.6")
		e.Str("NServiceBus.TimeSent", "2026-11-29 20:58:27:123456 Z")
		e.Str("NServiceBus.ReplyToAddress", "Acme.Sales.Web")
		e.Str("NServiceBus.Transport.RabbitMQ.ConfirmationId", fmt.Sprint(r.Intn(1e6)))
		e.Str("NServiceBus.NonDurableMessage", "False")
		e.Str("NServiceBus.RelatedTo", uuid(r))
		e.Str("MT-Activity-Id", "00-"+hexDigits(r, 32)+"-"+hexDigits(r, 16)+"-00")
		e.Str("MT-Host-MachineName", fmt.Sprintf("WEB-%02d", r.Intn(30)))
		e.Str("MT-Host-ProcessName", "dotnet")
		e.Str("MT-Host-FrameworkVersion", "8.0.6")
		e.Str("tenant", tenant(r))
	})
}

// OTel draws OpenTelemetry's trace context with two keys of the application: 5 keys.
func OTel(r *rand.Rand) []byte {
	return encode.Table(func(e *encode.Encoder) {
		e.Str("traceparent", "00-"+hexDigits(r, 32)+"-"+hexDigits(r, 16)+"-01")
		e.Str("tracestate", "acme=t61rcWkgMzE,congo="+hexDigits(r, 10))
		e.Str("baggage", fmt.Sprintf("userId=%d,region=eu-west-%d", r.Intn(1e6), 1+r.Intn(3)))
		e.Str("tenant", tenant(r))
		e.Int32("attempt", int32(r.Intn(4)))
	})
}

// Spring draws the headers of Spring AMQP's JSON converter: 4 keys.
func Spring(r *rand.Rand) []byte {
	return encode.Table(func(e *encode.Encoder) {
		e.Str("__TypeId__", pick(r, eventTypes))
		e.Str("spring_listener_return_correlation", uuid(r))
		e.Str("spring_returned_message_correlation", uuid(r))
		e.Str("tenant", tenant(r))
	})
}

// Small draws 3 keys of 3 types.
func Small(r *rand.Rand) []byte {
	return encode.Table(func(e *encode.Encoder) {
		e.Str("source", pick(r, sources))
		e.Int32("version", int32(r.Intn(5)))
		e.Bool("retry", r.Intn(2) == 0)
	})
}

// Big draws 100 keys, about 8.7 kB.
func Big(r *rand.Rand) []byte {
	return encode.Table(func(e *encode.Encoder) {
		for i := range 100 {
			key := fmt.Sprintf("x-acme-attribute-%03d", i)
			switch i % 8 {
			case 3:
				e.Int64(key, r.Int63())
			case 5:
				e.Float64(key, r.Float64())
			default:
				e.Str(key, hexDigits(r, 55+r.Intn(40)))
			}
		}
	})
}

// Mix draws one table of the weighted mix: about 540 octets on average.
func Mix(r *rand.Rand) []byte {
	p := r.Intn(100)
	for _, c := range Classes() {
		if p -= c.Percent; p < 0 {
			return c.Draw(r)
		}
	}
	return Big(r)
}

// Class is one kind of table in the mix. First and Last name its first and its last key.
type Class struct {
	Name        string
	Draw        func(*rand.Rand) []byte
	First, Last string
	Percent     int // of the mix
}

// Classes returns what the mix is made of.
func Classes() []Class {
	return []Class{
		{"celery", Celery, "lang", "stamps", 22},
		{"x-death", XDeath, "x-death", "x-retry", 10},
		{"nservicebus", NServiceBus, "NServiceBus.MessageId", "tenant", 22},
		{"opentelemetry", OTel, "traceparent", "attempt", 18},
		{"spring", Spring, "__TypeId__", "tenant", 14},
		{"small", Small, "source", "retry", 13},
		{"big", Big, "x-acme-attribute-000", "x-acme-attribute-099", 1},
	}
}

func pick(r *rand.Rand, from []string) string { return from[r.Intn(len(from))] }

func tenant(r *rand.Rand) string { return fmt.Sprintf("t%d", r.Intn(50)) }

func uuid(r *rand.Rand) string {
	return fmt.Sprintf(
		"%08x-%04x-4%03x-%04x-%012x",
		r.Uint32(),
		r.Intn(1<<16),
		r.Intn(1<<12),
		0x8000|r.Intn(0x4000),
		r.Int63n(1<<48),
	)
}

func hexDigits(r *rand.Rand, n int) string {
	const digits = "0123456789abcdef"
	b := make([]byte, n)
	for i := range b {
		b[i] = digits[r.Intn(len(digits))]
	}
	return string(b)
}
