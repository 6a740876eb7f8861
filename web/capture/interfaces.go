package capture

import (
	"encoding/binary"
	"fmt"
	"io"
)

// maxInterfaces bounds the descriptions of interfaces in a section of a pcapng file: twenty octets
// of the file become some hundred of memory, and no machine has so many.
const maxInterfaces = 10_000

var errInterfaces = fmt.Errorf("a section describes more than %d interfaces", maxInterfaces)

// Block types of pcapng, https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-03.html.
const (
	sectionHeader        = 0x0a0d0d0a
	interfaceDescription = 1
)

// interfaceLimit reads a pcapng file through, and fails where a section describes too many
// interfaces. What is no pcapng it leaves to its reader.
type interfaceLimit struct {
	r     io.Reader
	order binary.ByteOrder
	head  []byte // of the block that begins: type, length, and of a section the magic number
	left  uint32 // of the block
	n     int    // interfaces in the section
	lost  bool   // the blocks' lengths are not to be followed
}

func (l *interfaceLimit) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if !l.follow(p[:n]) {
		return 0, errInterfaces
	}
	return n, err
}

// follow reports whether there are few enough interfaces up to the end of b.
func (l *interfaceLimit) follow(b []byte) bool {
	for len(b) > 0 && !l.lost {
		if skip := min(int(l.left), len(b)); skip > 0 {
			l.left -= uint32(skip)
			b = b[skip:]
			continue
		}
		l.head = append(l.head, b[0])
		b = b[1:]
		if len(l.head) < 8 || len(l.head) < 12 && binary.LittleEndian.Uint32(l.head) == sectionHeader {
			continue
		}
		if !l.begin() {
			return false
		}
		l.head = l.head[:0]
	}
	return true
}

// begin takes up a block.
func (l *interfaceLimit) begin() bool {
	if len(l.head) == 12 {
		l.n, l.order = 0, binary.LittleEndian
		if l.head[8] == 0x1a {
			l.order = binary.BigEndian
		}
	}
	if l.order == nil {
		l.lost = true
		return true
	}
	length := l.order.Uint32(l.head[4:])
	if length < uint32(len(l.head)) {
		l.lost = true
		return true
	}
	l.left = length - uint32(len(l.head))
	if l.order.Uint32(l.head) == interfaceDescription {
		l.n++
	}
	return l.n <= maxInterfaces
}
