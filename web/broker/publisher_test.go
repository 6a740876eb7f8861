package broker

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// published publishes messages and returns the outcomes, in the order of the messages.
func published(t *testing.T, cfg Config, messages ...Publication) ([]Outcome, error) {
	t.Helper()
	p, err := NewPublisher(cfg, 0)
	if err != nil {
		t.Fatal(err)
	}
	var outcomes []Outcome
	err = p.Publish(t.Context(), slices.Values(messages), func(o Outcome) { outcomes = append(outcomes, o) })
	slices.SortFunc(outcomes, func(a, b Outcome) int { return a.Index - b.Index })
	for i, o := range outcomes {
		if o.Index != i || o.Fate == 0 {
			t.Errorf("outcome %d is %+v", i, o)
		}
	}
	if len(outcomes) != len(messages) {
		t.Fatalf("%d outcomes of %d messages: %v", len(outcomes), len(messages), outcomes)
	}
	return outcomes, err
}

// fates lists what became of messages.
func fates(outcomes []Outcome) string {
	var b strings.Builder
	for _, o := range outcomes {
		fmt.Fprintf(&b, "%s;", o.Fate)
	}
	return b.String()
}

func to(key string, table []byte, body string) Publication {
	return Publication{RoutingKey: []byte(key), Header: content(table, []byte(body)), Body: []byte(body)}
}

// RabbitMQ up to 3.12 hands on what it gets, so what a consumer sees tells what was published.
func TestNodePublishesByteForByte(t *testing.T) {
	c := dial(t)
	if c.node.AtLeast(3, 13) {
		t.Log("this broker encodes tables anew: only their number is compared")
	}
	c.declare(t, "q", nil)
	var sent []Publication
	for _, s := range specimens.Specimens() {
		if m := to("q", s.Encoded, s.Name); readable(m) && !strings.Contains(s.Name, "floats") {
			sent = append(sent, m)
		}
	}
	for i := range 40 {
		body := strings.Repeat("b", i*10_000) // from no body frame to three
		sent = append(sent, to("q", nil, body))
	}
	outcomes, err := published(t, Config{URL: c.url()}, sent...)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range outcomes {
		if o.Fate != Confirmed {
			t.Errorf("%.40q: %+v", sent[i].Body, o)
		}
	}
	r := run(t, Config{URL: c.url(), Queue: "q"})
	r.untilStored(t, uint64(len(sent)))
	i := 0
	for m := range r.archive.Snapshot().Forward(0) {
		if !c.node.AtLeast(3, 13) && !bytes.Equal(m.Header().Payload(), sent[i].Header) {
			t.Errorf("%.40q: published %x, delivered %x", sent[i].Body, sent[i].Header, m.Header().Payload())
		}
		if int(m.BodySize()) != len(sent[i].Body) {
			t.Errorf("message %d has a body of %d octets in place of %d", i, m.BodySize(), len(sent[i].Body))
		}
		i++
	}
	_ = r.stop(t)
	c.ready(t, "q", len(sent))
}

func TestNodePublishNamesWhatIsReturnedAndRefused(t *testing.T) {
	c := dial(t)
	c.declare(t, "q", nil)
	c.declare(t, "full", amqp.Table{"x-max-length": int32(1), "x-overflow": "reject-publish"})
	strange := encode.Table(func(e *encode.Encoder) { e.Value("b", 'Z', []byte("????")) })
	duplicates := encode.Table(func(e *encode.Encoder) {
		e.Int32("k", 1)
		e.Str("k", "2")
	})
	whole := to("q", nil, "whole")
	whole.Body = whole.Body[:3]
	outcomes, err := published(t, Config{URL: c.url()},
		to("q", nil, "one"),
		to("nowhere", duplicates, "two"),
		to("full", nil, "three"),
		to("full", nil, "four"),
		whole,
		to("q", encode.Table(func(e *encode.Encoder) { e.Bytes("x", make([]byte, 131_072)) }), "six"),
		to("q", nil, "seven"),
	)
	if err != nil {
		t.Fatal(err)
	}
	const want = "confirmed;returned;confirmed;refused;refused;refused;confirmed;"
	if got := fates(outcomes); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for i, want := range map[int]string{
		1: "the broker returned it: 312 NO_ROUTE",
		3: "the broker refused it (basic.nack)",
		4: "its body has 5 octets and only 3 of them were kept",
		5: "its content header needs a frame of 131105 octets and the broker takes at most 131072",
	} {
		if !strings.HasPrefix(outcomes[i].Reason, want) {
			t.Errorf("message %d: %q, want %q", i, outcomes[i].Reason, want)
		}
	}
	c.ready(t, "q", 2)
	c.ready(t, "full", 1)

	// A table that RabbitMQ cannot read ends the connection, and the message is the one that is
	// named.
	outcomes, err = published(t, Config{URL: c.url()},
		to("q", nil, "eight"), to("q", strange, "nine"), to("q", nil, "ten"))
	if err == nil {
		t.Error("no error")
	}
	if got := fates(outcomes); got != "confirmed;refused;not sent;" {
		t.Error(got)
	}
	if reason := outcomes[1].Reason; !strings.Contains(reason, "541") {
		t.Errorf("the broker's reason is missing: %q", reason)
	}
	c.ready(t, "q", 3)
}

func TestNodePublishUnderAnotherUsersName(t *testing.T) {
	c := dial(t)
	c.declare(t, "q", nil)
	claims := to("q", nil, "")
	claims.Header = wire.AppendContentHeaderPayload(nil, 0, wire.Property{Name: "user_id", Raw: []byte("mallory")})
	outcomes, err := published(t, Config{URL: c.url()}, to("q", nil, "one"), claims, to("q", nil, "three"))
	if err == nil {
		t.Error("no error")
	}
	if got := fates(outcomes); got != "confirmed;refused;not sent;" {
		t.Error(got)
	}
	if reason := outcomes[1].Reason; !strings.Contains(reason, "mallory") {
		t.Error(reason)
	}
	c.ready(t, "q", 1)
}

func TestNodePublishToAnExchangeThatIsNotThere(t *testing.T) {
	c := dial(t)
	p, err := NewPublisher(Config{URL: c.url(), Exchange: "missing"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	err = p.Publish(t.Context(), slices.Values([]Publication{to("q", nil, "")}), func(o Outcome) { t.Errorf("%+v", o) })
	e, ok := err.(*Error)
	if !ok || e.Kind != KindNotFound || !strings.Contains(e.Msg, `exchange "missing"`) {
		t.Errorf("%v", err)
	}
}

// TestNodePublishOutlivesTheHeartbeat: the library sees next to nothing of a busy connection, and
// must not take it for dead.
func TestNodePublishOutlivesTheHeartbeat(t *testing.T) {
	c := dial(t)
	c.declare(t, "q", nil)
	const n = 70
	// five seconds of messages
	p, err := NewPublisher(Config{URL: c.url(), Heartbeat: time.Second}, 14)
	if err != nil {
		t.Fatal(err)
	}
	confirmed := 0
	began := time.Now()
	err = p.Publish(t.Context(), slices.Values(slices.Repeat([]Publication{to("q", nil, "x")}, n)), func(o Outcome) {
		if o.Fate == Confirmed {
			confirmed++
		}
	})
	if err != nil || confirmed != n {
		t.Errorf("%d confirmed, %v", confirmed, err)
	}
	if took := time.Since(began); took < (n-1)*time.Second/14 {
		t.Errorf("a rate of 14 a second was not kept: %s", took)
	}
	c.ready(t, "q", n)
}

func TestNodePublishInterrupted(t *testing.T) {
	c := dial(t)
	c.declare(t, "q", nil)
	ctx, cancel := context.WithCancel(t.Context())
	p, err := NewPublisher(Config{URL: c.url()}, 0)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[Fate]int{}
	err = p.Publish(ctx, slices.Values(slices.Repeat([]Publication{to("q", nil, "x")}, 500)), func(o Outcome) {
		if counts[o.Fate]++; counts[Confirmed] == 100 {
			cancel()
		}
	})
	if err == nil || counts[Confirmed] < 100 || counts[Unsent] == 0 || counts[Confirmed]+counts[Unsent] != 500 {
		t.Errorf("%v, %v", counts, err)
	}
	c.ready(t, "q", counts[Confirmed])
}

// TestNodePublishPassesOverReturnedBodies: what comes back may have a body of any size, and nothing
// of it reaches the library.
func TestNodePublishPassesOverReturnedBodies(t *testing.T) {
	c := dial(t)
	c.declare(t, "q", nil)
	big := strings.Repeat("x", 400_000)
	var messages []Publication
	for i := range 20 {
		messages = append(messages, to("nowhere", nil, big[:i*20_000]), to("q", nil, "ok"))
	}
	outcomes, err := published(t, Config{URL: c.url()}, messages...)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fates(outcomes), strings.Repeat("returned;confirmed;", 20); got != want {
		t.Errorf("%s", got)
	}
	r := run(t, Config{URL: c.url(), Queue: "q", Mode: source.Drain, AcceptLoss: true})
	r.untilStored(t, 20)
	c.ready(t, "q", 0)
}
