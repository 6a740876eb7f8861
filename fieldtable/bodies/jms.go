package bodies

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
)

// The content types of bodies that Apache Qpid's JMS client writes in an encoding of its own.
const (
	JMSMapType    = "jms/map-message"
	JMSStreamType = "jms/stream-message"
)

// JMSMap lays open the body of a map message: a count of 4 octets, then as many names, each ended
// by an octet 0, and values.
func JMSMap(b []byte, max int) (rows []Row, more bool) {
	l := &listing{max: max}
	if len(b) < 4 {
		l.damage(0, damage(0, ErrTruncated))
		return l.rows, l.more
	}
	n := int32(binary.BigEndian.Uint32(b))
	if n < 0 {
		l.damage(0, damage(0, ErrOverrun))
		return l.rows, l.more
	}
	at := 4
	for range n {
		size := bytes.IndexByte(b[at:], 0)
		switch {
		case at >= len(b):
			l.damage(0, damage(at, ErrCount))
			return l.rows, l.more
		case size < 0:
			l.damage(0, damage(at, ErrString))
			return l.rows, l.more
		}
		name := b[at : at+size]
		row, err := jmsValue(b, at+size+1)
		if err != nil {
			l.damage(0, err)
			return l.rows, l.more
		}
		row.Name, row.Offset = named(name), at
		if !l.add(row) {
			return l.rows, l.more
		}
		at = row.End
	}
	if at < len(b) {
		l.damage(0, damage(at, ErrTrailing))
	}
	return l.rows, l.more
}

// JMSStream lays open the body of a stream message: values up to its end.
func JMSStream(b []byte, max int) (rows []Row, more bool) {
	l := &listing{max: max}
	for at := 0; at < len(b); {
		row, err := jmsValue(b, at)
		if err != nil {
			l.damage(0, err)
			break
		}
		row.Name = place(len(l.rows))
		if !l.add(row) {
			break
		}
		at = row.End
	}
	return l.rows, l.more
}

// jmsValue reads an octet that says what follows, and the value, all big-endian.
func jmsValue(b []byte, at int) (r Row, err *SyntaxError) {
	if at >= len(b) {
		return r, damage(at, ErrTruncated)
	}
	r.Offset = at
	rest := b[at+1:]
	take := func(n int) []byte {
		if n > len(rest) {
			err = damage(at+1, ErrTruncated)
			return make([]byte, 8)[:min(n, 8)]
		}
		r.End = at + 1 + n
		return rest[:n]
	}
	switch b[at] {
	case 1:
		r.Type, r.Text = "boolean", strconv.FormatBool(take(1)[0] != 0)
	case 2:
		r.Type, r.Text = "byte", strconv.Itoa(int(int8(take(1)[0])))
	case 3:
		return jmsBytes(r, b, at)
	case 4:
		r.Type, r.Text = "short", strconv.Itoa(int(int16(binary.BigEndian.Uint16(take(2)))))
	case 5:
		r.Type, r.Text = "char", strconv.QuoteRuneToASCII(rune(binary.BigEndian.Uint16(take(2))))
	case 6:
		r.Type, r.Text = "int", strconv.Itoa(int(int32(binary.BigEndian.Uint32(take(4)))))
	case 7:
		r.Type, r.Text = "long", strconv.FormatInt(int64(binary.BigEndian.Uint64(take(8))), 10)
	case 8:
		f := math.Float32frombits(binary.BigEndian.Uint32(take(4)))
		r.Type, r.Text = "float", strconv.FormatFloat(float64(f), 'g', -1, 32)
	case 9:
		f := math.Float64frombits(binary.BigEndian.Uint64(take(8)))
		r.Type, r.Text = "double", strconv.FormatFloat(f, 'g', -1, 64)
	case 10:
		size := bytes.IndexByte(rest, 0)
		if size < 0 {
			return r, damage(at+1, ErrString)
		}
		r.Type, r.Text = "string", string(take(size + 1)[:size])
	case 11:
		r.Type, r.Text, r.End = "string", "null", at+1
	default:
		return r, damage(at, ErrCode)
	}
	return r, err
}

// jmsBytes reads an array of octets: a length of 4 octets, -1 for null.
func jmsBytes(r Row, b []byte, at int) (Row, *SyntaxError) {
	rest := b[at+1:]
	if len(rest) < 4 {
		return r, damage(at+1, ErrTruncated)
	}
	r.Type = "byte[]"
	n := int32(binary.BigEndian.Uint32(rest))
	switch rest = rest[4:]; {
	case n == -1:
		r.Text, r.End = "null", at+5
		return r, nil
	case n < 0 || int(n) > len(rest):
		return r, damage(at+1, ErrOverrun)
	}
	shown := rest[:min(int(n), maxRowText)]
	r.Text, r.Cut = "0x"+hex.EncodeToString(shown), len(shown) < int(n)
	r.End = at + 5 + int(n)
	return r, nil
}
