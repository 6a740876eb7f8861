package query

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

var testTime = time.Date(2026, 11, 29, 10, 0, 0, 123456789, time.UTC)

func TestProperties(t *testing.T) {
	text := func(name string) wire.Property { return wire.Property{Name: name, Raw: []byte("v-" + name)} }
	s := archived(archive.Config{MaxBytes: 1 << 20}, testMessage{}, testMessage{
		exchange: "amq.topic", key: "acme.orders.created", redelivered: true, received: testTime, bodySize: 1 << 40,
		table: encode.Table(func(e *encode.Encoder) { e.Int32("a", 1); e.Int32("b", 2) }),
		props: []wire.Property{
			text(
				"content_type",
			), text("content_encoding"), text("correlation_id"), text("reply_to"), text("message_id"),
			text("type"), text("user_id"), text("app_id"), text("cluster_id"),
			{Name: "expiration", Raw: []byte("60000")},
			{Name: "delivery_mode", Raw: []byte{2}}, {Name: "priority", Raw: []byte{200}},
			{Name: "timestamp", Raw: binary.BigEndian.AppendUint64(nil, 1700000000)},
		},
	})
	m, err := s.Get(2)
	if err != nil {
		t.Fatal(err)
	}
	checkVerdicts(t, m, []verdictCase{
		{"$exchange = amq.topic", Yes},
		{"$routing_key LIKE 'acme.%.created'", Yes},
		{"$routing_key IN (a, 'acme.orders.created')", Yes},
		{"$consumer_tag = ctag", Yes},
		{"$delivery_tag = 7", Yes},
		{"$seq = 2", Yes},
		{"$redelivered", Yes},
		{"NOT $redelivered", No},
		{"$redelivered = false", No},
		{"$redelivered <> false", Yes},
		{"$size = 1099511627776", Yes},
		{"$size > 1e12", Yes},
		{"$header_count = 2", Yes},
		{"$header_bytes = 18", Yes},
		{"$headers", Yes},
		{"$received = 2026-11-29T10:00:00.123456789Z", Yes},
		{"$received > '2026-11-29T10:00:00Z'", Yes},
		{"$received < '2026-11-29T11:00:01+01:00'", Yes},
		{"$received = 1795946400.123456789", Yes},
		{"$received BETWEEN '2026-11-29' AND '2026-11-30'", Yes},
		{"$content_type = v-content_type", Yes},
		{"$content_encoding = 'v-content_encoding'", Yes},
		{"$correlation_id = v-correlation_id", Yes},
		{"$reply_to = v-reply_to", Yes},
		{"$message_id = v-message_id", Yes},
		{"$type = v-type", Yes},
		{"$user_id = v-user_id", Yes},
		{"$app_id = v-app_id", Yes},
		{"$cluster_id = v-cluster_id", Yes},
		{"$expiration = 60000", Yes},
		{"$expiration > 59999", Yes},
		{"$expiration = '60000'", Yes},
		{"$delivery_mode = 2", Yes},
		{"$priority > 100", Yes},
		{"$timestamp = 1700000000", Yes},
		{"$timestamp = '2023-11-14T22:13:20Z'", Yes},
		{"$timestamp < 2024-01-01", Yes},
		{"$message_id IS NULL", No},
		{"$message_id", Yes},
		{"$MESSAGE-ID = v-message_id", Yes},
	})
	bare, err := s.Get(1)
	if err != nil {
		t.Fatal(err)
	}
	checkVerdicts(t, bare, []verdictCase{
		{"$exchange = ''", Yes},
		{`$exchange = ""`, Yes},
		{"$redelivered", No},
		{"EXISTS($redelivered)", Yes},
		{"$message_id", No},
		{"$message_id = x", Unknown},
		{"$message_id <> x", Unknown},
		{"$message_id IS NULL", Yes},
		{"$priority > 1", Unknown},
		{"$size = 0", Yes},
	})
}

func TestEveryBasicPropertyIsThere(t *testing.T) {
	for name := range strings.FieldsSeq(`content_type content_encoding headers delivery_mode priority correlation_id reply_to
		expiration message_id timestamp type user_id app_id cluster_id`) {
		if _, ok := propertyByName(name); !ok {
			t.Errorf("there is no $%s", name)
		}
	}
}
