package demoserver

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/headerglass/headerglass/fieldtable/wire"
)

const maxClientFrame = 1 << 20 // bytes of payload that a client may send in one frame

// method is a class and a method number: class<<16 | method.
type method uint32

const (
	connectionStart     method = 10<<16 | 10
	connectionStartOk   method = 10<<16 | 11
	connectionTune      method = 10<<16 | 30
	connectionTuneOk    method = 10<<16 | 31
	connectionOpen      method = 10<<16 | 40
	connectionOpenOk    method = 10<<16 | 41
	connectionClose     method = 10<<16 | 50
	connectionCloseOk   method = 10<<16 | 51
	connectionBlocked   method = 10<<16 | 60
	connectionUnblocked method = 10<<16 | 61
	channelOpen         method = 20<<16 | 10
	channelOpenOk       method = 20<<16 | 11
	channelFlow         method = 20<<16 | 20
	channelFlowOk       method = 20<<16 | 21
	channelClose        method = 20<<16 | 40
	channelCloseOk      method = 20<<16 | 41
	exchangeDeclare     method = 40<<16 | 10
	exchangeDeclareOk   method = 40<<16 | 11
	queueDeclare        method = 50<<16 | 10
	queueDeclareOk      method = 50<<16 | 11
	queueBind           method = 50<<16 | 20
	queueBindOk         method = 50<<16 | 21
	queueDelete         method = 50<<16 | 40
	queueDeleteOk       method = 50<<16 | 41
	basicQos            method = 60<<16 | 10
	basicQosOk          method = 60<<16 | 11
	basicConsume        method = 60<<16 | 20
	basicConsumeOk      method = 60<<16 | 21
	basicCancel         method = 60<<16 | 30
	basicCancelOk       method = 60<<16 | 31
	basicPublish        method = 60<<16 | 40
	basicDeliver        method = 60<<16 | 60
	basicGet            method = 60<<16 | 70
	basicGetOk          method = 60<<16 | 71
	basicGetEmpty       method = 60<<16 | 72
	basicAck            method = 60<<16 | 80
	basicReject         method = 60<<16 | 90
	basicNack           method = 60<<16 | 120
	confirmSelect       method = 85<<16 | 10
	confirmSelectOk     method = 85<<16 | 11
)

// writer appends frames to a buffer.
type writer struct{ b []byte }

// frame appends one frame; fill appends the payload.
func (w *writer) frame(kind byte, channel uint16, fill func()) {
	w.b = append(w.b, kind)
	w.u16(channel)
	w.u32(0)
	start := len(w.b)
	fill()
	binary.BigEndian.PutUint32(w.b[start-4:], uint32(len(w.b)-start))
	w.b = append(w.b, wire.FrameEnd)
}

func (w *writer) method(channel uint16, m method, args func()) {
	w.frame(wire.FrameMethod, channel, func() {
		w.u32(uint32(m))
		if args != nil {
			args()
		}
	})
}

func (w *writer) u8(v byte)    { w.b = append(w.b, v) }
func (w *writer) u16(v uint16) { w.b = binary.BigEndian.AppendUint16(w.b, v) }
func (w *writer) u32(v uint32) { w.b = binary.BigEndian.AppendUint32(w.b, v) }
func (w *writer) u64(v uint64) { w.b = binary.BigEndian.AppendUint64(w.b, v) }
func (w *writer) bit(v bool) {
	if v {
		w.u8(1)
	} else {
		w.u8(0)
	}
}

// short appends a short string; what does not fit into 255 bytes is cut off.
func (w *writer) short(s string) {
	s = s[:min(len(s), 255)]
	w.u8(byte(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) long(s string) {
	w.u32(uint32(len(s)))
	w.b = append(w.b, s...)
}

// table appends a field table; fill appends its fields.
func (w *writer) table(fill func()) {
	w.u32(0)
	start := len(w.b)
	fill()
	binary.BigEndian.PutUint32(w.b[start-4:], uint32(len(w.b)-start))
}

func (w *writer) textField(name, value string) {
	w.short(name)
	w.u8('S')
	w.long(value)
}

func (w *writer) boolField(name string, value bool) {
	w.short(name)
	w.u8('t')
	w.bit(value)
}

// delivery appends basic.deliver, the content header and the body frames of one message.
func (w *writer) delivery(
	channel uint16,
	consumerTag []byte,
	deliveryTag uint64,
	redelivered bool,
	m *Message,
	frameMax uint32,
) {
	w.b = wire.AppendDeliver(w.b, &wire.Delivery{
		Channel: channel, ConsumerTag: consumerTag, DeliveryTag: deliveryTag, Redelivered: redelivered,
		Exchange: []byte(m.Exchange), RoutingKey: []byte(m.RoutingKey),
	})
	w.content(channel, m, frameMax)
}

func (w *writer) content(channel uint16, m *Message, frameMax uint32) {
	w.b = wire.AppendFrame(w.b, wire.FrameHeader, channel, m.Header)
	w.b = wire.AppendBody(w.b, channel, m.Body, int(frameMax))
}

var (
	errFrameEnd  = errors.New("demoserver: a frame does not end with 0xCE")
	errFrameSize = errors.New("demoserver: a frame is larger than allowed")
)

// readFrame reads one frame into buf, which grows to limit at most. The payload is valid until the
// next call.
func readFrame(r io.Reader, buf []byte, limit uint32) (kind byte, channel uint16, payload, grown []byte, err error) {
	var head [7]byte
	if _, err = io.ReadFull(r, head[:]); err != nil {
		return 0, 0, nil, buf, err
	}
	size := binary.BigEndian.Uint32(head[3:])
	if size > limit {
		return 0, 0, nil, buf, errFrameSize
	}
	if need := int(size) + 1; cap(buf) < need {
		buf = make([]byte, need)
	}
	buf = buf[:size+1]
	if _, err = io.ReadFull(r, buf); err != nil {
		return 0, 0, nil, buf, err
	}
	if buf[size] != wire.FrameEnd {
		return 0, 0, nil, buf, errFrameEnd
	}
	return head[0], binary.BigEndian.Uint16(head[1:]), buf[:size], buf, nil
}
