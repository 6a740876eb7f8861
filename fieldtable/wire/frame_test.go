package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"
)

func TestAppendFrames(t *testing.T) {
	tests := []struct {
		name string
		got  []byte
		want string
	}{
		{"heartbeat", AppendHeartbeat(nil), "08" + "0000" + "00000000" + "ce"},
		{"method", AppendMethod(nil, 0x102, 60, 11, []byte("ab")), "01" + "0102" + "00000006" + "003c000b6162" + "ce"},
		{"header", AppendContentHeader(nil, 1, []byte{0xaa}), "02" + "0001" + "00000001" + "aa" + "ce"},
		{"deliver", AppendDeliver(nil, &Delivery{Channel: 3, DeliveryTag: 258, Redelivered: true,
			ConsumerTag: []byte("c"), Exchange: []byte("ex"), RoutingKey: []byte("key")}),
			"01" + "0003" + "00000016" + "003c003c" + "0163" + "0000000000000102" + "01" + "026578" + "036b6579" + "ce"},
		{"no body", AppendBody(nil, 1, nil, 4096), ""},
		{"body in one frame", AppendBody(nil, 1, []byte("abc"), 0), "03" + "0001" + "00000003" + "616263" + "ce"},
		{
			"body in two frames",
			AppendBody(nil, 1, []byte("abc"), 10),
			"03" + "0001" + "00000002" + "6162" + "ce" + "03" + "0001" + "00000001" + "63" + "ce",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := hex.EncodeToString(test.got); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestAppendDeliverCutsLongNames(t *testing.T) {
	long := bytes.Repeat([]byte("n"), 300)
	f, rest, err := CutFrame(AppendDeliver(nil, &Delivery{
		Channel:     1,
		ConsumerTag: long,
		Exchange:    long,
		RoutingKey:  long,
	}))
	if err != nil || len(rest) > 0 {
		t.Fatal(err)
	}
	_, _, args, _ := f.Method()
	if d, ok := readDeliver(args); !ok || !bytes.Equal(d.RoutingKey, long[:255]) ||
		!bytes.Equal(d.ConsumerTag, long[:255]) {
		t.Errorf("%+v, %t", d, ok)
	}
}

func TestCutFrame(t *testing.T) {
	whole := AppendMethod(nil, 0x102, 60, 11, []byte("ab"))
	for n := range len(whole) {
		if _, rest, err := CutFrame(whole[:n]); !errors.Is(err, ErrShortFrame) || len(rest) != n {
			t.Errorf("%d octets: %v", n, err)
		}
	}
	f, rest, err := CutFrame(append(bytes.Clone(whole), "rest"...))
	if err != nil || string(rest) != "rest" || f.Type != FrameMethod || f.Channel != 0x102 {
		t.Errorf("%+v, %q, %v", f, rest, err)
	}
	class, method, args, ok := f.Method()
	if class != 60 || method != 11 || string(args) != "ab" || !ok {
		t.Errorf("%d.%d %q %t", class, method, args, ok)
	}
	if _, _, err := CutFrame([]byte("AMQP")); !errors.Is(err, ErrFrameType) {
		t.Error(err)
	}
	if _, _, err := CutFrame(withLastOctet(whole, 0)); !errors.Is(err, ErrFrameEnd) {
		t.Error(err)
	}
	if _, _, err := CutFrame([]byte{FrameBody, 0, 1, 0xff, 0xff, 0xff, 0xff, 0}); !errors.Is(err, ErrShortFrame) {
		t.Error(err)
	}
	if _, _, _, ok := (Frame{Type: FrameMethod, Payload: []byte("abc")}).Method(); ok {
		t.Error("a method in 3 octets")
	}
}
