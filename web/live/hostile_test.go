package live

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/web/eventually"
)

// raw is a peer that speaks websocket by hand, so that it can speak it badly.
type raw struct {
	net.Conn
	t testing.TB
	r *bufio.Reader
}

const handshake = "GET /live HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
	"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

// upgrade makes a raw peer of a connection to the server.
func upgrade(t testing.TB, c net.Conn) *raw {
	t.Helper()
	p := &raw{c, t, bufio.NewReader(c)}
	c.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(c, handshake); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(p.r, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v, %v", resp, err)
	}
	return p
}

// tcp puts the fixture behind a real socket.
func (f *fixture) tcp(t testing.TB) string {
	t.Helper()
	srv := httptest.NewServer(f.srv.Handler)
	t.Cleanup(func() {
		f.stop()
		srv.Close()
	})
	return strings.TrimPrefix(srv.URL, "http://")
}

func connect(t testing.TB, addr string) *raw {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return upgrade(t, c)
}

const (
	opContinue = 0x0
	opText     = 0x1
	opBinary   = 0x2
	opClose    = 0x8
	opPing     = 0x9
	opPong     = 0xa
	fin        = 0x80
	rsv1       = 0x40
	masked     = 0x80
)

// frameHead begins a masked frame that claims a length; the mask is zero.
func frameHead(first byte, length uint64) []byte {
	b := []byte{first}
	switch {
	case length < 126:
		b = append(b, masked|byte(length))
	case length < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, masked|126), uint16(length))
	default:
		b = binary.BigEndian.AppendUint64(append(b, masked|127), length)
	}
	return append(b, 0, 0, 0, 0)
}

func frame(first byte, payload string) []byte {
	return append(frameHead(first, uint64(len(payload))), payload...)
}

// closed reads until the server ends the connection; code is that of its close
// frame, 0 without one.
func (p *raw) closed() (code int) {
	p.t.Helper()
	for {
		var head [2]byte
		if _, err := io.ReadFull(p.r, head[:]); err != nil {
			if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
				p.t.Error("still open")
			}
			return code
		}
		length := uint64(head[1] & 0x7f)
		switch length {
		case 126:
			var n [2]byte
			io.ReadFull(p.r, n[:])
			length = uint64(binary.BigEndian.Uint16(n[:]))
		case 127:
			var n [8]byte
			io.ReadFull(p.r, n[:])
			length = binary.BigEndian.Uint64(n[:])
		}
		payload := make([]byte, length)
		if _, err := io.ReadFull(p.r, payload); err != nil {
			return code
		}
		if head[0]&0x0f == opClose && len(payload) >= 2 {
			code = int(binary.BigEndian.Uint16(payload))
		}
	}
}

// repeat sends b until the server does not take it any more, or the limit is
// reached, and returns how many bytes that were.
func (p *raw) repeat(b []byte, limit int) (sent int) {
	chunk := b
	for len(chunk) < 4096 && len(b) > 0 {
		chunk = append(chunk[:len(chunk):len(chunk)], b...)
	}
	for sent < limit {
		n, err := p.Write(chunk)
		sent += n
		if err != nil {
			return sent
		}
	}
	return sent
}

// What a peer sends that no browser would send ends its connection, with the
// fitting code where one can still be told, and costs only what arrived.
func TestHostilePeers(t *testing.T) {
	const sockets = 32 << 20 // more than the buffers of both sockets take
	for _, tt := range []struct {
		name  string
		first []byte // sent once
		then  []byte // sent again and again
		codes []int  // 0: cut off without a word
	}{
		{"100 MB message", frameHead(fin|opText, 100_000_000), make([]byte, 4096), []int{websocket.CloseMessageTooBig}},
		{"100 MB binary message", frameHead(fin|opBinary, 100_000_000), make([]byte, 4096), []int{websocket.CloseMessageTooBig}},
		{"longest message", frameHead(fin|opText, 1<<63-1), make([]byte, 4096), []int{websocket.CloseMessageTooBig}},
		{"negative length", frameHead(fin|opText, 1<<63), nil, []int{websocket.CloseMessageTooBig, websocket.CloseProtocolError, 0}},
		{"fragments without end", frame(opText, "a"), frame(opContinue, "a"), []int{websocket.CloseMessageTooBig}},
		{"empty fragments without end", frame(opText, ""), frame(opContinue, ""), []int{websocket.ClosePolicyViolation, 0}},
		{"ping flood", nil, frame(fin|opPing, "x"), []int{websocket.ClosePolicyViolation, 0}},
		{"pong flood", nil, frame(fin|opPong, ""), []int{websocket.ClosePolicyViolation, 0}},
		{"message flood", nil, frame(fin|opText, `{"ack":0}`), []int{websocket.ClosePolicyViolation, 0}},
		{"long ping", frameHead(fin|opPing, 126), nil, []int{websocket.CloseProtocolError}},
		{"ping in parts", frameHead(opPing, 0), nil, []int{websocket.CloseProtocolError}},
		{"bad UTF-8", frame(fin|opText, "\xff"), nil, []int{websocket.CloseInvalidFramePayloadData}},
		{"bad UTF-8 in parts", append(frame(opText, "{\"ack\":1}\xf0\x9f"), frame(fin|opContinue, "\x98")...), nil, []int{websocket.CloseInvalidFramePayloadData}},
		{"surrogate", frame(fin|opText, "\xed\xa0\x80"), nil, []int{websocket.CloseInvalidFramePayloadData}},
		{"bad UTF-8 in a reason", frame(fin|opClose, "\x03\xe8\xff"), nil, []int{websocket.CloseProtocolError, websocket.CloseInvalidFramePayloadData}},
		{"bad close code", frame(fin|opClose, "\x00\x01"), nil, []int{websocket.CloseProtocolError}},
		{"close with half a code", frame(fin|opClose, "\x03"), nil, []int{0, websocket.CloseProtocolError}},
		{"not masked", []byte{fin | opText, 2, '{', '}'}, nil, []int{websocket.CloseProtocolError}},
		{"compressed without agreement", frame(fin|rsv1|opText, "x"), nil, []int{websocket.CloseProtocolError}},
		{"unknown opcode", frame(fin|0x3, ""), nil, []int{websocket.CloseProtocolError}},
		{"continued from nothing", frame(fin|opContinue, "x"), nil, []int{websocket.CloseProtocolError}},
		{"HTTP again", []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), nil, []int{websocket.CloseProtocolError}},
		{"deep JSON", frame(fin|opText, strings.Repeat("[", 500)), nil, []int{websocket.ClosePolicyViolation}},
		{"nothing but zeros", nil, make([]byte, 4096), []int{websocket.CloseProtocolError}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := start(t, Config{}, archive.Config{}, nil)
			p := connect(t, f.tcp(t))
			p.Write(tt.first)
			var wg sync.WaitGroup
			wg.Go(func() {
				if len(tt.then) > 0 {
					if sent := p.repeat(tt.then, sockets); sent >= sockets {
						t.Errorf("the server took %d bytes", sent)
					}
				}
			})
			// The connection may be reset before its close frame is read, where
			// more has been sent than was read.
			code := p.closed()
			ok := len(tt.then) > 0 && code == 0
			for _, want := range tt.codes {
				ok = ok || code == want
			}
			if !ok {
				t.Errorf("closed with %d, want one of %d", code, tt.codes)
			}
			p.Close()
			wg.Wait()
		})
	}
}

// A peer that sends a byte a second is no browser either: it answers no ping.
func TestOneByteASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Config{}, archive.Config{}, nil)
		defer f.stop()
		c, err := f.lis.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		p := upgrade(t, c)
		p.SetDeadline(time.Time{})
		go io.Copy(io.Discard, p.r)
		begin := time.Now()
		long := frame(fin|opText, strings.Repeat(" ", 500))
		for i := 0; ; i++ {
			if _, err := p.Write(long[i%len(long) : i%len(long)+1]); err != nil {
				break
			}
			time.Sleep(time.Second)
		}
		if d := time.Since(begin); d > pongWait+writeWait {
			t.Errorf("dropped after %v, want %v", d, pongWait)
		}
	})
}

// Peers that never read cost what two batches take, slow no one else, and are
// gone when the feeds close.
func TestPeersThatNeverRead(t *testing.T) {
	const deaf, batches = 100, 20
	row := strings.Repeat("<td>x</td>", 40)
	f := start(t, Config{MaxConnsPerAddr: 2 * deaf}, archive.Config{}, func(s *Stream) {
		s.Rows = func(_ context.Context, w io.Writer, _ []archive.Snapshot, ms []archive.Message) error {
			for range ms {
				io.WriteString(w, row)
			}
			return nil
		}
	})
	addr := f.tcp(t)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for range deaf {
		c := connect(t, addr)
		if err := c.Conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
			t.Fatal(err)
		}
	}
	ws, _, err := websocket.DefaultDialer.Dial("ws://"+addr+"/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	quick := &client{t, ws}
	var worst time.Duration
	for range batches {
		f.add(60, "a")
		begin := time.Now()
		m := quick.read()
		worst = max(worst, time.Since(begin))
		quick.ack(m.To)
	}
	if worst > 5*time.Second {
		t.Errorf("a peer that reads waited %v for a batch", worst)
	}
	if grown := int64(heap()) - int64(before); grown > deaf*300<<10 {
		t.Errorf("%d peers that do not read hold %d KiB each", deaf, grown/deaf>>10)
	}
	begin := time.Now()
	f.feeds.Close()
	if d := time.Since(begin); d > 5*time.Second {
		t.Errorf("closing took %v", d)
	}
	if n := f.feeds.Conns(); n != 0 {
		t.Errorf("%d connections are left", n)
	}
}

// Connections that vanish without a word do not count for long.
func TestVanishingPeers(t *testing.T) {
	f := start(t, Config{MaxConnsPerAddr: 4}, archive.Config{}, nil)
	addr := f.tcp(t)
	for i := range 40 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		// The server has to see the earlier ones go.
		eventually.True(t, 10*time.Second, "there is room for one more", func() bool { return f.feeds.Conns() < 4 })
		p := upgrade(t, c)
		p.Write(frameHead(opText, uint64(i)))
		c.(*net.TCPConn).SetLinger(0) // a reset, as of a machine that lost its state
		c.Close()
	}
}

func TestHandshakesThatAreNone(t *testing.T) {
	f := start(t, Config{}, archive.Config{}, nil)
	addr := f.tcp(t)
	for name, change := range map[string][2]string{
		"no key":        {"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", ""},
		"short key":     {"dGhlIHNhbXBsZSBub25jZQ==", "eA=="},
		"old version":   {"Version: 13", "Version: 8"},
		"no upgrade":    {"Upgrade: websocket\r\n", ""},
		"no connection": {"Connection: Upgrade\r\n", ""},
		"POST":          {"GET", "POST"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(10 * time.Second))
			fmt.Fprint(c, strings.Replace(handshake, change[0], change[1], 1))
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode < 400 {
				t.Errorf("status %d", resp.StatusCode)
			}
			if n := f.feeds.Conns(); n != 0 {
				t.Errorf("%d connections are counted", n)
			}
		})
	}
}
