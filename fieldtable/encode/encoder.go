// Package encode writes field tables for tests: its encoder can write every tag and deliberately
// wrong lengths.
package encode

import (
	"encoding/binary"
	"math"
)

// Encoder appends fields to B. Inside Array the elements have no names, so that there the key is
// ignored. Names longer than 255 octets are cut.
type Encoder struct {
	B       []byte
	inArray bool
}

// Table returns a field table with its 4 length octets, of the fields that write appends.
func Table(write func(*Encoder)) []byte {
	e := Encoder{B: make([]byte, 4, 256)}
	write(&e)
	binary.BigEndian.PutUint32(e.B, uint32(len(e.B)-4))
	return e.B
}

// Claiming returns a field table whose length octets claim what they are told to.
func Claiming(length uint32, write func(*Encoder)) []byte {
	b := Table(write)
	binary.BigEndian.PutUint32(b, length)
	return b
}

// Name writes a name alone, which its tag and payload have to follow; in an array, nothing.
func (e *Encoder) Name(key string) {
	if e.inArray {
		return
	}
	key = key[:min(len(key), math.MaxUint8)]
	e.B = append(e.B, byte(len(key)))
	e.B = append(e.B, key...)
}

// Raw appends octets as they are.
func (e *Encoder) Raw(octets ...byte) { e.B = append(e.B, octets...) }

// Value writes a field of any tag with its payload, length octets included, as it is.
func (e *Encoder) Value(key string, tag byte, payload []byte) {
	e.Name(key)
	e.B = append(e.B, tag)
	e.B = append(e.B, payload...)
}

// Sized writes a field of any tag whose 4 length octets claim what they are told to, whatever the
// length of payload.
func (e *Encoder) Sized(key string, tag byte, claimed uint32, payload []byte) {
	e.Name(key)
	e.B = append(e.B, tag)
	e.B = binary.BigEndian.AppendUint32(e.B, claimed)
	e.B = append(e.B, payload...)
}

// Bool writes t.
func (e *Encoder) Bool(key string, v bool) {
	var octet byte
	if v {
		octet = 1
	}
	e.Value(key, 't', []byte{octet})
}

// Int8 writes b.
func (e *Encoder) Int8(key string, v int8) { e.Value(key, 'b', []byte{byte(v)}) }

// Uint8 writes B.
func (e *Encoder) Uint8(key string, v uint8) { e.Value(key, 'B', []byte{v}) }

// Int16 writes s, as RabbitMQ reads it.
func (e *Encoder) Int16(key string, v int16) { e.uint16(key, 's', uint16(v)) }

// Int16U writes U, the 16-bit integer of the 0-9-1 grammar.
func (e *Encoder) Int16U(key string, v int16) { e.uint16(key, 'U', uint16(v)) }

// Uint16 writes u.
func (e *Encoder) Uint16(key string, v uint16) { e.uint16(key, 'u', v) }

// Int32 writes I.
func (e *Encoder) Int32(key string, v int32) { e.uint32(key, 'I', uint32(v)) }

// Uint32 writes i.
func (e *Encoder) Uint32(key string, v uint32) { e.uint32(key, 'i', v) }

// Int64 writes l, as RabbitMQ does.
func (e *Encoder) Int64(key string, v int64) { e.uint64(key, 'l', uint64(v)) }

// Int64L writes L, as py-amqp does.
func (e *Encoder) Int64L(key string, v int64) { e.uint64(key, 'L', uint64(v)) }

// Uint64 writes l, as the 0-9-1 grammar has it.
func (e *Encoder) Uint64(key string, v uint64) { e.uint64(key, 'l', v) }

// Float32 writes f.
func (e *Encoder) Float32(key string, v float32) { e.uint32(key, 'f', math.Float32bits(v)) }

// Float64 writes d.
func (e *Encoder) Float64(key string, v float64) { e.uint64(key, 'd', math.Float64bits(v)) }

// Decimal writes D in two's complement.
func (e *Encoder) Decimal(key string, scale uint8, unscaled int32) {
	e.Value(key, 'D', binary.BigEndian.AppendUint32([]byte{scale}, uint32(unscaled)))
}

// Str writes S.
func (e *Encoder) Str(key, v string) { e.Sized(key, 'S', uint32(len(v)), []byte(v)) }

// ShortStr writes s with a length of 1 octet, as the 0-9-1 grammar has it. Text longer than 255
// octets is cut.
func (e *Encoder) ShortStr(key, v string) {
	v = v[:min(len(v), math.MaxUint8)]
	e.Value(key, 's', append([]byte{byte(len(v))}, v...))
}

// Bytes writes x.
func (e *Encoder) Bytes(key string, v []byte) { e.Sized(key, 'x', uint32(len(v)), v) }

// Char8 writes k.
func (e *Encoder) Char8(key string, v byte) { e.Value(key, 'k', []byte{v}) }

// Timestamp writes T; the reader's dialect gives the unit.
func (e *Encoder) Timestamp(key string, v int64) { e.uint64(key, 'T', uint64(v)) }

// Void writes V.
func (e *Encoder) Void(key string) { e.Value(key, 'V', nil) }

// Nested writes F, a table of the fields that write appends.
func (e *Encoder) Nested(key string, write func(*Encoder)) { e.nest(key, 'F', false, write) }

// Array writes A, of the elements that write appends.
func (e *Encoder) Array(key string, write func(*Encoder)) { e.nest(key, 'A', true, write) }

func (e *Encoder) nest(key string, tag byte, inArray bool, write func(*Encoder)) {
	e.Sized(key, tag, 0, nil)
	outer, first := e.inArray, len(e.B)
	e.inArray = inArray
	write(e)
	e.inArray = outer
	binary.BigEndian.PutUint32(e.B[first-4:], uint32(len(e.B)-first))
}

func (e *Encoder) uint16(key string, tag byte, v uint16) {
	e.Value(key, tag, binary.BigEndian.AppendUint16(nil, v))
}

func (e *Encoder) uint32(key string, tag byte, v uint32) {
	e.Sized(key, tag, v, nil)
}

func (e *Encoder) uint64(key string, tag byte, v uint64) {
	e.Value(key, tag, binary.BigEndian.AppendUint64(nil, v))
}
