package broker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/headerglass/headerglass/fieldtable/wire"
)

func TestChooseMechanisms(t *testing.T) {
	password := []mechanism{saslSCRAM256, saslSCRAM1, saslPlain, saslCRAM}
	for _, tt := range []struct {
		name, sasl         string
		certificate, named bool
		want               []mechanism
	}{
		{"a user", "", false, true, password},
		{"nobody", "", false, false, append(slices.Clone(password), saslAnonymous)},
		{"a certificate", "", true, false, []mechanism{saslExternal}},
		{"a certificate and a user", "", true, true, password},
		{"chosen", "scram-sha-1", true, true, []mechanism{saslSCRAM1}},
		{"chosen in capitals", "EXTERNAL", false, true, []mechanism{saslExternal}},
		{"unknown", "gssapi", false, true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := chooseMechanisms(tt.sasl, tt.certificate, tt.named)
			if !slices.Equal(got, tt.want) || (err != nil) != (tt.want == nil) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

// TestCRAM: the example of RFC 2195.
func TestCRAM(t *testing.T) {
	l := login{endpoint: &endpoint{username: "tim", password: "tanstaaftanstaaf"}}
	got, err := l.cram("<1896.697170952@postoffice.reston.mci.net>")
	if want := "tim b913a602c7eda7a495b4e6e7334d3890"; got != want || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// fakeConn reads from r and keeps what is written.
type fakeConn struct {
	net.Conn
	io.Reader
	wrote bytes.Buffer
}

func (f *fakeConn) Read(p []byte) (int, error)  { return f.Reader.Read(p) }
func (f *fakeConn) Write(p []byte) (int, error) { return f.wrote.Write(p) }

func longString(s string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...)
}

// TestHandshakeHandsOnEverythingButChallenges: however what arrives is cut.
func TestHandshakeHandsOnEverythingButChallenges(t *testing.T) {
	offered := slices.Concat([]byte{0, 9}, longString(""), longString("PLAIN SCRAM-SHA-1"), longString("en_US"))
	start := wire.AppendMethod(nil, 0, 10, 10, offered)
	secure := wire.AppendMethod(nil, 0, 10, 20, longString("who?"))
	tune := wire.AppendMethod(nil, 0, 10, 30, make([]byte, 8))
	openOk := wire.AppendMethod(nil, 0, 10, 41, []byte{0})
	later := wire.AppendMethod(nil, 0, 10, 20, longString("no challenge any more"))
	closing := wire.AppendMethod(nil, 0, 10, 50, []byte("\x02\x12\x02no\x00\x0a\x00\x0b"))
	huge := append([]byte{1, 0, 0, 0xff, 0xff, 0xff, 0xff}, "huge"...)
	for _, tt := range []struct {
		name     string
		in, want []byte
		closed   methodClose
	}{
		{"a login", slices.Concat(start, secure, tune, openOk, later), slices.Concat(start, tune, openOk, later), methodClose{}},
		{"a refusal", slices.Concat(start, closing), slices.Concat(start, closing), methodClose{530, 10, 11}},
		{"another protocol", []byte("HTTP/1.1 400 Bad Request\r\n"), []byte("HTTP/1.1 400 Bad Request\r\n"), methodClose{}},
		{"a frame cut off", start[:9], start[:9], methodClose{}},
		{"half a head", start[:3], start[:3], methodClose{}},
		{"a frame too large", huge, huge, methodClose{}},
		{"a close cut off", closing[:14], closing[:14], methodClose{}},
	} {
		for _, cut := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				conn := &fakeConn{Reader: bytes.NewReader(tt.in)}
				if cut {
					conn.Reader = iotest.OneByteReader(conn.Reader)
				}
				h := &handshake{Conn: conn}
				h.answers(func(challenge string) (string, error) { return challenge + " me", nil })
				got, err := io.ReadAll(h)
				if err != nil || !bytes.Equal(got, tt.want) || h.closed != tt.closed {
					t.Errorf("%q, %v, closed %v", got, err, h.closed)
				}
				if tt.name == "a login" {
					want := wire.AppendMethod(nil, 0, 10, 21, longString("who? me"))
					if !bytes.Equal(conn.wrote.Bytes(), want) {
						t.Errorf("answered %q", conn.wrote.Bytes())
					}
					if !slices.Equal(h.offered, []string{"PLAIN", "SCRAM-SHA-1"}) {
						t.Errorf("offered %q", h.offered)
					}
				}
			})
		}
	}
}

// TestHandshakeFails: a challenge that cannot be answered ends the connection.
func TestHandshakeFails(t *testing.T) {
	broken := errors.New("not the right server")
	for _, tt := range []struct {
		name   string
		args   []byte
		answer error
		want   error
	}{
		{"refused", longString("who?"), broken, broken},
		{"too short", []byte{0, 0}, nil, errChallenge},
		{"longer than it is", []byte{0, 0, 0, 9, 'x'}, nil, errChallenge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := &handshake{Conn: &fakeConn{Reader: bytes.NewReader(wire.AppendMethod(nil, 0, 10, 20, tt.args))}}
			h.answers(func(string) (string, error) { return "", tt.answer })
			if _, err := io.ReadAll(h); !errors.Is(err, tt.want) {
				t.Error(err)
			}
			if _, fault := h.login(); !errors.Is(fault, tt.want) {
				t.Errorf("noted: %v", fault)
			}
		})
	}
}
