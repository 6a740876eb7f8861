package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Frames that the tests put together.

func deliver(channel uint16, tag uint64, key string) []byte {
	return AppendDeliver(nil, &Delivery{
		Channel: channel, DeliveryTag: tag, Redelivered: tag%2 == 0,
		ConsumerTag: []byte("c1"), Exchange: []byte("amq.topic"), RoutingKey: []byte(key),
	})
}

func contentHeader(channel uint16, bodySize uint64) []byte {
	return AppendContentHeader(nil, channel, AppendContentHeaderPayload(nil, bodySize,
		Property{Name: "content_type", Raw: []byte("text/plain")},
		Property{Name: "headers", Raw: []byte("\x00\x00\x00\x05\x01kt\x01\x02")}))
}

func body(channel uint16, s string) []byte { return AppendFrame(nil, FrameBody, channel, []byte(s)) }

func method(channel, class, id uint16, args string) []byte {
	return AppendMethod(nil, channel, class, id, []byte(args))
}

func heartbeat() []byte { return AppendHeartbeat(nil) }

func join(frames ...[]byte) []byte { return bytes.Join(frames, nil) }

func withLastOctet(frame []byte, b byte) []byte {
	frame = slices.Clone(frame)
	frame[len(frame)-1] = b
	return frame
}

// streams are the cases that every test of chunking goes through, and the seeds of the fuzzing.
func streams() map[string][]byte {
	getOk := method(1, 60, 71, "\x00\x00\x00\x00\x00\x00\x00\x09\x00\x00\x01k\x00\x00\x00\x00")
	returned := method(1, 60, 50, "\x01\x38\x08NO_ROUTE\x00\x01k")
	return map[string][]byte{
		"empty":      nil,
		"one":        join(deliver(1, 1, "a"), contentHeader(1, 5), body(1, "hello")),
		"zero body":  join(deliver(1, 1, "a"), contentHeader(1, 0), deliver(1, 2, "b"), contentHeader(1, 0)),
		"split body": join(deliver(1, 1, "a"), contentHeader(1, 6), body(1, "he"), body(1, ""), body(1, "llo!")),
		"heartbeat inside": join(
			deliver(1, 1, "a"),
			heartbeat(),
			contentHeader(1, 4),
			heartbeat(),
			body(1, "ab"),
			heartbeat(),
			body(1, "cd"),
			heartbeat(),
		),
		"interleaved": join(
			deliver(1, 1, "a"),
			deliver(2, 1, "b"),
			contentHeader(2, 4),
			contentHeader(1, 4),
			body(1, "aa"),
			body(2, "bb"),
			deliver(3, 1, "c"),
			body(2, "bb"),
			contentHeader(3, 0),
			body(1, "aa"),
		),
		"get-ok": join(
			getOk,
			contentHeader(1, 3),
			body(1, "got"),
			deliver(1, 1, "a"),
			contentHeader(1, 1),
			body(1, "x"),
			getOk,
			contentHeader(1, 3),
			body(1, "got"),
		),
		"return": join(
			returned,
			contentHeader(1, 4),
			body(1, "back"),
			deliver(1, 1, "a"),
			contentHeader(1, 1),
			body(1, "x"),
		),
		"consume-ok between": join(
			method(1, 60, 21, "\x02c1"),
			deliver(1, 1, "a"),
			contentHeader(1, 0),
			method(1, 60, 11, ""),
		),
		"channel.close in content": join(
			deliver(1, 1, "a"),
			contentHeader(1, 9),
			body(1, "half"),
			method(1, 20, 40, "\x01\x94\x00\x00\x00\x00\x00"),
			heartbeat(),
		),
		"channel.close-ok": join(
			deliver(7, 1, "a"),
			contentHeader(7, 9),
			method(7, 20, 41, ""),
			body(7, "late"),
		),
		"channel.close on other": join(
			deliver(1, 1, "a"),
			contentHeader(1, 4),
			method(2, 20, 40, ""),
			body(1, "full"),
		),
		"connection.close": join(
			deliver(2, 1, "a"),
			contentHeader(2, 9),
			deliver(1, 1, "a"),
			contentHeader(1, 9),
			method(0, 10, 50, "\x01\x40\x00\x00\x00\x00\x00"),
		),
		"connection.close-ok": join(deliver(2, 1, "a"), contentHeader(2, 9), body(2, "x"), method(0, 10, 51, "")),
		"cancel in content": join(
			deliver(1, 1, "a"),
			contentHeader(1, 9),
			body(1, "x"),
			method(1, 60, 30, "\x02c1\x01"),
			deliver(1, 2, "b"),
			contentHeader(1, 0),
		),
		"deliver in content": join(
			deliver(1, 1, "a"),
			contentHeader(1, 9),
			body(1, "x"),
			deliver(1, 2, "b"),
			contentHeader(1, 0),
		),
		"deliver before header": join(deliver(1, 1, "a"), deliver(1, 2, "b"), contentHeader(1, 0)),
		"close before header": join(
			deliver(1, 1, "a"),
			method(1, 20, 40, ""),
			contentHeader(1, 3),
			body(1, "abc"),
		),
		"content without method": join(contentHeader(1, 3), body(1, "abc"), deliver(1, 1, "a"), contentHeader(1, 0)),
		"deliver on channel 0":   join(deliver(0, 1, "a"), contentHeader(0, 0), heartbeat()),
		"protocol header":        []byte("AMQP\x00\x00\x09\x01"),
		"protocol header later": join(
			deliver(1, 1, "a"),
			contentHeader(1, 9),
			[]byte("AMQP\x00\x00\x09\x01"),
			deliver(1, 1, "a"),
		),
		"unknown frame type": join(
			heartbeat(),
			AppendFrame(nil, 4, 1, []byte("oob")),
			deliver(1, 1, "a"),
			contentHeader(1, 0),
		),
		"wrong end of heartbeat": join(
			deliver(1, 1, "a"),
			contentHeader(1, 2),
			withLastOctet(heartbeat(), 0),
			body(1, "ab"),
		),
		"wrong end of method":  join(withLastOctet(method(1, 60, 11, ""), 1), deliver(1, 1, "a")),
		"wrong end of deliver": join(withLastOctet(deliver(1, 1, "a"), 0xCD), contentHeader(1, 0)),
		"wrong end of header":  join(deliver(1, 1, "a"), withLastOctet(contentHeader(1, 0), 0), heartbeat()),
		"wrong end of body": join(
			deliver(1, 1, "a"),
			contentHeader(1, 2),
			withLastOctet(body(1, "ab"), 7),
			heartbeat(),
		),
		"tiny method":       join(AppendFrame(nil, FrameMethod, 1, []byte("abc")), heartbeat()),
		"deliver too short": join(method(1, 60, 60, "\x00"), contentHeader(1, 0)),
		"deliver too long":  join(method(1, 60, 60, strings.Repeat("x", 800)), contentHeader(1, 0)),
		"deliver overruns": join(
			method(1, 60, 60, "\x02c1\x00\x00\x00\x00\x00\x00\x00\x01\x00\x01e\x09k"),
			contentHeader(1, 0),
		),
		"deliver with trailing": join(
			method(1, 60, 60, "\x02c1\x00\x00\x00\x00\x00\x00\x00\x01\x00\x01e\x01k!"),
			contentHeader(1, 0),
		),
		"body before header": join(deliver(1, 1, "a"), body(1, "x"), heartbeat()),
		"two headers":        join(deliver(1, 1, "a"), contentHeader(1, 3), contentHeader(1, 3)),
		"body too long":      join(deliver(1, 1, "a"), contentHeader(1, 3), body(1, "abcd"), heartbeat()),
		"header too short":   join(deliver(1, 1, "a"), AppendContentHeader(nil, 1, make([]byte, 13))),
		"header at limit": join(
			deliver(1, 1, "a"),
			AppendContentHeader(nil, 1, AppendContentHeaderPayload(nil, 0, Property{
				Name: "headers",
				Raw:  make([]byte, testMaxHeader-14),
			})),
		),
		"header over limit": join(
			deliver(1, 1, "a"),
			AppendContentHeader(nil, 1, make([]byte, testMaxHeader+1)),
		),
		"128 MiB header claim": join(deliver(1, 1, "a"), []byte{FrameHeader, 0, 1, 8, 0, 0, 0, 1, 2, 3}),
		"128 MiB body claim": join(
			deliver(1, 1, "a"),
			contentHeader(1, 128<<20),
			[]byte{FrameBody, 0, 1, 8, 0, 0, 0, 1, 2, 3},
		),
		"4 GiB method for library": {FrameMethod, 0, 1, 0xff, 0xff, 0xff, 0xff, 0, 60, 0, 11, 1, 2, 3},
		"ends in frame head": join(
			deliver(1, 1, "a"),
			contentHeader(1, 5),
			body(1, "hello"),
			[]byte{FrameBody, 0, 1},
		),
		"ends in method head":        join(heartbeat(), []byte{FrameMethod, 0, 1, 0, 0, 0, 9, 0, 60, 0}),
		"ends in deliver":            deliver(1, 1, "a")[:15],
		"ends in header":             join(deliver(1, 1, "a"), contentHeader(1, 5)[:20]),
		"ends in body":               join(deliver(1, 1, "a"), contentHeader(1, 5), body(1, "hello")[:9]),
		"ends before body frame end": join(deliver(1, 1, "a"), contentHeader(1, 5), body(1, "hello")[:12]),
	}
}

// testMaxHeader lets the tests reach the limit with few octets.
const testMaxHeader = 300

func (r reading) String() string {
	return fmt.Sprintf("library %x\nevents\n  %s\nerror %s", r.library, strings.Join(r.events, "\n  "), r.err)
}

func TestTapAnyChunking(t *testing.T) {
	for name, stream := range streams() {
		t.Run(name, func(t *testing.T) {
			want := refer(stream, testMaxHeader)
			for _, cut := range []int{1, 2, 3, 7, 8, 11, 64, 1 << 20} {
				for _, read := range []int{1, 5, 4096} {
					if got := tapped(stream, testMaxHeader, []int{cut}, []int{read}); got.String() != want.String() {
						t.Fatalf("cut %d, reads of %d:\n%v\nwant\n%v", cut, read, got, want)
					}
				}
			}
			for cut := range len(stream) {
				got := tapped(stream, testMaxHeader, []int{cut, 1 << 20}, []int{4096})
				if got.String() != want.String() {
					t.Fatalf("cut at %d:\n%v\nwant\n%v", cut, got, want)
				}
			}
		})
	}
}

// TestTapResults states by hand what some of the streams must come to, so that the reference itself
// is held to it.
func TestTapResults(t *testing.T) {
	const header = "003c0000%016xa0000a746578742f706c61696e00000005016b740102"
	begin := func(channel int, tag uint64, key string, size uint64) string {
		return fmt.Sprintf(
			"begin %d tag=%d redelivered=%t consumer=\"c1\" exchange=\"amq.topic\" key=%q size=%d header="+header,
			channel,
			tag,
			tag%2 == 0,
			key,
			size,
			size,
		)
	}
	getOk := method(1, 60, 71, "\x00\x00\x00\x00\x00\x00\x00\x09\x00\x00\x01k\x00\x00\x00\x00")
	tests := map[string]reading{
		"one":       {nil, []string{begin(1, 1, "a", 5), "end 1 body=68656c6c6f"}, "EOF"},
		"zero body": {nil, []string{begin(1, 1, "a", 0), "end 1 body=", begin(1, 2, "b", 0), "end 1 body="}, "EOF"},
		"heartbeat inside": {join(heartbeat(), heartbeat(), heartbeat(), heartbeat()),
			[]string{begin(1, 1, "a", 4), "end 1 body=61626364"}, "EOF"},
		"interleaved": {nil, []string{begin(2, 1, "b", 4), begin(1, 1, "a", 4), "end 2 body=62626262",
			begin(3, 1, "c", 0), "end 3 body=", "end 1 body=61616161"}, "EOF"},
		"get-ok": {join(getOk, contentHeader(1, 3), body(1, "got"), getOk, contentHeader(1, 3), body(1, "got")),
			[]string{begin(1, 1, "a", 1), "end 1 body=78"}, "EOF"},
		"channel.close in content": {join(method(1, 20, 40, "\x01\x94\x00\x00\x00\x00\x00"), heartbeat()),
			[]string{begin(1, 1, "a", 9), "abort 1 goes on=false body=68616c66"}, "EOF"},
		"close before header": {join(method(1, 20, 40, ""), contentHeader(1, 3), body(1, "abc")),
			[]string{"abort 1 goes on=false body="}, "EOF"},
		"cancel in content": {method(1, 60, 30, "\x02c1\x01"),
			[]string{begin(1, 1, "a", 9), "abort 1 goes on=true body=78", begin(1, 2, "b", 0), "end 1 body="}, "EOF"},
		"deliver in content": {
			nil,
			[]string{begin(1, 1, "a", 9), "abort 1 goes on=true body=78", begin(1, 2, "b", 0), "end 1 body="},
			"EOF",
		},
		"deliver before header": {
			nil,
			[]string{"abort 1 goes on=true body=", begin(1, 2, "b", 0), "end 1 body="},
			"EOF",
		},
		"connection.close": {method(0, 10, 50, "\x01\x40\x00\x00\x00\x00\x00"),
			[]string{
				begin(2, 1, "a", 9),
				begin(1, 1, "a", 9),
				"abort 1 goes on=false body=",
				"abort 2 goes on=false body=",
			}, "EOF"},
		"protocol header later": {join([]byte("AMQP\x00\x00\x09\x01"), deliver(1, 1, "a")),
			[]string{begin(1, 1, "a", 9), "abort 1 goes on=false body="}, "EOF"},
		"wrong end of deliver": {join(withLastOctet(deliver(1, 1, "a"), 0xCD), contentHeader(1, 0)), nil, "EOF"},
		"wrong end of body": {nil, []string{begin(1, 1, "a", 2), "abort 1 goes on=false body=6162"},
			"channel 1: body frame ends in 0x07 instead of 0xCE"},
		"body too long": {nil, []string{begin(1, 1, "a", 3), "abort 1 goes on=false body="},
			"channel 1: body frame of 4 octets where 3 were to come"},
		"header over limit": {
			nil,
			[]string{"abort 1 goes on=false body="},
			"channel 1: content header of 301 octets is larger than the limit of 300",
		},
		"ends in body": {nil, []string{begin(1, 1, "a", 5), "abort 1 goes on=false body=6865"}, "EOF"},
	}
	all := streams()
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			stream, ok := all[name]
			if !ok {
				t.Fatal("no such stream")
			}
			if got := tapped(stream, testMaxHeader, nil, []int{4096}); got.String() != want.String() {
				t.Errorf("got\n%v\nwant\n%v", got, want)
			}
		})
	}
}

// TestTapLargeFrames sends what does not fit the Tap's buffer: headers above frame_max, and content
// for the library.
func TestTapLargeFrames(t *testing.T) {
	big := make([]byte, 3*tapBufferBytes)
	for i := range big {
		big[i] = byte(i * 7)
	}
	header := AppendContentHeaderPayload(nil, uint64(len(big)), Property{Name: "headers", Raw: big})
	stream := join(
		deliver(1, 1, "a"), AppendContentHeader(nil, 1, header), AppendBody(nil, 1, big, 0),
		method(1, 60, 71, "x"), AppendContentHeader(nil, 1, header), AppendBody(nil, 1, big, 4096),
		deliver(1, 2, "b"), contentHeader(1, 2), body(1, "ok"))
	want := refer(stream, DefaultMaxHeaderBytes)
	if len(want.events) != 4 || want.err != "EOF" {
		t.Fatalf("the reference found %d events and %s", len(want.events), want.err)
	}
	for _, cut := range []int{0, 1000, tapBufferBytes - 1, tapBufferBytes, tapBufferBytes + 1} {
		var cuts []int
		if cut > 0 {
			cuts = []int{cut, 13}
		}
		if got := tapped(stream, DefaultMaxHeaderBytes, cuts, []int{70000, 1}); got.String() != want.String() {
			t.Errorf("cut %d: the Tap's reading differs from the reference", cut)
		}
	}
}

func TestTapClaimsTakeNoMemory(t *testing.T) {
	const mib = 1 << 20
	for name, claim := range map[string][]byte{
		"header": join(deliver(1, 1, "a"), []byte{FrameHeader, 0, 1, 0, 0xff, 0, 0}, make([]byte, 1000)),
		"body":   join(deliver(1, 1, "a"), contentHeader(1, 1<<62), []byte{FrameBody, 0, 1, 8, 0, 0, 0}, make([]byte, 1000)),
		"method": append([]byte{FrameMethod, 0, 1, 8, 0, 0, 0, 0, 60, 0, 11}, make([]byte, 1000)...),
	} {
		t.Run(name, func(t *testing.T) {
			tap := NewTap(&script{stream: claim, cuts: []int{100}}, TapConfig{Sink: discard{}})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := io.Copy(io.Discard, onlyReader{tap}); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > mib {
				t.Errorf("%d octets were allocated for %d that arrived", got, len(claim))
			}
		})
	}
}

func TestTapKeepsLibraryAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		tap := NewTap(near, TapConfig{Sink: discard{}})
		var library []byte
		var reader sync.WaitGroup
		reader.Go(func() {
			p := make([]byte, 7)
			for {
				n, err := tap.Read(p)
				library = append(library, p[:n]...)
				if err != nil {
					return
				}
			}
		})
		defer reader.Wait()
		defer near.Close()
		// expect sends b and says what of it, or besides it, the library must get.
		expect := func(b, want []byte) {
			t.Helper()
			if _, err := far.Write(b); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if !bytes.Equal(library, want) {
				t.Fatalf("the library got %x, want %x", library, want)
			}
			library = nil
		}
		message := join(deliver(1, 1, "a"), contentHeader(1, 4), body(1, "full"))
		frame := method(1, 60, 11, strings.Repeat("x", 20))

		expect(frame, frame)
		expect(message, nil)

		// A heartbeat is due with the first octets that arrive a second or more after the last ones
		// for the library.
		time.Sleep(999 * time.Millisecond)
		expect(message, nil)
		time.Sleep(time.Millisecond)
		expect(message, heartbeat())
		expect(message[:20], nil)
		time.Sleep(1500 * time.Millisecond)
		expect(message[20:30], heartbeat())
		time.Sleep(500 * time.Millisecond)
		expect(message[30:], nil)

		// Inside a frame for the library there is no place for one.
		time.Sleep(500 * time.Millisecond)
		expect(join(message, frame[:15]), frame[:15])
		time.Sleep(5 * time.Second)
		expect(frame[15:], frame[15:])

		// Without anything from the broker there is none, however long.
		time.Sleep(time.Hour)
		expect(frame, frame)

		// After the Tap has stepped aside there is none.
		expect([]byte("AMQP"), []byte("AMQP"))
		time.Sleep(time.Minute)
		expect(message, message)
	})
}

// TestTapStall: a delivery that stands still ends the stream once other frames have come for so
// long.
func TestTapStall(t *testing.T) {
	const stall = 10 * time.Second
	other := method(2, 50, 11, "a declare-ok")
	large := body(1, "full")
	for _, tc := range []struct {
		name  string
		begun []byte
	}{
		{"method", deliver(1, 1, "a")},
		{"content header", join(deliver(1, 1, "a"), contentHeader(1, 4))},
		{"a part of the body", join(deliver(1, 1, "a"), contentHeader(1, 8), body(1, "half"))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				tap := NewTap(near, TapConfig{Sink: discard{}, Stall: stall})
				ended := make(chan error, 1)
				go func() {
					_, err := io.Copy(io.Discard, onlyReader{tap})
					ended <- err
				}()
				defer near.Close()
				send := func(b []byte, after time.Duration) {
					t.Helper()
					time.Sleep(after)
					if _, err := far.Write(b); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
				}
				send(join(other, deliver(1, 1, "a"), contentHeader(1, 4), large), 0)
				send(other, time.Hour) // between deliveries any time may pass
				send(tc.begun, time.Hour)
				send(other, 0)
				send(other, stall-time.Millisecond)
				if len(ended) > 0 {
					t.Fatal("ended early:", <-ended)
				}
				send(other, time.Millisecond)
				if err := <-ended; !errors.As(err, new(*StallError)) || err.Error() != "channel 1: a delivery has stood still for 10s" {
					t.Error(err)
				}
			})
		})
	}
}

// TestTapStallOfAMessageThatGoesOn: each part gives it time anew.
func TestTapStallOfAMessageThatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		tap := NewTap(near, TapConfig{Sink: discard{}, Stall: 10 * time.Second})
		ended := make(chan error, 1)
		go func() {
			_, err := io.Copy(io.Discard, onlyReader{tap})
			ended <- err
		}()
		parts := [][]byte{deliver(1, 1, "a"), contentHeader(1, 3), body(1, "a"), body(1, "b"), body(1, "c")}
		for _, part := range parts {
			for _, b := range [][]byte{part, heartbeat()} {
				time.Sleep(9 * time.Second)
				if _, err := far.Write(b); err != nil {
					t.Fatal(err)
				}
			}
		}
		far.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestTapErrorIsFinal(t *testing.T) {
	tap := NewTap(&script{stream: join(deliver(1, 1, "a"), body(1, "x"), heartbeat())}, TapConfig{Sink: discard{}})
	for range 3 {
		n, err := tap.Read(make([]byte, 100))
		if _, ok := err.(*FrameError); n != 0 || !ok {
			t.Errorf("Read = %d, %v; want the FrameError again", n, err)
		}
	}
}

func TestTapWithoutSinkIsTransparent(t *testing.T) {
	stream := join(deliver(1, 1, "a"), contentHeader(1, 1), body(1, "x"))
	got, err := io.ReadAll(onlyReader{NewTap(&script{stream: stream}, TapConfig{})})
	if err != nil || !bytes.Equal(got, stream) {
		t.Errorf("got %x, %v", got, err)
	}
}

func TestTapDoesNotAllocatePerDelivery(t *testing.T) {
	message := join(
		deliver(1, 1, "orders.created"),
		contentHeader(1, 1024),
		AppendBody(nil, 1, make([]byte, 1024), 4096),
	)
	loop := &loopConn{frames: message, last: heartbeat()}
	tap := NewTap(loop, TapConfig{Sink: discard{}})
	p := make([]byte, 4096)
	read := func() {
		loop.n = 100
		if n, err := tap.Read(p); !bytes.Equal(p[:n], loop.last) || err != nil {
			t.Fatalf("got %x, %v", p[:n], err)
		}
	}
	read()
	if n := testing.AllocsPerRun(20, read); n > 0 {
		t.Errorf("%v allocations for 100 deliveries", n)
	}
}

func FuzzTap(f *testing.F) {
	for _, stream := range streams() {
		f.Add(stream, uint64(1))
		f.Add(stream, uint64(2))
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		cuts, reads := make([]int, 1+r.IntN(8)), make([]int, 1+r.IntN(8))
		for i := range cuts {
			cuts[i] = 1 + r.IntN(1<<r.IntN(10))
		}
		for i := range reads {
			reads[i] = 1 + r.IntN(1<<r.IntN(13))
		}
		want := refer(stream, testMaxHeader)
		if got := tapped(stream, testMaxHeader, cuts, reads); got.String() != want.String() {
			t.Fatalf("cuts %v, reads %v:\n%v\nwant\n%v", cuts, reads, got, want)
		}
	})
}

func BenchmarkTap(b *testing.B) {
	message := join(
		deliver(1, 1, "orders.created"),
		contentHeader(1, 1024),
		AppendBody(nil, 1, make([]byte, 1024), 131072),
	)
	frames := bytes.Repeat(message, 50)
	loop := &loopConn{frames: frames, n: b.N/50 + 1, last: heartbeat()}
	tap := NewTap(loop, TapConfig{Sink: discard{}})
	b.SetBytes(int64(len(message)))
	b.ReportAllocs()
	b.ResetTimer()
	if _, err := tap.Read(make([]byte, 4096)); err != nil {
		b.Fatal(err)
	}
}

// loopConn gives the same frames n times, as much at once as Read has room for, then last.
type loopConn struct {
	net.Conn
	frames []byte
	at, n  int
	last   []byte
}

func (c *loopConn) Read(p []byte) (int, error) {
	total := 0
	for total < len(p) && c.n > 0 {
		k := copy(p[total:], c.frames[c.at:])
		total += k
		if c.at += k; c.at == len(c.frames) {
			c.at = 0
			c.n--
		}
	}
	if total == 0 {
		return copy(p, c.last), nil
	}
	return total, nil
}

type discard struct{}

func (discard) Begin(*Delivery)     {}
func (discard) Body(uint16, []byte) {}
func (discard) End(uint16)          {}
func (discard) Abort(uint16, bool)  {}

// onlyReader hides what else a net.Conn can do, so that io.Copy reads.
type onlyReader struct{ io.Reader }
