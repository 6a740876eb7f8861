package snippet

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/viewtest"
)

// The client's own encoder makes of the code the octets that its comments announce: each field with
// the tag that is said, and nothing else.
func TestCodeEncodes(t *testing.T) {
	for _, client := range []struct {
		writer
		program, reader string
		missing         string // what it says where the library is not there
	}{
		{rubyWriter{}, "ruby", rubyEncoder, "cannot load such file -- amq/protocol"},
		{phpWriter{}, "php", phpEncoder, "PhpAmqpLib/autoload.php): Failed to open"},
	} {
		l := newCoder(client.writer)
		for name, table := range map[string][]byte{
			"rich":    viewtest.RichTable(),
			"typed":   typedTable(),
			"hostile": hostileTable(),
			"empty":   encode.Table(func(*encode.Encoder) {}),
		} {
			t.Run(l.name+"/"+name, func(t *testing.T) {
				m := facts.Message{
					Seq: 7, Exchange: []byte("e"), RoutingKey: []byte("k"), Body: []byte("b'\"\\\x00\xff#{1}$x"),
					HasHeaders: true, Headers: table,
				}
				code := codeOf(t, l.name, m, 0)
				cmd := exec.CommandContext(t.Context(), program(t, client.program))
				cmd.Stdin = strings.NewReader(strings.Replace(client.reader, "/*code*/", code, 1))
				var problems bytes.Buffer
				cmd.Stderr = &problems
				out, err := cmd.Output()
				all := problems.String() + string(out)
				if err != nil && strings.Contains(all, client.missing) && os.Getenv("HEADERGLASS_REQUIRE") != "1" {
					t.Skip("the client's library is not on this machine; the goldens cover the writing")
				}
				if err != nil {
					t.Fatalf("%v: %s\n%s", err, all, code)
				}
				want := hex.EncodeToString(m.Body) + " " +
					hex.EncodeToString(announced(l, fieldtable.View(table, fieldtable.Lenient()).Scan()))
				if got := strings.TrimSpace(string(out)); got != want {
					t.Errorf("got  %s\nwant %s\n%s", got, want, code)
				}
			})
		}
	}
}

// announced is the table that the code's comments announce.
func announced(l coder, s fieldtable.Scanner) []byte {
	return encode.Table(func(e *encode.Encoder) {
		seen := map[string]bool{}
		for s.Next() {
			f := s.Field()
			if key, _ := l.key(f.Name); key == "" || seen[string(f.Name)] {
				continue
			}
			seen[string(f.Name)] = true
			announcedValue(l, e, string(f.Name), f.Value)
		}
	})
}

func announcedValue(l coder, e *encode.Encoder, name string, v fieldtable.Value) {
	if t, ok := v.Table(); ok {
		if l.nested(t.Scan()) == "" {
			e.Value(name, 'F', announced(l, t.Scan()))
		}
		return
	}
	if a, ok := v.Array(); ok {
		e.Array(name, func(e *encode.Encoder) {
			for s := a.Scan(); s.Next(); {
				announcedValue(l, e, "", s.Value())
			}
		})
		return
	}
	written := l.scalar(v)
	if written.code == "" {
		return
	}
	n, _ := v.Int64()
	var b []byte
	switch written.tag {
	case 't':
		b = []byte{0}
		if on, _ := v.Bool(); on {
			b[0] = 1
		}
	case 'b', 'B':
		b = []byte{byte(n)}
	case 's', 'u':
		b = binary.BigEndian.AppendUint16(nil, uint16(n))
	case 'I', 'i':
		b = binary.BigEndian.AppendUint32(nil, uint32(n))
	case 'l', 'L':
		b = binary.BigEndian.AppendUint64(nil, uint64(n))
	case 'd':
		d, _ := v.Float64()
		if b = binary.BigEndian.AppendUint64(nil, math.Float64bits(d)); math.IsNaN(d) {
			b = []byte{0x7f, 0xf8, 0, 0, 0, 0, 0, 0}
		}
	case 'S', 'x':
		b = binary.BigEndian.AppendUint32(nil, uint32(len(v.Raw())))
		b = append(b, v.Raw()...)
	default: // f, D, T and V have one form
		b = v.Raw()
	}
	e.Value(name, written.tag, b)
}

const rubyEncoder = `
require "amq/protocol/client"
class Channel
  def basic_publish(body, exchange, key, headers: nil)
    puts body.b.unpack1("H*") + " " + AMQ::Protocol::Table.encode(headers).b.unpack1("H*")
  end
end
channel = Channel.new
/*code*/
`

const phpEncoder = `<?php
require "PhpAmqpLib/autoload.php";
class Channel {
    function basic_publish($message, $exchange, $key) {
        $w = new PhpAmqpLib\Wire\AMQPWriter();
        $w->write_table($message->get('application_headers'));
        echo bin2hex($message->body), " ", bin2hex($w->getvalue()), "\n";
    }
}
$channel = new Channel();
/*code*/
`
