package wire

import (
	"encoding/binary"
	"errors"
	"slices"
)

// Frame types (spec §4.2.3) and the octet that ends every frame.
const (
	FrameMethod    = 1
	FrameHeader    = 2
	FrameBody      = 3
	FrameHeartbeat = 8
	FrameEnd       = 0xCE
)

// What a frame adds to its payload: type, channel and size before it, the frame-end octet after it.
const (
	FrameHead     = 7
	FrameOverhead = FrameHead + 1
)

// Class and method numbers (spec §1.2, §1.3 and §1.8 of the XML definition; confirm and basic.nack
// are RabbitMQ's, https://www.rabbitmq.com/docs/confirms).
const (
	ClassConnection = 10
	ClassChannel    = 20
	ClassBasic      = 60
	ClassConfirm    = 85

	MethodConnectionStart   = 10
	MethodConnectionStartOk = 11
	MethodConnectionOpen    = 40
	MethodConnectionOpenOk  = 41
	MethodConnectionClose   = 50
	MethodConnectionCloseOk = 51
	MethodChannelOpen       = 10
	MethodChannelClose      = 40
	MethodChannelCloseOk    = 41
	MethodBasicConsume      = 20
	MethodBasicConsumeOk    = 21
	MethodBasicCancel       = 30
	MethodBasicPublish      = 40
	MethodBasicReturn       = 50
	MethodBasicDeliver      = 60
	MethodBasicGet          = 70
	MethodBasicGetOk        = 71
	MethodBasicGetEmpty     = 72
	MethodBasicAck          = 80
	MethodBasicReject       = 90
	MethodBasicRecoverAsync = 100
	MethodBasicRecover      = 110
	MethodBasicNack         = 120
	MethodConfirmSelect     = 10
)

// Reasons why CutFrame finds no frame.
var (
	ErrShortFrame = errors.New("the frame is not complete")
	ErrFrameType  = errors.New("unknown frame type")
	ErrFrameEnd   = errors.New("the frame does not end in 0xCE")
)

// Frame is a view of one frame. Payload aliases the bytes it was cut from.
type Frame struct {
	Type    uint8
	Channel uint16
	Payload []byte
}

// CutFrame reads the first frame of b and returns what follows it. The error is ErrFrameType for a
// type octet that AMQP 0-9-1 does not define, ErrShortFrame when b ends before the frame does (read
// on and try again), or ErrFrameEnd; rest is then b.
func CutFrame(b []byte) (f Frame, rest []byte, err error) {
	if len(b) == 0 {
		return Frame{}, b, ErrShortFrame
	}
	if !knownFrameType(b[0]) {
		return Frame{}, b, ErrFrameType
	}
	if len(b) < FrameHead {
		return Frame{}, b, ErrShortFrame
	}
	f.Type, f.Channel = b[0], binary.BigEndian.Uint16(b[1:])
	size := uint64(binary.BigEndian.Uint32(b[3:]))
	if uint64(len(b)) < size+FrameOverhead {
		return Frame{}, b, ErrShortFrame
	}
	end := FrameHead + int(size)
	if b[end] != FrameEnd {
		return Frame{}, b, ErrFrameEnd
	}
	f.Payload = b[FrameHead:end:end]
	return f, b[end+1:], nil
}

// Method gives the class and method numbers of a method frame and its arguments.
func (f Frame) Method() (class, method uint16, args []byte, ok bool) {
	if f.Type != FrameMethod || len(f.Payload) < 4 {
		return 0, 0, nil, false
	}
	return binary.BigEndian.Uint16(f.Payload), binary.BigEndian.Uint16(f.Payload[2:]), f.Payload[4:], true
}

func knownFrameType(t byte) bool {
	return t == FrameMethod || t == FrameHeader || t == FrameBody || t == FrameHeartbeat
}

// AppendFrame appends a whole frame. The payload may be any bytes, as tests of damage need.
func AppendFrame(dst []byte, typ uint8, channel uint16, payload []byte) []byte {
	dst = appendFrameHead(dst, typ, channel, len(payload))
	dst = append(dst, payload...)
	return append(dst, FrameEnd)
}

// AppendMethod appends a method frame with arguments that are encoded already.
func AppendMethod(dst []byte, channel, class, method uint16, args []byte) []byte {
	dst = appendFrameHead(dst, FrameMethod, channel, 4+len(args))
	dst = binary.BigEndian.AppendUint16(dst, class)
	dst = binary.BigEndian.AppendUint16(dst, method)
	dst = append(dst, args...)
	return append(dst, FrameEnd)
}

// AppendDeliver appends the basic.deliver method frame of d, without its content. Consumer tag,
// exchange and routing key longer than a short string holds, 255 bytes, are cut there.
func AppendDeliver(dst []byte, d *Delivery) []byte {
	tag, exchange, key := shortStr(d.ConsumerTag), shortStr(d.Exchange), shortStr(d.RoutingKey)
	dst = appendFrameHead(dst, FrameMethod, d.Channel, 4+1+len(tag)+8+1+1+len(exchange)+1+len(key))
	dst = binary.BigEndian.AppendUint16(dst, ClassBasic)
	dst = binary.BigEndian.AppendUint16(dst, MethodBasicDeliver)
	dst = appendShortStr(dst, tag)
	dst = binary.BigEndian.AppendUint64(dst, d.DeliveryTag)
	if d.Redelivered {
		dst = append(dst, 1)
	} else {
		dst = append(dst, 0)
	}
	dst = appendShortStr(dst, exchange)
	dst = appendShortStr(dst, key)
	return append(dst, FrameEnd)
}

// AppendBody appends body as body frames of at most frameMax octets each, frame overhead included;
// frameMax 0 means no limit. An empty body needs no frame.
func AppendBody(dst []byte, channel uint16, body []byte, frameMax int) []byte {
	if len(body) == 0 {
		return dst
	}
	limit := frameMax - FrameOverhead
	if limit <= 0 {
		limit = len(body)
	}
	for chunk := range slices.Chunk(body, limit) {
		dst = AppendFrame(dst, FrameBody, channel, chunk)
	}
	return dst
}

// AppendHeartbeat appends a heartbeat frame.
func AppendHeartbeat(dst []byte) []byte { return AppendFrame(dst, FrameHeartbeat, 0, nil) }

func appendFrameHead(dst []byte, typ uint8, channel uint16, size int) []byte {
	dst = append(dst, typ)
	dst = binary.BigEndian.AppendUint16(dst, channel)
	return binary.BigEndian.AppendUint32(dst, uint32(size))
}

func shortStr(b []byte) []byte { return b[:min(len(b), 255)] }

func appendShortStr(dst, b []byte) []byte {
	b = shortStr(b)
	dst = append(dst, byte(len(b)))
	return append(dst, b...)
}
