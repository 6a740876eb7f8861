package broker

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// script is a broker that opens connections and channels, says that a queue is there, and does what
// a test wants with basic.consume.
type script struct {
	product, version string
	waiting          uint32
	heartbeat        uint16 // s, as proposed
	others           uint32 // consumers of the queue beside those of this connection
	channels         uint16 // as proposed; 0: 10
	// consume is called for each basic.consume, after consume-ok is sent, with the prefetch count;
	// nil: nothing more comes. It runs on the connection's goroutine.
	consume func(c *scriptConn, tag string, prefetch uint16, args []byte)
	// refusal is what a basic.consume is answered with in place of consume-ok, as channel.close
	// 406.
	refusal string
	// cancel reports whether a basic.cancel is answered; nil: each is.
	cancel func(tag string) bool
	// declare is called for each queue.declare, after its answer is sent; nil: nothing follows.
	declare func(c *scriptConn)
	// settled is called for basic.ack and basic.nack.
	settled func(method uint16, tag uint64)
	dialled atomic.Int32
}

type scriptConn struct {
	net.Conn
	out      chan []byte // written by a goroutine of its own, for a pipe holds nothing; nil closes
	prefetch uint16
	next     uint64 // delivery tag
	own      uint32 // consumers
}

// dial is Consumer.reach.
func (s *script) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	s.dialled.Add(1)
	c := &scriptConn{Conn: server, next: 1, out: make(chan []byte, 1<<16)}
	go s.serve(c)
	go c.write()
	return client, nil
}

func (c *scriptConn) write() {
	for b := range c.out {
		if b == nil {
			_ = c.Conn.Close()
			continue
		}
		_, _ = c.Write(b)
	}
}

func (c *scriptConn) hangUp() { c.out <- nil }

func (c *scriptConn) send(channel uint16, kind byte, payload []byte) {
	b := binary.BigEndian.AppendUint16([]byte{kind}, channel)
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	c.out <- append(append(b, payload...), 0xCE)
}

func (c *scriptConn) method(channel, class, method uint16, args []byte) {
	b := binary.BigEndian.AppendUint16(nil, class)
	c.send(channel, 1, append(binary.BigEndian.AppendUint16(b, method), args...))
}

// close sends connection.close (channel 0) or channel.close.
func (c *scriptConn) close(channel, code uint16, text string) {
	args := binary.BigEndian.AppendUint16(nil, code)
	args = append(args, byte(len(text)))
	args = append(append(args, text...), 0, 60, 0, 20) // basic.consume
	if channel == 0 {
		c.method(0, 10, 50, args)
		return
	}
	c.method(channel, 20, 40, args)
}

// cancelled answers basic.cancel.
func (c *scriptConn) cancelled(tag string) {
	c.own--
	c.method(1, 60, 31, append([]byte{byte(len(tag))}, tag...))
}

// deliver sends a message of one octet with the header table.
func (c *scriptConn) deliver(tag string, redelivered bool, table []byte) {
	c.begin(tag, redelivered)
	header := wire.AppendContentHeaderPayload(nil, 1)
	if table != nil {
		header = content(table, []byte("b"))
	}
	c.send(1, 2, header)
	c.send(1, 3, []byte("b"))
}

// begin sends a basic.deliver and nothing of what must follow.
func (c *scriptConn) begin(tag string, redelivered bool) {
	args := append([]byte{byte(len(tag))}, tag...)
	args = binary.BigEndian.AppendUint64(args, c.next)
	c.next++
	flag := byte(0)
	if redelivered {
		flag = 1
	}
	c.method(1, 60, 60, append(args, flag, 0, 1, 'k'))
}

func short(b []byte) (string, []byte) { return string(b[1 : 1+int(b[0])]), b[1+int(b[0]):] }

func (s *script) serve(c *scriptConn) {
	defer close(c.out)
	// A pipe holds nothing. A client that is writing could not notice otherwise that the connection
	// ends.
	defer func() { _, _ = io.Copy(io.Discard, c) }()
	defer c.hangUp()
	r := bufio.NewReader(c)
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return
	}
	properties := encode.Table(func(e *encode.Encoder) {
		e.Str("product", s.product)
		e.Str("version", s.version)
	})
	start := append([]byte{0, 9}, properties...)
	c.method(0, 10, 10, append(start, "\x00\x00\x00\x05PLAIN\x00\x00\x00\x05en_US"...))
	for {
		var h [7]byte
		if _, err := io.ReadFull(r, h[:]); err != nil {
			return
		}
		channel, size := binary.BigEndian.Uint16(h[1:]), binary.BigEndian.Uint32(h[3:])
		b := make([]byte, size+1)
		if _, err := io.ReadFull(r, b); err != nil {
			return
		}
		if h[0] != 1 {
			continue // a heartbeat
		}
		class, method, args := binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:]), b[4:size]
		switch uint32(class)<<16 | uint32(method) {
		case 10<<16 | 11: // start-ok
			// without heartbeats the clock is the test's
			tune := binary.BigEndian.AppendUint16(nil, cmp.Or(s.channels, 10))
			c.method(0, 10, 30, binary.BigEndian.AppendUint16(append(tune, 0, 2, 0, 0), s.heartbeat))
		case 10<<16 | 40:
			c.method(0, 10, 41, []byte{0})
		case 10<<16 | 50:
			c.method(0, 10, 51, nil)
			return
		case 10<<16 | 51: // close-ok
			return
		case 20<<16 | 10:
			c.method(channel, 20, 11, []byte{0, 0, 0, 0})
		case 20<<16 | 40:
			c.method(channel, 20, 41, nil)
		case 40<<16 | 10:
			c.method(channel, 40, 11, nil)
		case 50<<16 | 20:
			c.method(channel, 50, 21, nil)
		case 50<<16 | 10: // queue.declare
			name, _ := short(args[2:])
			ok := binary.BigEndian.AppendUint32(append([]byte{byte(len(name))}, name...), s.waiting)
			c.method(channel, 50, 11, binary.BigEndian.AppendUint32(ok, s.others+c.own))
			if s.declare != nil {
				s.declare(c)
			}
		case 60<<16 | 10:
			c.prefetch = binary.BigEndian.Uint16(args[4:])
			c.method(channel, 60, 11, nil)
		case 60<<16 | 20:
			_, rest := short(args[2:])
			tag, rest := short(rest)
			if tag == probeTag {
				c.close(channel, 406, "PRECONDITION_FAILED - x-stream-offset not supported for queues of queue type "+
					"rabbit_quorum_queue")
				continue
			}
			if s.refusal != "" {
				c.close(channel, 406, s.refusal)
				continue
			}
			c.own++
			c.method(channel, 60, 21, append([]byte{byte(len(tag))}, tag...))
			if s.consume != nil {
				s.consume(c, tag, c.prefetch, rest[1:])
			}
		case 60<<16 | 30:
			tag, _ := short(args)
			if s.cancel == nil || s.cancel(tag) {
				c.cancelled(tag)
			}
		case 60<<16 | 80, 60<<16 | 120:
			if s.settled != nil {
				s.settled(method, binary.BigEndian.Uint64(args))
			}
		}
	}
}

// start runs a consumer of the script in a bubble, until the test ends it.
func (s *script) start(t *testing.T, cfg Config) (c *Consumer, stop func()) {
	t.Helper()
	cfg.URL, cfg.Archive = "amqp://broker.example/", archive.New(archive.Config{})
	if cfg.Queue == "" {
		cfg.Queue = "q"
	}
	cfg.AcceptLoss = true
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c.reach = s.dial
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- c.Run(ctx) }()
	return c, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestBrokerThatFailsWhileItDelivers: what cannot be delivered is tried a few times in an hour and
// not once a second, in every mode, and the page says what is wrong.
func TestBrokerThatFailsWhileItDelivers(t *testing.T) {
	ends := map[string]func(c *scriptConn){
		"connection.close 541": func(c *scriptConn) { c.close(0, 541, "INTERNAL_ERROR") },
		"channel.close 541":    func(c *scriptConn) { c.close(1, 541, "INTERNAL_ERROR") },
		"plain close":          func(c *scriptConn) { c.hangUp() },
	}
	for _, tc := range []struct {
		name             string
		cfg              Config
		product, version string
		attempts         [2]int // at least, at most, in 90 s
		hour             int    // at most in an hour
		state            source.State
		words            string
	}{
		{"drain, type unknown", Config{Mode: source.Drain}, "other", "1", [2]int{2, 3}, 14, source.Reconnecting, "at the head of queue"},
		{"peek, type unknown", Config{}, "other", "1", [2]int{2, 3}, 14, source.Reconnecting, "at the head of queue"},
		{"drain, quorum", Config{Mode: source.Drain}, "RabbitMQ", "4.0.5", [2]int{2, 2}, 2, source.Stopped, "uses up a delivery"},
		{"copy", Config{
			Mode:     source.Copy,
			Exchange: "e",
		}, "RabbitMQ", "4.0.5", [2]int{2, 3}, 14, source.Reconnecting, "a message copied from exchange"},
		{"stream", Config{
			Mode:   source.Stream,
			Offset: "7",
		}, "RabbitMQ", "4.0.5", [2]int{2, 3}, 14, source.Reconnecting, "at offset 7"},
	} {
		for how, end := range ends {
			if tc.cfg.Mode == source.Stream && how != "plain close" {
				continue // see below
			}
			t.Run(tc.name+", "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &script{product: tc.product, version: tc.version, waiting: 5}
					s.consume = func(c *scriptConn, _ string, _ uint16, _ []byte) { end(c) }
					c, stop := s.start(t, tc.cfg)
					defer stop()
					time.Sleep(90 * time.Second)
					synctest.Wait()
					st := c.Status()
					if int(s.dialled.Load()) < tc.attempts[0] || int(s.dialled.Load()) > tc.attempts[1] {
						t.Errorf("%d connections in 90 s", int(s.dialled.Load()))
					}
					if st.State != tc.state || st.Kind != KindUndeliverable || !strings.Contains(st.Error, tc.words) ||
						!strings.Contains(st.Error, "its log says why") {
						t.Errorf("%s, %s: %s", st.State, st.Kind, st.Error)
					}
					time.Sleep(time.Hour - 90*time.Second)
					synctest.Wait()
					if int(s.dialled.Load()) > tc.hour {
						t.Errorf("%d connections in an hour", int(s.dialled.Load()))
					}
				})
			})
		}
	}
}

// TestNetworkThatHangsUp: what a broker cannot deliver, it sends nothing of. So a connection that
// ends after the beginning of a message is tried again as any other, unless that uses up
// deliveries.
func TestNetworkThatHangsUp(t *testing.T) {
	for _, tc := range []struct {
		name        string
		version     string // 0: the queue's type is not known
		least, most int32  // connections in 30 s
		state       source.State
		words       string
	}{
		{"another queue", "0", 12, 31, source.Reconnecting, "broker.example:5672"},
		{"quorum", "4.0.5", 3, 3, source.Stopped, `was lost 3 times in a row before a message of queue "q" could be stored`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{product: "RabbitMQ", version: tc.version, waiting: 5}
				s.consume = func(c *scriptConn, tag string, _ uint16, _ []byte) {
					c.begin(tag, true)
					c.send(1, 2, wire.AppendContentHeaderPayload(nil, 1))
					c.hangUp()
				}
				c, stop := s.start(t, Config{Mode: source.Drain})
				defer stop()
				time.Sleep(30 * time.Second)
				synctest.Wait()
				st := c.Status()
				if n := s.dialled.Load(); n < tc.least || n > tc.most || st.State != tc.state || st.Kind != KindLost ||
					!strings.Contains(st.Error, tc.words) {
					t.Errorf("%d connections in 30 s, %s, %s: %s", n, st.State, st.Kind, st.Error)
				}
			})
		})
	}
}

// TestCutsThatAreEnough: they stay far below what the queue allows.
func TestCutsThatAreEnough(t *testing.T) {
	for _, tc := range []struct{ limit, want int64 }{
		{unknownLimit, 3}, {0, 1}, {1, 1}, {3, 1}, {4, 2}, {7, 3}, {10, 5}, {20, 5}, {1000, 5},
	} {
		t.Run(fmt.Sprint(tc.limit), func(t *testing.T) {
			if got := patienceForCuts(attempt{counts: true, limit: tc.limit}); int64(got) != tc.want {
				t.Errorf("%d", got)
			}
		})
	}
}

// TestPartOfAMessage: a broker that sends a part of a message and nothing after that is left, and
// said to fail while it delivers when that happens again.
func TestPartOfAMessage(t *testing.T) {
	for _, tc := range []struct {
		name string
		part func(c *scriptConn)
	}{
		{"basic.deliver", func(*scriptConn) {}},
		{"content header", func(c *scriptConn) { c.send(1, 2, wire.AppendContentHeaderPayload(nil, 2)) }},
		{"half of the body", func(c *scriptConn) {
			c.send(1, 2, wire.AppendContentHeaderPayload(nil, 2))
			c.send(1, 3, []byte("b"))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{product: "other", version: "1", waiting: 5}
				s.consume = func(c *scriptConn, tag string, _ uint16, _ []byte) {
					c.begin(tag, false)
					tc.part(c)
				}
				c, stop := s.start(t, Config{Mode: source.Drain})
				defer stop()
				is := func(after time.Duration, state source.State, kind source.ErrorKind, words string) {
					t.Helper()
					time.Sleep(after)
					synctest.Wait()
					st := c.Status()
					if st.State != state || st.Kind != kind || !strings.Contains(st.Error, words) || st.Stored != 0 {
						t.Errorf("%s, %s: %s", st.State, st.Kind, st.Error)
					}
				}
				is(19*time.Second, source.Consuming, "", "")
				is(1500*time.Millisecond, source.Reconnecting, KindLost, "and nothing more of it for 20s")
				is(22*time.Second, source.Reconnecting, KindUndeliverable, "fails while delivering what is at the head")
			})
		})
	}
}

// TestStreamReadsOnBehindWhatCannotBeDelivered: it counts what it leaves out.
func TestStreamReadsOnBehindWhatCannotBeDelivered(t *testing.T) {
	for _, channel := range []uint16{0, 1} {
		t.Run(fmt.Sprint("close on channel ", channel), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{product: "RabbitMQ", version: "4.0.5", waiting: 20}
				s.consume = func(c *scriptConn, tag string, prefetch uint16, args []byte) {
					v, _ := fieldtable.View(args, fieldtable.Lenient()).Get(streamOffsetKey)
					offset, _ := v.Int64()
					for ; offset < 20; offset++ {
						if offset == 7 || offset == 12 {
							c.close(channel, 541, "INTERNAL_ERROR")
							return
						}
						headers := encode.Table(func(e *encode.Encoder) { e.Int64(streamOffsetKey, offset) })
						c.deliver(tag, false, headers)
					}
				}
				c, stop := s.start(t, Config{Mode: source.Stream, Offset: "3"})
				defer stop()
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				st := c.Status()
				if st.Stored != 15 || st.Undeliverable != 2 || st.UndeliverableAt != 12 ||
					st.State != source.Consuming || st.Error != "" {
					t.Errorf("%d stored, %d left out, the last at %d, %s: %s",
						st.Stored, st.Undeliverable, st.UndeliverableAt, st.State, st.Error)
				}
				if len(st.Notes) != 1 || !strings.Contains(st.Notes[0], "2 messages of this stream were left out") {
					t.Errorf("notes: %q", st.Notes)
				}
				if int(s.dialled.Load()) > 10 {
					t.Errorf("%d connections", int(s.dialled.Load()))
				}
			})
		})
	}
}

// TestOneChannel: a broker that allows a single channel can be peeked at, although its queue's type
// cannot be asked for.
func TestOneChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{product: "other", version: "1", waiting: 1, channels: 1}
		s.consume = func(c *scriptConn, tag string, _ uint16, _ []byte) { c.deliver(tag, false, nil) }
		c, stop := s.start(t, Config{})
		defer stop()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if st := c.Status(); st.Error != "" || c.cfg.Archive.Snapshot().Len() == 0 || s.dialled.Load() != 1 {
			t.Errorf("%s, %d messages by %d connections: %s", st.State, c.cfg.Archive.Snapshot().Len(), s.dialled.Load(), st.Error)
		}
	})
}
