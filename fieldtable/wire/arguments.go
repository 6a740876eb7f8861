package wire

import "encoding/binary"

// Arguments reads a method's arguments one after the other. Its slices alias the bytes that it was
// made of.
type Arguments struct {
	rest  []byte
	short bool
}

// ReadArguments begins to read args.
func ReadArguments(args []byte) Arguments { return Arguments{rest: args} }

// Ok reports whether all that was read was there. Once it was not, what is read is empty.
func (a *Arguments) Ok() bool { return !a.short }

// Take reads n octets.
func (a *Arguments) Take(n int) []byte {
	if n > len(a.rest) {
		a.rest, a.short = nil, true
		return nil
	}
	b := a.rest[:n:n]
	a.rest = a.rest[n:]
	return b
}

// Uint8 reads an octet, or up to eight bits.
func (a *Arguments) Uint8() uint8 {
	if b := a.Take(1); b != nil {
		return b[0]
	}
	return 0
}

// Uint16 reads a short integer.
func (a *Arguments) Uint16() uint16 {
	if b := a.Take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

// Uint32 reads a long integer.
func (a *Arguments) Uint32() uint32 {
	if b := a.Take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// Uint64 reads a long-long integer.
func (a *Arguments) Uint64() uint64 {
	if b := a.Take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// ShortStr reads a short string.
func (a *Arguments) ShortStr() []byte { return a.Take(int(a.Uint8())) }

// LongStr reads a long string.
func (a *Arguments) LongStr() []byte { return a.Take(int(a.Uint32())) }

// Table reads a field table, with its length octets.
func (a *Arguments) Table() []byte {
	whole := a.rest
	if a.LongStr(); a.short {
		return nil
	}
	return whole[: len(whole)-len(a.rest) : len(whole)-len(a.rest)]
}
