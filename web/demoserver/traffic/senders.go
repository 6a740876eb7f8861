package traffic

import (
	"fmt"
	"strconv"
	"time"

	"github.com/headerglass/headerglass/fieldtable/encode"
)

type encoder = encode.Encoder

const isoMicros = "2006-01-02T15:04:05.000000+00:00"

// celery is a task of Celery's message protocol 2, through the default exchange or an exchange of
// the queue's name.
func celery(d *draw) message {
	id := d.uuid()
	task := d.of(
		"shop.tasks.send_invoice",
		"shop.tasks.reindex_product",
		"mail.tasks.deliver",
		"billing.tasks.charge_card",
		"media.tasks.transcode_video",
	)
	queue := d.of("celery", "celery", "billing", "media")
	order, tenant := d.order(), d.tenant()
	retries := max(d.IntN(12)-8, 0)
	args, kwargs := []any{order}, object{"tenant": tenant, "dry_run": false}
	table := encode.Table(func(e *encoder) {
		e.Str("lang", "py")
		e.Str("task", task)
		e.Str("id", id)
		e.Void("shadow")
		if retries > 0 {
			e.Str("eta", d.now.Add(time.Duration(retries)*time.Minute).Format(isoMicros))
		} else {
			e.Void("eta")
		}
		e.Void("expires")
		e.Void("group")
		e.Void("group_index")
		e.Int32("retries", int32(retries))
		e.Array("timelimit", func(e *encoder) {
			e.Void("")
			e.Void("")
		})
		e.Str("root_id", id)
		if d.IntN(3) == 0 {
			e.Str("parent_id", d.uuid())
		} else {
			e.Void("parent_id")
		}
		e.Str("argsrepr", fmt.Sprintf("(%d,)", order))
		e.Str("kwargsrepr", fmt.Sprintf("{'tenant': '%s', 'dry_run': False}", tenant))
		e.Str("origin", fmt.Sprintf("gen%d@worker-%d", 10+d.IntN(90), 1+d.IntN(12)))
		e.Bool("ignore_result", d.IntN(2) == 0)
		e.Int32("replaced_task_nesting", 0)
		e.Void("stamped_headers")
		e.Nested("stamps", func(*encoder) {})
	})
	return message{
		exchange: "", routingKey: queue, contentType: "application/json", contentEncoding: "utf-8", headers: table,
		deliveryMode: 2, hasPriority: true, correlationID: id, replyTo: d.uuid(),
		body: asJSON([]any{args, kwargs, object{"callbacks": nil, "errbacks": nil, "chain": nil, "chord": nil}}),
	}
}

// springEvent is an event of Spring AMQP with its JSON converter, sometimes with publisher returns
// or Micrometer tracing.
func springEvent(d *draw) message {
	event := d.of("OrderPlaced", "OrderPlaced", "OrderCancelled", "PaymentCaptured", "ParcelDispatched")
	key := map[string]string{
		"OrderPlaced":      "order.placed",
		"OrderCancelled":   "order.cancelled",
		"PaymentCaptured":  "payment.captured",
		"ParcelDispatched": "parcel.dispatched",
	}[event]
	tenant := d.tenant()
	table := encode.Table(func(e *encoder) {
		e.Str("__TypeId__", "com.brightway.events."+event)
		if d.IntN(3) == 0 {
			e.Str("spring_listener_return_correlation", d.uuid())
			e.Str("spring_returned_message_correlation", d.uuid())
		}
		if d.IntN(2) == 0 {
			e.Str("traceparent", d.traceparent())
		}
		e.Str("tenant", tenant)
		e.Int32("x-event-version", int32(1+d.IntN(3)))
	})
	return message{
		exchange:        "brightway.events",
		routingKey:      key + "." + tenant,
		contentType:     "application/json",
		contentEncoding: "UTF-8",
		headers:         table,
		deliveryMode:    2,
		hasPriority:     true,
		messageID:       d.uuid(),
		timestamp:       d.now.Unix(),
		appID:           "checkout",
		body: asJSON(object{
			"orderId":  d.order(),
			"tenant":   tenant,
			"amount":   object{"cents": d.cents(), "currency": d.of("EUR", "EUR", "USD", "SEK")},
			"lines":    1 + d.IntN(6),
			"placedAt": d.now.Format(time.RFC3339Nano),
		}),
	}
}

// massTransit is a message of MassTransit in its envelope; one in twenty is a fault on its way to
// an _error queue.
func massTransit(d *draw) message {
	id, conversation := d.uuid(), d.uuid()
	name := d.of("SubmitOrder", "OrderAccepted", "ReserveStock", "ShipParcel")
	urn := "urn:message:Brightway.Contracts:" + name
	fault := d.IntN(20) == 0
	table := encode.Table(func(e *encoder) {
		e.Str("Content-Type", "application/vnd.masstransit+json")
		e.Str("publishId", strconv.Itoa(1+d.IntN(5000)))
		e.Str("traceparent", d.traceparent())
		if fault {
			e.Str("MT-Reason", "fault")
			e.Str("MT-Fault-ExceptionType", "System.TimeoutException")
			e.Str("MT-Fault-Message", "The operation has timed out.")
			e.Str("MT-Fault-Timestamp", d.now.Format("2006-01-02T15:04:05.0000000Z"))
			e.Str(
				"MT-Fault-StackTrace",
				"   at Brightway.Shipping.ParcelConsumer.Consume(ConsumeContext`1 context) in /src/ParcelConsumer.cs:line 41\n   at MassTransit.Middleware.ConsumerMessageFilter`2.Send(ConsumeContext`1 context)",
			)
			e.Str("MT-Fault-ConsumerType", "Brightway.Shipping.ParcelConsumer")
			e.Str("MT-Fault-MessageType", "Brightway.Contracts."+name)
			e.Int32("MT-Fault-RetryCount", int32(d.IntN(5)))
			e.Str("MT-Host-MachineName", fmt.Sprintf("ship-%02d", 1+d.IntN(8)))
			e.Str("MT-Host-MassTransit-Version", "8.3.4.0")
		}
	})
	m := message{
		exchange: "Brightway.Contracts:" + name, contentType: "application/vnd.masstransit+json", headers: table,
		deliveryMode: 2, correlationID: conversation, messageID: id,
		body: asJSON(object{
			"messageId":          id,
			"conversationId":     conversation,
			"sourceAddress":      "rabbitmq://bus/web-01_api_bus_fx1o?temporary=true",
			"destinationAddress": "rabbitmq://bus/Brightway.Contracts:" + name,
			"messageType":        []string{urn},
			"message":            object{"orderId": d.order(), "tenant": d.tenant(), "attempts": d.IntN(3)},
			"sentTime":           d.now.Format(time.RFC3339Nano),
			"host": object{
				"machineName":        "web-01",
				"processName":        "dotnet",
				"massTransitVersion": "8.3.4.0",
				"frameworkVersion":   "8.0.11",
			},
		}),
	}
	if fault {
		m.exchange, m.routingKey = "ship-parcel_error", ""
	}
	return m
}

// nServiceBus is an event or a command of NServiceBus's RabbitMQ transport.
func nServiceBus(d *draw) message {
	id, conversation := d.uuid(), d.uuid()
	event := d.of("OrderBilled", "OrderPlaced", "InvoiceSent", "CustomerMoved")
	tenant := d.tenant()
	table := encode.Table(func(e *encoder) {
		e.Str("NServiceBus.MessageId", id)
		e.Str("NServiceBus.MessageIntent", d.of("Publish", "Publish", "Send"))
		e.Str("NServiceBus.ConversationId", conversation)
		e.Str("NServiceBus.CorrelationId", id)
		e.Str("NServiceBus.OriginatingMachine", fmt.Sprintf("WEB-%02d", 1+d.IntN(20)))
		e.Str("NServiceBus.OriginatingEndpoint", "Brightway.Sales")
		e.Str("$.diagnostics.originating.hostid", d.hex(32))
		e.Str("NServiceBus.ContentType", "application/json")
		e.Str(
			"NServiceBus.EnclosedMessageTypes",
			"Brightway.Sales."+event+", Brightway.Contracts, Version=4.2.0.0, Culture=neutral, PublicKeyToken=null",
		)
		e.Str("NServiceBus.Version", "8.2.4")
		e.Str("NServiceBus.TimeSent", d.now.Format("2006-01-02 15:04:05:000000")+" Z")
		e.Str("NServiceBus.ReplyToAddress", "Brightway.Sales")
		e.Str("NServiceBus.Transport.RabbitMQ.ConfirmationId", strconv.Itoa(1+d.IntN(1_000_000)))
		if d.IntN(6) == 0 {
			e.Str("NServiceBus.Retries", strconv.Itoa(1+d.IntN(3)))
			e.Str("NServiceBus.ExceptionInfo.ExceptionType", "System.Data.SqlClient.SqlException")
			e.Str(
				"NServiceBus.ExceptionInfo.Message",
				"Transaction (Process ID 71) was deadlocked on lock resources with another process.",
			)
			e.Str("NServiceBus.FailedQ", "Brightway.Billing")
			e.Str("NServiceBus.TimeOfFailure", d.now.Format("2006-01-02 15:04:05:000000")+" Z")
		}
		e.Str("traceparent", d.traceparent())
		e.Str("tenant", tenant)
	})
	return message{
		exchange:      "Brightway.Sales:" + event,
		contentType:   "application/json",
		headers:       table,
		deliveryMode:  2,
		correlationID: id,
		replyTo:       "Brightway.Sales",
		messageID:     id,
		timestamp:     d.now.Unix(),
		kind:          "Brightway.Sales." + event,
		body:          asJSON(object{"OrderId": d.order(), "Tenant": tenant, "AmountCents": d.cents()}),
	}
}

// openTelemetry is a job of a small service whose only headers are its trace context and its own keys, with types that drift.
func openTelemetry(d *draw) message {
	tenant := d.tenant()
	attempt := d.IntN(4)
	table := encode.Table(func(e *encoder) {
		e.Str("traceparent", d.traceparent())
		if d.IntN(2) == 0 {
			e.Str("tracestate", "brightway=t61rcWkgMzE,edge="+d.hex(10))
		}
		e.Str("baggage", fmt.Sprintf("userId=%d,region=eu-west-%d", d.IntN(1e6), 1+d.IntN(3)))
		e.Str("tenant", tenant)
		if d.IntN(33) == 0 {
			e.Str("attempt", strconv.Itoa(attempt)) // one service writes it as text
		} else {
			e.Int32("attempt", int32(attempt))
		}
	})
	return message{
		exchange:     "jobs",
		routingKey:   d.of("jobs.thumbnail", "jobs.report", "jobs.webhook"),
		contentType:  "application/json",
		headers:      table,
		deliveryMode: 2,
		messageID:    d.uuid(),
		timestamp:    d.now.Unix(),
		appID:        d.of("scheduler", "api"),
		body: asJSON(object{
			"job":      d.IntN(1e6),
			"tenant":   tenant,
			"attempt":  attempt,
			"deadline": d.now.Add(time.Hour).Format(time.RFC3339),
		}),
	}
}

// mqttReading is what RabbitMQ's MQTT plugin makes of a published reading.
func mqttReading(d *draw) message {
	hall, sensor := 1+d.IntN(6), 1+d.IntN(40)
	quantity := d.of("temperature", "temperature", "humidity", "vibration")
	table := encode.Table(func(e *encoder) {
		e.Int8("x-mqtt-publish-qos", int8(d.IntN(2)))
		e.Bool("x-mqtt-dup", d.IntN(50) == 0)
	})
	return message{
		exchange:     "amq.topic",
		routingKey:   fmt.Sprintf("plant.hall-%d.sensor-%02d.%s", hall, sensor, quantity),
		headers:      table,
		deliveryMode: 1 + uint8(d.IntN(2)),
		body:         asJSON(object{"v": float64(d.IntN(9000)) / 100, "t": d.now.UnixMilli()}),
	}
}

// deadLetter is a message that RabbitMQ has dead-lettered one to three times, with its headers sorted as RabbitMQ leaves them.
func deadLetter(d *draw) message {
	queue := d.of("orders", "payments.in", "invoices.retry", "shipments", "notifications.email")
	reason := d.of("rejected", "rejected", "expired", "maxlen", "delivery_limit")
	deaths := 1 + d.IntN(3)
	key := "order." + d.of("placed", "billed", "cancelled")
	tenant := d.tenant()
	died := d.now.Add(-time.Duration(d.IntN(3600)) * time.Second)
	table := encode.Table(func(e *encoder) {
		e.Str("__TypeId__", "com.brightway.events.OrderPlaced")
		e.Str("tenant", tenant)
		e.Array("x-death", func(e *encoder) {
			for i := range deaths {
				e.Nested("", func(e *encoder) {
					e.Int64("count", int64(1+d.IntN(9)))
					if i > 0 {
						e.Str("exchange", "retry")
						e.Str("original-expiration", "60000")
						e.Str("queue", queue+".wait-60s")
						e.Str("reason", "expired")
					} else {
						e.Str("exchange", "brightway.events")
						e.Str("queue", queue)
						e.Str("reason", reason)
					}
					e.Array("routing-keys", func(e *encoder) { e.Str("", key) })
					e.Timestamp("time", died.Add(-time.Duration(i)*time.Minute).Unix())
				})
			}
		})
		e.Str(
			"x-exception-message",
			d.of(
				"timeout calling upstream after 30s",
				"duplicate key value violates unique constraint \"orders_pkey\"",
				"Cannot construct instance of `OrderPlaced`: no creators",
			),
		)
		e.Str("x-first-death-exchange", "brightway.events")
		e.Str("x-first-death-queue", queue)
		e.Str("x-first-death-reason", reason)
	})
	return message{
		exchange: "dlx", routingKey: queue, contentType: "application/json", contentEncoding: "UTF-8", headers: table,
		deliveryMode: 2, hasPriority: true, messageID: d.uuid(), timestamp: died.Unix(), appID: "checkout",
		body: asJSON(object{
			"orderId": d.order(),
			"tenant":  tenant,
			"amount":  object{"cents": d.cents(), "currency": "EUR"},
		}),
	}
}

// qpidJMS is a JMS message of the Qpid client for AMQP 0-9-1: typed application properties, timestamps in milliseconds.
func qpidJMS(d *draw) message {
	table := encode.Table(func(e *encoder) {
		e.Int32("JMS_QPID_DESTTYPE", 1)
		e.Str("JMSXGroupID", fmt.Sprintf("account-%d", d.IntN(500)))
		e.Int32("JMSXGroupSeq", int32(1+d.IntN(40)))
		e.Int64("accountNumber", 4_000_000_000+d.Int64N(1e9))
		e.Int16("branch", int16(d.IntN(300)))
		e.Bool("urgent", d.IntN(10) == 0)
		e.Float64("rate", float64(d.IntN(10000))/10000)
		e.Value("priceBand", 'k', []byte{byte('A' + d.IntN(5))})
	})
	return message{
		exchange:        "amq.direct",
		routingKey:      "ledger.postings",
		contentType:     "text/plain",
		contentEncoding: "UTF-8",
		headers:         table,
		deliveryMode:    2,
		hasPriority:     true,
		priority:        4,
		replyTo:         "direct://amq.direct//TempQueue" + d.uuid(),
		messageID:       "ID:" + d.uuid(),
		timestamp:       d.now.UnixMilli(),
		kind:            "posting",
		userID:          "ledger",
		body:            []byte(fmt.Sprintf("POST %d %d.%02d EUR", d.order(), d.IntN(5000), d.IntN(100))),
	}
}

// plainJob has no headers property at all, and an expiration.
func plainJob(d *draw) message {
	return message{
		routingKey: "cron", contentType: "text/plain", deliveryMode: 1, expiration: "60000", timestamp: d.now.Unix(),
		body: []byte(d.of("rotate-keys", "purge-sessions", "warm-cache")),
	}
}
