package demoserver

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/eventually"
)

const patience = time.Minute

func listen(t *testing.T, cfg Config) *Server {
	t.Helper()
	s, err := Listen("127.0.0.1:0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func connect(t *testing.T, s *Server) (*amqp.Connection, *amqp.Channel) {
	t.Helper()
	conn, err := amqp.Dial(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	return conn, ch
}

func fill(t *testing.T, s *Server, queue string, n int) {
	t.Helper()
	s.Declare(queue)
	for i := range n {
		if err := s.Publish(t.Context(), queue, Message{
			Exchange:   "e",
			RoutingKey: "k",
			Body:       []byte(fmt.Sprint(i + 1)),
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	eventually.True(t, patience, what, ok)
}

func queueIs(t *testing.T, s *Server, queue string, want QueueInfo) {
	t.Helper()
	var got QueueInfo
	defer func() {
		if t.Failed() {
			t.Logf("queue is %+v", got)
		}
	}()
	until(t, fmt.Sprintf("queue is %+v", want), func() bool { got, _ = s.Queue(queue); return got == want })
}

func take(t *testing.T, deliveries <-chan amqp.Delivery, n int) (got []amqp.Delivery) {
	t.Helper()
	deadline := time.After(patience)
	for range n {
		select {
		case d, ok := <-deliveries:
			if !ok {
				t.Fatalf("the consumer ended after %d deliveries", len(got))
			}
			got = append(got, d)
		case <-deadline:
			t.Fatalf("%d deliveries of %d", len(got), n)
		}
	}
	return got
}

func bodies(deliveries []amqp.Delivery) (all []string) {
	for _, d := range deliveries {
		all = append(all, string(d.Body))
	}
	return all
}

func code(err error) int {
	if e, ok := errors.AsType[*amqp.Error](err); ok {
		return e.Code
	}
	return 0
}

func TestPrefetchOrderAndRequeue(t *testing.T) {
	s := listen(t, Config{})
	fill(t, s, "q", 10)
	_, ch := connect(t, s)
	if err := ch.Qos(4, 0, false); err != nil {
		t.Fatal(err)
	}
	deliveries, err := ch.Consume("q", "c", false, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := take(t, deliveries, 4)
	if !slices.Equal(bodies(got), []string{"1", "2", "3", "4"}) || got[0].Redelivered || got[0].Exchange != "e" ||
		got[0].RoutingKey != "k" ||
		got[0].ConsumerTag != "c" {
		t.Fatalf("%+v", got)
	}
	queueIs(t, s, "q", QueueInfo{Ready: 6, Unsettled: 4, Consumers: 1})
	if err := ch.Ack(2, true); err != nil { // 1 and 2
		t.Fatal(err)
	}
	if got = take(t, deliveries, 2); !slices.Equal(bodies(got), []string{"5", "6"}) {
		t.Fatal(bodies(got))
	}
	if err := ch.Cancel("c", false); err != nil {
		t.Fatal(err)
	}
	if err := ch.Reject(3, false); err != nil { // drops 3
		t.Fatal(err)
	}
	if err := ch.Nack(0, true, true); err != nil { // 4, 5 and 6 go back to the front
		t.Fatal(err)
	}
	queueIs(t, s, "q", QueueInfo{Ready: 7})
	_, other := connect(t, s)
	if deliveries, err = other.Consume("q", "", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	got = take(t, deliveries, 7)
	if !slices.Equal(bodies(got), []string{"4", "5", "6", "7", "8", "9", "10"}) || !got[2].Redelivered ||
		got[3].Redelivered {
		t.Errorf("%v", bodies(got))
	}
	queueIs(t, s, "q", QueueInfo{Consumers: 1})
}

func TestPrefetchForAllConsumersTogether(t *testing.T) {
	s := listen(t, Config{})
	fill(t, s, "q", 10)
	_, ch := connect(t, s)
	if err := ch.Qos(3, 0, true); err != nil {
		t.Fatal(err)
	}
	a, err := ch.Consume("q", "a", false, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	take(t, a, 3)
	b, err := ch.Consume("q", "b", false, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	queueIs(t, s, "q", QueueInfo{Ready: 7, Unsettled: 3, Consumers: 2})
	if err := ch.Cancel("a", false); err != nil {
		t.Fatal(err)
	}
	if err := ch.Ack(1, false); err != nil {
		t.Fatal(err)
	}
	take(t, b, 1)
}

func TestConnectionThatEndsGivesBack(t *testing.T) {
	s := listen(t, Config{})
	fill(t, s, "q", 5)
	for _, end := range []func(*amqp.Connection, *amqp.Channel){
		func(c *amqp.Connection, _ *amqp.Channel) { c.Close() },
		func(_ *amqp.Connection, ch *amqp.Channel) { ch.Close() },
		func(*amqp.Connection, *amqp.Channel) { s.Drop() },
		func(*amqp.Connection, *amqp.Channel) { s.CloseConnections(Reply{320, "CONNECTION_FORCED - test"}) },
		func(*amqp.Connection, *amqp.Channel) { s.CloseChannels(Reply{406, "PRECONDITION_FAILED - test"}) },
	} {
		conn, ch := connect(t, s)
		deliveries, err := ch.Consume("q", "", false, false, false, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := take(t, deliveries, 5); !slices.Equal(bodies(got), []string{"1", "2", "3", "4", "5"}) {
			t.Errorf("%v", bodies(got))
		}
		end(conn, ch)
		queueIs(t, s, "q", QueueInfo{Ready: 5})
	}
}

func TestRefusals(t *testing.T) {
	s := listen(t, Config{Username: "u", Password: "p@ss"})
	fill(t, s, "q", 1)
	if _, err := amqp.Dial(strings.Replace(s.URL(), "p%40ss", "wrong", 1)); code(err) != 403 {
		t.Errorf("wrong password: %v", err)
	}
	if _, err := amqp.Dial(strings.TrimSuffix(s.URL(), "%2F") + "other"); code(err) != 530 {
		t.Errorf("other vhost: %v", err)
	}
	conn, _ := connect(t, s)
	for what, tc := range map[string]struct {
		do   func(ch *amqp.Channel) error
		code int
	}{
		"passive queue": {func(ch *amqp.Channel) error {
			_, err := ch.QueueDeclarePassive("x", false, false, false, false, nil)
			return err
		}, 404},
		"passive exchange": {func(ch *amqp.Channel) error {
			return ch.ExchangeDeclarePassive("x", "topic", false, false, false, false, nil)
		}, 404},
		"consume": {func(ch *amqp.Channel) error {
			_, err := ch.Consume("x", "", false, false, false, false, nil)
			return err
		}, 404},
		"get":  {func(ch *amqp.Channel) error { _, _, err := ch.Get("x", true); return err }, 404},
		"bind": {func(ch *amqp.Channel) error { return ch.QueueBind("q", "k", "x", false, nil) }, 404},
		"stream offset": {func(ch *amqp.Channel) error {
			_, err := ch.Consume("q", "", false, false, false, false, amqp.Table{"x-stream-offset": "next"})
			return err
		}, 406},
	} {
		ch, err := conn.Channel()
		if err != nil {
			t.Fatal(err)
		}
		if err := tc.do(ch); code(err) != tc.code {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, owner := connect(t, s)
	mine, err := owner.QueueDeclare("", false, true, true, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ch.QueueDeclarePassive(mine.Name, false, true, true, false, nil); code(err) != 405 {
		t.Errorf("another's exclusive queue: %v", err)
	}
	s.SetFaults(Faults{Consume: Reply{403, "ACCESS_REFUSED - test"}, RefuseLogin: true})
	if ch, err = conn.Channel(); err != nil {
		t.Fatal(err)
	}
	if _, err := ch.Consume("q", "", false, false, false, false, nil); code(err) != 403 {
		t.Errorf("scripted refusal: %v", err)
	}
	if _, err := amqp.Dial(s.URL()); code(err) != 403 {
		t.Errorf("scripted login refusal: %v", err)
	}
}

func TestClientsPublishAndRoute(t *testing.T) {
	s := listen(t, Config{})
	_, ch := connect(t, s)
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	if err := ch.ExchangeDeclare("events", "topic", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	q, err := ch.QueueDeclare("", false, true, true, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := ch.QueueBind(q.Name, "order.#", "events", false, nil); err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", 300_000) // several body frames
	for _, p := range []struct{ exchange, key, body string }{
		{"events", "order.placed.eu", "one"},
		{"events", "invoice", "not routed"},
		{"", q.Name, large},
		{"events", "order", ""},
	} {
		confirm, err := ch.PublishWithDeferredConfirm(p.exchange, p.key, false, false, amqp.Publishing{
			Body:      []byte(p.body),
			Headers:   amqp.Table{"k": "v"},
			MessageId: "m",
		})
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := confirm.WaitContext(t.Context()); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	for _, want := range []string{"one", large, ""} {
		m, ok, err := ch.Get(q.Name, true)
		if err != nil || !ok || string(m.Body) != want || m.Headers["k"] != "v" || m.MessageId != "m" {
			t.Fatalf("%v %v %d", ok, err, len(m.Body))
		}
	}
	if _, ok, _ := ch.Get(q.Name, true); ok {
		t.Error("one message too many")
	}
	deliveries, err := ch.Consume(q.Name, "only", true, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := ch.Cancel("only", false); err != nil {
		t.Fatal(err)
	}
	if _, ok := <-deliveries; ok {
		t.Error("a delivery after cancel")
	}
	if _, exists := s.Queue(q.Name); exists {
		t.Error("an auto-delete queue outlives its last consumer")
	}
}

func TestTopicPatterns(t *testing.T) {
	for _, tc := range []struct {
		pattern, key string
		want         bool
	}{
		{"#", "", true},
		{"#", "a.b", true},
		{"*", "a", true},
		{"*", "a.b", false},
		{"a.#", "a", true},
		{"a.#.z", "a.z", true},
		{"a.#.z", "a.b.c.z", true},
		{"a.*.z", "a.z", false},
		{"a.b", "a.b", true},
		{"a.b", "a.c", false},
		{"#.b", "b.b.a", false},
	} {
		if got := (binding{key: tc.pattern}).matches("topic", tc.key); got != tc.want {
			t.Errorf("%q matches %q: %v", tc.pattern, tc.key, got)
		}
	}
	if (binding{key: "#"}).matches("direct", "a") || !(binding{key: "x"}).matches("fanout", "a") {
		t.Error("exchange types")
	}
}

func TestCancelByTheServer(t *testing.T) {
	s := listen(t, Config{})
	fill(t, s, "q", 3)
	_, ch := connect(t, s)
	cancelled := ch.NotifyCancel(make(chan string, 1))
	if _, err := ch.Consume("q", "c", false, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	s.DeleteQueue("q")
	if tag := <-cancelled; tag != "c" {
		t.Errorf("cancelled %q", tag)
	}
	if _, ok := s.Queue("q"); ok {
		t.Error("the queue is still there")
	}
}

func TestBlocked(t *testing.T) {
	s := listen(t, Config{})
	conn, _ := connect(t, s)
	blocked := conn.NotifyBlocked(make(chan amqp.Blocking, 2))
	s.SetBlocked("low on memory")
	if b := <-blocked; !b.Active || b.Reason != "low on memory" {
		t.Errorf("%+v", b)
	}
	s.SetBlocked("")
	if b := <-blocked; b.Active {
		t.Errorf("%+v", b)
	}
}

// TestPublishWaitsWhileNobodyReads: memory is bounded by the queue's limit.
func TestPublishWaitsWhileNobodyReads(t *testing.T) {
	s := listen(t, Config{QueueLimit: 3})
	fill(t, s, "q", 3)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Publish(ctx, "q", Message{Body: []byte("4")}) }()
	_, ch := connect(t, s)
	m, ok, err := ch.Get("q", false)
	if err != nil || !ok {
		t.Fatal(err)
	}
	queueIs(t, s, "q", QueueInfo{Ready: 2, Unsettled: 1}) // delivered and unsettled counts
	if err := m.Ack(false); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	go func() { done <- s.Publish(ctx, "q", Message{}) }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := s.Publish(t.Context(), "nothing", Message{}); !errors.Is(err, ErrNoQueue) {
		t.Error(err)
	}
	go func() { done <- s.Publish(context.Background(), "q", Message{}) }()
	s.Close()
	if err := <-done; !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// rawClient does the handshake by hand and opens channel 1.
func rawClient(t *testing.T, s *Server, frameMax uint32, heartbeat uint16) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	send := func(b []byte) {
		if _, err := c.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(class, number uint16) {
		t.Helper()
		f := nextFrame(t, c)
		if gotClass, got, _, ok := f.Method(); !ok || gotClass != class || got != number {
			t.Fatalf("%d.%d instead of %d.%d", gotClass, got, class, number)
		}
	}
	send([]byte("AMQP\x00\x00\x09\x01"))
	expect(10, 10)
	send(wire.AppendMethod(nil, 0, 10, 11, []byte("\x00\x00\x00\x00\x08EXTERNAL\x00\x00\x00\x00\x05en_US")))
	expect(10, 30)
	tune := binary.BigEndian.AppendUint32([]byte{0, 0}, frameMax)
	send(wire.AppendMethod(nil, 0, 10, 31, binary.BigEndian.AppendUint16(tune, heartbeat)))
	send(wire.AppendMethod(nil, 0, 10, 40, []byte("\x01/\x00\x00")))
	expect(10, 41)
	send(wire.AppendMethod(nil, 1, 20, 10, []byte{0}))
	expect(20, 11)
	return c
}

func nextFrame(t *testing.T, c net.Conn) wire.Frame {
	t.Helper()
	kind, channel, payload, _, err := readFrame(c, nil, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return wire.Frame{Type: kind, Channel: channel, Payload: payload}
}

// TestContentIsSentAsItIs: any content header in one frame, the body in frames of the size agreed
// on, in any chunking.
func TestContentIsSentAsItIs(t *testing.T) {
	for _, chunk := range []int{0, 1, 777} {
		s := listen(t, Config{})
		s.SetFaults(Faults{WriteChunk: chunk})
		s.Declare("q")
		header, body := bytes.Repeat([]byte{0xCE, 0xFF}, 5000), bytes.Repeat([]byte{0xCE}, 10_000)
		if err := s.Publish(t.Context(), "q", Message{
			Exchange:    strings.Repeat("é", 200),
			RoutingKey:  "k",
			Redelivered: true,
			Header:      header,
			Body:        body,
		}); err != nil {
			t.Fatal(err)
		}
		c := rawClient(t, s, 4096, 0)
		if _, err := c.Write(wire.AppendMethod(nil, 1, 60, 20, []byte("\x00\x00\x01q\x01c\x00\x00\x00\x00\x00"))); err != nil {
			t.Fatal(err)
		}
		nextFrame(t, c) // consume-ok
		_, _, args, _ := nextFrame(t, c).Method()
		want := append([]byte("\x01c\x00\x00\x00\x00\x00\x00\x00\x01\x01\xff"), strings.Repeat("é", 200)[:255]...)
		if !bytes.Equal(args, append(want, "\x01k"...)) {
			t.Errorf("basic.deliver: %q", args)
		}
		if f := nextFrame(t, c); f.Type != wire.FrameHeader || !bytes.Equal(f.Payload, header) {
			t.Errorf("content header of %d octets, type %d", len(f.Payload), f.Type)
		}
		var got []byte
		for len(got) < len(body) {
			f := nextFrame(t, c)
			if f.Type != wire.FrameBody || len(f.Payload) > 4088 {
				t.Fatalf("frame of type %d with %d octets", f.Type, len(f.Payload))
			}
			got = append(got, f.Payload...)
		}
		if !bytes.Equal(got, body) {
			t.Error("another body")
		}
	}
}

func TestHeartbeatsBothWays(t *testing.T) {
	s := listen(t, Config{})
	c := rawClient(t, s, 131072, 1)
	began := time.Now()
	beats := 0
	for {
		kind, _, _, _, err := readFrame(c, nil, 4096)
		if errors.Is(err, io.EOF) {
			break // this client sends none, and is dropped
		}
		if err != nil {
			t.Fatal(err)
		}
		if kind == wire.FrameHeartbeat {
			beats++
		}
	}
	if took := time.Since(began); beats < 2 || took < time.Second {
		t.Errorf("%d heartbeats in %s", beats, took)
	}
}

// TestDropAfter reads the connection itself: a client library may forget what it has read when the
// reset comes.
func TestDropAfter(t *testing.T) {
	s := listen(t, Config{})
	fill(t, s, "q", 100)
	c := rawClient(t, s, 131072, 0)
	s.SetFaults(Faults{DropAfter: 1500})
	if _, err := c.Write(wire.AppendMethod(nil, 1, 60, 20, []byte("\x00\x00\x01q\x01c\x00\x00\x00\x00\x00"))); err != nil {
		t.Fatal(err)
	}
	n := 0
	for {
		kind, _, payload, _, err := readFrame(c, nil, 1<<20)
		if err != nil {
			break
		}
		class, number, _, _ := wire.Frame{Type: kind, Payload: payload}.Method()
		if kind == wire.FrameMethod && class == 60 && number == 60 {
			n++
		}
	}
	if n == 0 || n >= 100 {
		t.Errorf("%d deliveries before the drop", n)
	}
	queueIs(t, s, "q", QueueInfo{Ready: 100})
}

func TestStall(t *testing.T) {
	s := listen(t, Config{})
	fill(t, s, "q", 1)
	_, ch := connect(t, s)
	s.SetFaults(Faults{Stall: true})
	done := make(chan error, 1)
	go func() { done <- ch.Qos(1, 0, false) }()
	until(t, "the server holds the answer back", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for c := range s.conns {
			return len(c.out.b) > 0
		}
		return false
	})
	s.SetFaults(Faults{})
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestGarbageFromAClient(t *testing.T) {
	s := listen(t, Config{})
	fill(t, s, "q", 1)
	for name, b := range map[string][]byte{
		"no AMQP":         []byte("GET / HTTP/1.1\r\n\r\n"),
		"other version":   []byte("AMQP\x01\x01\x00\x09"),
		"large claim":     []byte("AMQP\x00\x00\x09\x01\x01\x00\x00\xff\xff\xff\xff"),
		"no frame end":    []byte("AMQP\x00\x00\x09\x01\x08\x00\x00\x00\x00\x00\x00\x00"),
		"short arguments": append([]byte("AMQP\x00\x00\x09\x01"), wire.AppendMethod(nil, 0, 10, 11, []byte{0, 0, 0, 9})...),
	} {
		c, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(patience))
		if _, err := c.Write(b); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, c); err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: not closed: %v", name, err)
		}
		c.Close()
	}
	until(t, "all are gone", func() bool { return s.Connections() == 0 })
	_, ch := connect(t, s)
	if _, ok, err := ch.Get("q", true); !ok || err != nil {
		t.Error("the server does not serve any more", err)
	}
}
