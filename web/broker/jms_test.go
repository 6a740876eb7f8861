package broker

import (
	"fmt"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// TestNodeJMSSelectors: a selector chooses what RabbitMQ's exchange for JMS chooses by it. That
// takes it as the Erlang term that the JMS client makes of it.
func TestNodeJMSSelectors(t *testing.T) {
	const car, on, off, n, missing = `{'ident',<<"car">>}`, `{'ident',<<"on">>}`, `{'ident',<<"off">>}`,
		`{'ident',<<"n">>}`, `{'ident',<<"missing">>}`
	c := dial(t)
	table := encode.Table(func(e *encode.Encoder) {
		e.Str("car", "blue")
		e.Str("phrase", "100% of it_s")
		e.Int32("weight", 2501)
		e.Int64("n", 5)
		e.Float64("price", 19.99)
		e.Bool("on", true)
		e.Bool("off", false)
	})
	headers := amqp.Table{
		"car": "blue", "phrase": "100% of it_s", "weight": int32(2501), "n": int64(5), "price": 19.99, "on": true, "off": false,
	}
	a := archive.New(archive.Config{MaxBytes: 1 << 20})
	w := a.Writer()
	w.Begin(&wire.Delivery{
		Header: wire.AppendContentHeaderPayload(nil, 0, wire.Property{Name: "headers", Raw: table}),
	}, time.Now())
	seq := w.Commit()
	m, err := a.Snapshot().Get(seq)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.ExchangeDeclare("jms", "x-jms-topic", false, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	cases := []struct{ selector, term, differs string }{
		{"TRUE", `true`, ""},
		{"FALSE", `false`, ""},
		{"on", on, ""},
		{"off", off, ""},
		{"NOT off", `{'not',` + off + `}`, ""},
		{"on = TRUE", `{'=',` + on + `,true}`, ""},
		{"car = 'blue'", `{'=',` + car + `,<<"blue">>}`, ""},
		{"car <> 'blue'", `{'<>',` + car + `,<<"blue">>}`, ""},
		{"car > 'black'", `{'>',` + car + `,<<"black">>}`, ""},
		{"weight > 2500", `{'>',{'ident',<<"weight">>},2500}`, ""},
		{"price = 19.99", `{'=',{'ident',<<"price">>},19.99}`, ""},
		{"price * 2 = 39.98", `{'=',{'*',{'ident',<<"price">>},2},39.98}`, ""},
		{"n / 2 = 2.5", `{'=',{'/',` + n + `,2},2.5}`, ""},
		{"n = 5.0", `{'=',` + n + `,5.0}`, ""},
		{"-n = -5", `{'=',{'-',` + n + `},-5}`, ""},
		{"5 < n", `{'<',5,` + n + `}`, ""},
		{"n + 2496 = (weight)", `{'=',{'+',` + n + `,2496},{'ident',<<"weight">>}}`, ""},
		{"n / 0 = 1", `{'=',{'/',` + n + `,0},1}`, ""},
		{"n BETWEEN 5 AND 6", `{'between',` + n + `,{range,5,6}}`, ""},
		{"n NOT BETWEEN 5 AND 6", `{'not_between',` + n + `,{range,5,6}}`, ""},
		{"missing NOT BETWEEN 5 AND 6", `{'not_between',` + missing + `,{range,5,6}}`, ""},
		{"car IN ('red', 'blue')", `{'in',` + car + `,[<<"red">>,<<"blue">>]}`, ""},
		{"car NOT IN ('red', 'blue')", `{'not_in',` + car + `,[<<"red">>,<<"blue">>]}`, ""},
		{"missing NOT IN ('red')", `{'not_in',` + missing + `,[<<"red">>]}`, ""},
		{"car LIKE 'b%e'", `{'like',` + car + `,<<"b%e">>,no_escape}`, ""},
		{"car LIKE 'b_ue'", `{'like',` + car + `,<<"b_ue">>,no_escape}`, ""},
		{"car LIKE 'b_e'", `{'like',` + car + `,<<"b_e">>,no_escape}`, ""},
		{"car NOT LIKE 'B%'", `{'not_like',` + car + `,<<"B%">>,no_escape}`, ""},
		{"phrase LIKE '100!%%it!_s' ESCAPE '!'", `{'like',{'ident',<<"phrase">>},<<"100!%%it!_s">>,<<"!">>}`, ""},
		{"missing IS NULL", `{'is_null',` + missing + `}`, ""},
		{"car IS NOT NULL", `{'not_null',` + car + `}`, ""},
		{"missing = 1", `{'=',` + missing + `,1}`, ""},
		{"NOT (missing = 1)", `{'not',{'=',` + missing + `,1}}`, ""},
		{"missing = 1 OR car = 'blue'", `{'or',{'=',` + missing + `,1},{'=',` + car + `,<<"blue">>}}`, ""},
		{"missing = 1 AND car = 'red'", `{'and',{'=',` + missing + `,1},{'=',` + car + `,<<"red">>}}`, ""},
		{"NOT (missing = 1 AND car = 'red')", `{'not',{'and',{'=',` + missing + `,1},{'=',` + car + `,<<"red">>}}}`, ""},
		{"car = 5", `{'=',` + car + `,5}`, ""},
		{"car <> 5", `{'<>',` + car + `,5}`, ""},
		{"car > 5", `{'>',` + car + `,5}`, "in Erlang text is greater than any number; in JMS the two have no order"},
	}
	for i, tt := range cases {
		queue := fmt.Sprint("selected", i)
		if _, err := c.QueueDeclare(queue, false, false, true, false, nil); err != nil {
			t.Fatal(err)
		}
		arguments := amqp.Table{"rjms_erlang_selector": tt.term + "."}
		if err := c.QueueBind(queue, "k", "jms", false, arguments); err != nil {
			t.Fatalf("%s: %v", tt.selector, err)
		}
	}
	confirm, err := c.PublishWithDeferredConfirm("jms", "k", false, false, amqp.Publishing{Headers: headers})
	if err != nil || !confirm.Wait() {
		t.Fatal("not confirmed", err)
	}
	for i, tt := range cases {
		t.Run(tt.selector, func(t *testing.T) {
			q, err := query.Compile(tt.selector)
			if err != nil {
				t.Fatal(err)
			}
			queue, err := c.QueueDeclarePassive(fmt.Sprint("selected", i), false, false, true, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, want := q.Match(m, nil, new(query.Scratch)) == query.Yes, queue.Messages > 0
			if (got == want) != (tt.differs == "") {
				t.Errorf("%s: %t, the exchange: %t", q, got, want)
			}
		})
	}
}
