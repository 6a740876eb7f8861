package broker_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/specimens"
)

// FuzzFieldTableAgainstClient reads the same table with fieldtable and, as the headers of a
// returned message, with amqp091-go's own decoder. Where both accept it the values agree. Where one
// refuses it, the reason is one of those in knownDifference.
func FuzzFieldTableAgainstClient(f *testing.F) {
	for _, s := range specimens.Specimens() {
		f.Add(s.Encoded)
	}
	f.Fuzz(func(t *testing.T, encoded []byte) { compareWithClient(t, encoded) })
}

// The same for real tables in which a few octets are wrong.
func TestFieldTableAgainstClient(t *testing.T) {
	const wrong = "\x00\x01\x7f\x80\xffSIlFAtVxLZ"
	r := rand.New(rand.NewSource(1))
	for range 500 {
		encoded := specimens.Mix(r)
		compareWithClient(t, encoded)
		for range r.Intn(4) {
			encoded[4+r.Intn(len(encoded)-4)] = wrong[r.Intn(len(wrong))]
		}
		compareWithClient(t, encoded)
	}
}

func compareWithClient(t *testing.T, encoded []byte) {
	table, rest := fieldtable.Cut(encoded, fieldtable.RabbitMQ())
	if len(rest) > 0 || len(encoded) > 1<<20 {
		return // the table would not end with its frame
	}
	ours := table.Valid()
	headers, theirs := decodeWithClient(t, encoded)
	switch {
	case ours == nil && theirs == nil:
		if diff := tableDifference(headers, table); diff != "" {
			t.Fatalf("%x: %s", encoded, diff)
		}
	case (ours == nil) != (theirs == nil) && knownDifference(table, ours) == "":
		t.Fatalf("%x: fieldtable says %v, amqp091-go %v", encoded, ours, theirs)
	}
}

// knownDifference says why one of the two refuses a table that the other accepts; ours is what
// fieldtable says.
func knownDifference(table fieldtable.Table, ours error) string {
	if damage, ok := errors.AsType[*fieldtable.SyntaxError](ours); ok {
		// readArrayDepth takes an io.EOF from anywhere below an element for the end of the array,
		// and drops that element.
		if strings.Contains(damage.Path, "[") {
			return "damage in an array"
		}
		// It reads an array through a limit on what is left, so that one whose length is too great
		// ends where its parent does.
		if damage.Err == fieldtable.ErrLengthOverrun && damage.HasTag && damage.Tag == 'A' {
			return "an array longer than its parent"
		}
		return ""
	}
	s := table.Scan()
	return knownRefusal(&s)
}

// knownRefusal looks for what amqp091-go refuses in a sound table.
func knownRefusal(s *fieldtable.Scanner) string {
	const maxElements = 8192 // maxContainerElements
	for s.Next() {
		if s.Value().Tag() == 'L' {
			return "readField does not know L, which py-amqp writes"
		}
		if s.Index() >= maxElements {
			return "more elements than amqp091-go allows"
		}
		if inner, ok := s.Into(); ok {
			if why := knownRefusal(&inner); why != "" {
				return why
			}
		}
	}
	return ""
}

// tableDifference compares what amqp091-go made of a table, in which the last of duplicates counts.
func tableDifference(got amqp.Table, table fieldtable.Table) string {
	want := map[string]fieldtable.Value{}
	for f, err := range table.All() {
		if err != nil {
			return err.Error()
		}
		want[string(f.Name)] = f.Value
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%d keys, want %d", len(got), len(want))
	}
	for name, v := range want {
		theirs, ok := got[name]
		if !ok {
			return fmt.Sprintf("%q is missing", name)
		}
		if diff := valueDifference(theirs, v); diff != "" {
			return fmt.Sprintf("%q: %s", name, diff)
		}
	}
	return ""
}

func valueDifference(got any, v fieldtable.Value) string {
	same := false
	switch got := got.(type) {
	case nil:
		a, isArray := v.Array()
		same = v.Kind() == fieldtable.KindVoid || isArray && len(a.Encoded()) == 4
	case bool:
		b, ok := v.Bool()
		same = ok && b == got
	case int8, uint8, int16, uint16, int32, uint32, int64:
		n, ok := v.Int64()
		same = ok && fmt.Sprint(n) == fmt.Sprint(got)
	case float32:
		same = v.Kind() == fieldtable.KindFloat32 && math.Float32bits(got) == binary.BigEndian.Uint32(v.Raw())
	case float64:
		same = v.Kind() == fieldtable.KindFloat64 && math.Float64bits(got) == binary.BigEndian.Uint64(v.Raw())
	case amqp.Decimal:
		d, ok := v.Decimal()
		same = ok && d.Scale == got.Scale && d.Unscaled == got.Value
	case string:
		text, ok := v.Text()
		same = ok && string(text) == got
	case []byte:
		octets, ok := v.Bytes()
		same = ok && bytes.Equal(octets, got)
	case time.Time:
		ts, ok := v.Timestamp()
		same = ok && ts.Value == got.Unix()
	case amqp.Table:
		t, ok := v.Table()
		if !ok {
			return "no table"
		}
		return tableDifference(got, t)
	case []any:
		a, ok := v.Array()
		if !ok {
			return "no array"
		}
		i := 0
		for v, err := range a.All() {
			if err != nil || i == len(got) {
				return fmt.Sprintf("%d elements, want more: %v", len(got), err)
			}
			if diff := valueDifference(got[i], v); diff != "" {
				return fmt.Sprintf("[%d]: %s", i, diff)
			}
			i++
		}
		same = i == len(got)
	}
	if !same {
		return fmt.Sprintf("%T %v, want %s %q", got, got, v.Kind(), v.AppendText(nil))
	}
	return ""
}

// decodeWithClient returns the headers of a returned message as amqp091-go reads them, or an error
// if it closed the connection.
func decodeWithClient(t *testing.T, encoded []byte) (amqp.Table, error) {
	t.Helper()
	server, conn := connect(t)
	defer server.Close()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	returned := ch.NotifyReturn(make(chan amqp.Return, 1))
	// reply code, then reply text, exchange and routing key, all empty
	arguments := append([]byte{0, 200}, 0, 0, 0)
	server.out <- append(method(1, 60, 50, arguments), headerFrame(encoded)...)
	select {
	case r, ok := <-returned:
		if !ok {
			return nil, errors.New("amqp091-go closed the connection")
		}
		return r.Headers, nil
	case <-time.After(90 * time.Second):
		t.Fatal("amqp091-go neither returned the message nor closed the connection")
		return nil, nil
	}
}

// maxFrame is what both sides agree on, in octets.
const maxFrame = 64 << 20

func connect(tb testing.TB) (*scriptedServer, *amqp.Connection) {
	tb.Helper()
	server := &scriptedServer{out: make(chan []byte, 8), closed: make(chan struct{})}
	server.out <- handshake()
	conn, err := amqp.Open(server, amqp.Config{
		SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "guest", Password: "guest"}}, FrameSize: maxFrame,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return server, conn
}

// scriptedServer is a connection to a server that only says what it is told to, and opens a channel
// when asked for one.
type scriptedServer struct {
	net.Conn
	out    chan []byte
	rest   []byte
	closed chan struct{}
	once   sync.Once
}

func (s *scriptedServer) Read(b []byte) (int, error) {
	if len(s.rest) == 0 {
		select {
		case s.rest = <-s.out:
		case <-s.closed:
			return 0, io.EOF
		}
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *scriptedServer) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte{1, 0, 1, 0, 0, 0, 5, 0, 20, 0, 10}) { // channel.open on channel 1
		s.out <- method(1, 20, 11, []byte{0, 0, 0, 0})
	}
	return len(b), nil
}

func (s *scriptedServer) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

func (s *scriptedServer) SetDeadline(time.Time) error     { return nil }
func (s *scriptedServer) SetReadDeadline(time.Time) error { return nil }

// handshake is connection.start, tune and open-ok; the client reads each when it expects it.
func handshake() []byte {
	start := append([]byte{0, 9, 0, 0, 0, 0}, "\x00\x00\x00\x05PLAIN\x00\x00\x00\x05en_US"...)
	tune := append(binary.BigEndian.AppendUint32([]byte{0, 9}, maxFrame), 0, 0)
	return bytes.Join([][]byte{method(0, 10, 10, start), method(0, 10, 30, tune), method(0, 10, 41, []byte{0})}, nil)
}

func method(channel, class, id uint16, arguments []byte) []byte {
	payload := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, class), id)
	return frame(1, channel, append(payload, arguments...))
}

// headerFrame is the content header of a message without a body, whose only property is its
// headers.
func headerFrame(table []byte) []byte {
	return frame(2, 1, append([]byte{0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0}, table...))
}

func frame(kind byte, channel uint16, payload []byte) []byte {
	b := binary.BigEndian.AppendUint16([]byte{kind}, channel)
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	return append(append(b, payload...), 0xce)
}
