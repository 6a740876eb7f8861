package spool

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

const (
	format      = 1
	headerBytes = 64
	keyBytes    = 32

	frameHeaderBytes  = 24
	frameTrailerBytes = 4
	frameBytes        = frameHeaderBytes + frameTrailerBytes
)

// kind is what a frame holds.
type kind uint32

const (
	kindMessage kind = 1
	kindOpened  kind = 2
	kindClosed  kind = 3
)

func magic() []byte { return []byte("hglass\r\n") }

func checksum(crc uint32, p []byte) uint32 {
	return crc32.Update(crc, crc32.MakeTable(crc32.Castagnoli), p)
}

// header begins every file.
type header struct {
	first uint64 // number of the first message; 0 in the file that is locked
	key   [keyBytes]byte
}

func (h header) encode() []byte {
	b := append(make([]byte, 0, headerBytes), magic()...)
	b = binary.LittleEndian.AppendUint32(b, format)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint64(b, h.first)
	b = append(b, h.key[:]...)
	b = binary.LittleEndian.AppendUint32(b, 0)
	return binary.LittleEndian.AppendUint32(b, checksum(0, b))
}

// parseHeader reports whether b is a header of this format.
func parseHeader(b []byte) (h header, ok bool) {
	if len(b) != headerBytes || !bytes.Equal(b[:8], magic()) || binary.LittleEndian.Uint32(b[8:]) != format ||
		binary.LittleEndian.Uint32(b[headerBytes-4:]) != checksum(0, b[:headerBytes-4]) {
		return header{}, false
	}
	h.first = binary.LittleEndian.Uint64(b[16:])
	copy(h.key[:], b[24:])
	return h, true
}

// seed begins the checksums of a file's frames.
func (h header) seed() uint32 {
	return checksum(checksum(0, h.key[:]), binary.LittleEndian.AppendUint64(nil, h.first))
}

// frame is the header of a frame.
type frame struct {
	number uint64
	length uint64 // of the payload
	kind   kind
	sum    uint32
}

func appendFrame(b []byte, seed uint32, f frame) ([]byte, uint32) {
	at := len(b)
	b = binary.LittleEndian.AppendUint64(b, f.number)
	b = binary.LittleEndian.AppendUint64(b, f.length)
	b = binary.LittleEndian.AppendUint32(b, uint32(f.kind))
	sum := checksum(seed, b[at:])
	return binary.LittleEndian.AppendUint32(b, sum), sum
}

// parseFrame reports whether b begins with the header of a frame.
func parseFrame(b []byte, seed uint32) (f frame, ok bool) {
	const kindAt, sumAt = 16, 20
	f.kind = kind(binary.LittleEndian.Uint32(b[kindAt:]))
	if f.kind < kindMessage || f.kind > kindClosed { // told without a checksum, since searching asks at every octet
		return frame{}, false
	}
	f.sum = binary.LittleEndian.Uint32(b[sumAt:])
	if f.sum != checksum(seed, b[:sumAt]) {
		return frame{}, false
	}
	f.number, f.length = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	return f, true
}
