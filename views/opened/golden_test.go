package opened

import (
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/viewtest"
)

func TestGoldens(t *testing.T) {
	message := func(m facts.Message) facts.Message {
		m.Seq, m.Received, m.DeliveryTag, m.HasHeaders = 12338, viewtest.Now, 4711, true
		m.ContentHeader = append(make([]byte, 14), m.Headers...)
		m.HeadersOffset = 14
		m.BodySize = uint64(len(m.Body))
		return m
	}
	damaged := message(facts.Message{
		RoutingKey:    []byte("orders"),
		Headers:       viewtest.DamagedTable(),
		Body:          []byte{0, 1, 0xff, 'a'},
		Properties:    viewtest.Properties()[:2],
		PropertiesErr: "the content header ends inside message_id, at byte 212 (0xd4)",
	})
	redacted := message(facts.Message{
		Exchange:    []byte("amq.topic"),
		Redelivered: true,
		Headers:     viewtest.GuessesTable(),
		Removed:     []archive.Span{{From: 14 + 8, To: 14 + 60}},
		Body:        []byte(`{"order":8812}`),
	})
	for _, tt := range []struct {
		name  string
		m     facts.Message
		state address.State
	}{
		{"damaged", damaged, address.State{}},
		{"redacted", redacted, address.State{Packs: true}},
		{"deaths", message(facts.Message{Headers: viewtest.DeathsTable()}), address.State{Tab: address.TabDeaths}},
		{"readings", message(facts.Message{Headers: viewtest.DamagedTable()}), address.State{Tab: address.TabReadings}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := Build(
				tt.m,
				Options{
					Links: address.Links{State: tt.state},
					Older: address.Key{Seq: 12337}, Newer: address.Key{Seq: 12339}, Now: viewtest.Now,
				},
			)
			// A dialect more is no other page: one of them stands for the menu, and none is offered
			// for damage.
			in.Headers.Dialects, in.Headers.Others = in.Headers.Dialects[:1], nil
			viewtest.GoldenHTML(t, tt.name+".html", viewtest.Render(t, Panel(&in)))
		})
	}
}
