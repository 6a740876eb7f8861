package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/bits"
)

// ContentHeaderFixed is how many octets come before the property list: class, weight, body size and
// the first word of property flags (spec §4.2.6.1).
const ContentHeaderFixed = 14

// FlagHeaders is the property flag of the headers property, for ContentHeader.Flags.
const FlagHeaders uint16 = 1 << 13

const flagContinues = 1

// Form is how a property is encoded in the property list.
type Form uint8

const (
	FormNone      Form = iota // class basic has no such property
	FormShortStr              // 1 octet of length, then text
	FormOctet                 // an unsigned octet
	FormTimestamp             // 8 octets
	FormTable                 // a field table
)

// basicProperties returns the names of the properties of class basic in wire order; the first has
// flag bit 15, each next one the bit below (spec §1.8.1 of the XML definition; cluster_id is
// "reserved" there and named in 0-8 and 0-9).
func basicProperties() [14]string {
	return [...]string{
		"content_type",
		"content_encoding",
		"headers",
		"delivery_mode",
		"priority",
		"correlation_id",
		"reply_to",
		"expiration",
		"message_id",
		"timestamp",
		"type",
		"user_id",
		"app_id",
		"cluster_id",
	}
}

// FormOf returns the form of the property of class basic with that name, written with underscores.
func FormOf(name string) Form {
	switch name {
	case "headers":
		return FormTable
	case "delivery_mode", "priority":
		return FormOctet
	case "timestamp":
		return FormTimestamp
	case "content_type", "content_encoding", "correlation_id", "reply_to", "expiration", "message_id", "type", "user_id",
		"app_id", "cluster_id":
		return FormShortStr
	}
	return FormNone
}

// FlagOf returns the property flag of the property with that name, for ContentHeader.Flags; 0 if
// class basic has none.
func FlagOf(name string) uint16 {
	for i, property := range basicProperties() {
		if property == name {
			return flagContentType >> i
		}
	}
	return 0
}

// PropertyNames returns the names of the properties of class basic in wire order, written with
// underscores.
func PropertyNames() []string {
	names := basicProperties()
	return names[:]
}

const (
	flagContentType     uint16 = 1 << 15
	flagContentEncoding uint16 = 1 << 14
	flagDeliveryMode    uint16 = 1 << 12
	flagPriority        uint16 = 1 << 11
	flagTimestamp       uint16 = 1 << 6
)

// Reasons inside a PropertyError.
var (
	// ErrPayloadTruncated: the payload ends inside its fixed part or its property flags.
	ErrPayloadTruncated = errors.New("the content header ends inside its fixed part")
	// ErrPropertyTruncated: the payload ends before the property does.
	ErrPropertyTruncated = errors.New("the content header ends inside this property")
	// ErrUnknownProperty: a flag is set for a property that class basic does not have, so that its
	// form is not known and it cannot be read.
	ErrUnknownProperty = errors.New("a property flag is set that class basic does not define")
	// ErrTrailingBytes: octets follow the last property.
	ErrTrailingBytes = errors.New("octets follow the last property")
)

// PropertyError is damage in a content header.
type PropertyError struct {
	Offset int    // bytes from the payload's first octet
	Name   string // the property that could not be read; "" when it is none of them
	Err    error
}

// Error gives one plain line with the offset in decimal and hex.
func (e *PropertyError) Error() string {
	if e.Name != "" {
		return fmt.Sprintf("property %s at offset %d (0x%x): %v", e.Name, e.Offset, e.Offset, e.Err)
	}
	return fmt.Sprintf("content header at offset %d (0x%x): %v", e.Offset, e.Offset, e.Err)
}

// Unwrap returns the reason.
func (e *PropertyError) Unwrap() error { return e.Err }

// ContentHeader is a view of the payload of a content header frame of class basic (60): class,
// weight, body size, property flags, property list. It is a value, it caches nothing, and it never
// fails: damage is reported by All.
type ContentHeader struct{ payload []byte }

// ViewContentHeader views a payload; any bytes will do.
func ViewContentHeader(payload []byte) ContentHeader { return ContentHeader{payload} }

// Payload returns the bytes as on the wire.
func (h ContentHeader) Payload() []byte { return h.payload }

// ClassID returns the class, 60 for basic; 0 when the payload ends before it.
func (h ContentHeader) ClassID() uint16 {
	if len(h.payload) < 2 {
		return 0
	}
	return binary.BigEndian.Uint16(h.payload)
}

// BodySize returns the declared size of the body in octets; 0 when the payload ends before it.
func (h ContentHeader) BodySize() uint64 {
	if len(h.payload) < 12 {
		return 0
	}
	return binary.BigEndian.Uint64(h.payload[4:])
}

// Flags returns the first word of property flags; 0 when the payload ends before it.
func (h ContentHeader) Flags() uint16 {
	if len(h.payload) < ContentHeaderFixed {
		return 0
	}
	return binary.BigEndian.Uint16(h.payload[12:])
}

// HeaderTable returns the headers property with its four length octets, as fieldtable.View takes
// it. When the length goes past the payload it returns everything to the payload's end. ok is false
// when the property is not set or the payload ends before its first octet.
func (h ContentHeader) HeaderTable() (encoded []byte, ok bool) {
	start := h.HeaderTableOffset()
	if start < 0 {
		return nil, false
	}
	end := start + tableExtent(h.payload[start:])
	return h.payload[start:end:end], true
}

// HeaderTableOffset returns where the headers property begins, in bytes from the payload's first
// octet, or -1 where HeaderTable has none.
func (h ContentHeader) HeaderTableOffset() int {
	flags := h.Flags()
	if flags&FlagHeaders == 0 {
		return -1
	}
	at, _, ok := h.propertyList()
	if !ok {
		return -1
	}
	for _, flag := range [...]uint16{flagContentType, flagContentEncoding} {
		if flags&flag != 0 && at < len(h.payload) {
			at += 1 + int(h.payload[at])
		}
	}
	if at >= len(h.payload) {
		return -1
	}
	return at
}

// propertyList returns where the property list begins and whether a flag of an undefined property
// is set; ok is false when the payload ends inside the flags, and at is then where the missing word
// would be.
func (h ContentHeader) propertyList() (at int, undefined, ok bool) {
	if len(h.payload) < ContentHeaderFixed {
		return len(h.payload), false, false
	}
	word := binary.BigEndian.Uint16(h.payload[12:])
	undefined = word&2 != 0
	at = ContentHeaderFixed
	for word&flagContinues != 0 {
		if len(h.payload)-at < 2 {
			return at, undefined, false
		}
		word = binary.BigEndian.Uint16(h.payload[at:])
		undefined = undefined || word&^flagContinues != 0
		at += 2
	}
	return at, undefined, true
}

// All yields the properties that are set, in wire order, and a *PropertyError once and last when
// there is damage. A headers property whose length overruns is yielded with what is there, before
// the error.
func (h ContentHeader) All() iter.Seq2[Property, error] {
	return func(yield func(Property, error) bool) {
		at, undefined, ok := h.propertyList()
		if !ok {
			yield(Property{}, &PropertyError{Offset: at, Err: ErrPayloadTruncated})
			return
		}
		flags := h.Flags()
		for i, name := range basicProperties() {
			if flags&(flagContentType>>i) == 0 {
				continue
			}
			p, ok := cutProperty(h.payload, at, name)
			if (ok || p.Form() == FormTable && p.Raw != nil) && !yield(p, nil) {
				return
			}
			if !ok {
				yield(Property{}, &PropertyError{Offset: at, Name: name, Err: ErrPropertyTruncated})
				return
			}
			at = p.End
		}
		switch {
		case undefined:
			yield(Property{}, &PropertyError{Offset: at, Err: ErrUnknownProperty})
		case at < len(h.payload):
			yield(Property{}, &PropertyError{Offset: at, Err: ErrTrailingBytes})
		}
	}
}

// Valid returns nil if every property that is set can be read and nothing else stands in the
// payload, otherwise the *PropertyError of All. Of the headers property it judges the length alone.
func (h ContentHeader) Valid() error {
	if h.sound() {
		return nil
	}
	for _, err := range h.All() {
		if err != nil {
			return err
		}
	}
	return nil
}

// sound is Valid without the reason.
func (h ContentHeader) sound() bool {
	_, _, sound := h.Survey()
	return sound
}

// Survey is HeaderTable, HeaderTableOffset and Valid in one pass over the property list: the
// headers property, where it begins (-1: there is none), and whether the whole content header is
// undamaged.
func (h ContentHeader) Survey() (table []byte, tableAt int, sound bool) {
	at, undefined, ok := h.propertyList()
	if !ok {
		return nil, -1, false
	}
	tableAt = -1
	left := uint64(len(h.payload) - at)
	for flags := h.Flags() &^ flagContinues; flags != 0; {
		flag := flagContentType >> bits.LeadingZeros16(flags)
		flags &^= flag
		size := uint64(8) // of the timestamp
		switch {
		case flag&(flagDeliveryMode|flagPriority) != 0:
			size = 1
		case flag&FlagHeaders != 0 && left > 0:
			end := at + tableExtent(h.payload[at:])
			table, tableAt = h.payload[at:end:end], at
			if left >= 4 {
				size = 4 + uint64(binary.BigEndian.Uint32(h.payload[at:]))
			}
		case flag&(FlagHeaders|flagTimestamp) == 0 && left > 0:
			size = 1 + uint64(h.payload[at])
		}
		if size > left {
			return table, tableAt, false
		}
		at, left = at+int(size), left-size
	}
	return table, tableAt, left == 0 && !undefined
}

// Property returns the property with the spec's name, written with underscores; ok is false when it
// is not set or stands behind damage.
func (h ContentHeader) Property(name string) (Property, bool) {
	wanted := FlagOf(name)
	flags := h.Flags() &^ flagContinues
	at, _, ok := h.propertyList()
	if !ok || wanted == 0 || flags&wanted == 0 {
		return Property{}, false
	}
	for flags &^= wanted - 1; ; { // those up to the one wanted
		flag := flagContentType >> bits.LeadingZeros16(flags)
		if flag == wanted {
			p, ok := cutProperty(h.payload, at, name)
			return p, ok || p.Form() == FormTable && p.Raw != nil
		}
		size := sizeOf(flag, h.payload[at:])
		if size > uint64(len(h.payload)-at) {
			return Property{}, false
		}
		flags &^= flag
		at += int(size)
	}
}

// sizeOf is how many octets the property of a flag takes that begins b, as it says itself; at least
// one, so that there is always too little for one that is missing.
func sizeOf(flag uint16, b []byte) uint64 {
	switch {
	case flag&(flagDeliveryMode|flagPriority) != 0:
		return 1
	case flag&flagTimestamp != 0:
		return 8
	case flag&FlagHeaders == 0 && len(b) > 0:
		return 1 + uint64(b[0])
	case flag&FlagHeaders != 0 && len(b) >= 4:
		return 4 + uint64(binary.BigEndian.Uint32(b))
	case flag&FlagHeaders != 0:
		return 4
	}
	return 1
}

// Property is a view of one property of a content header.
type Property struct {
	Name string // the spec's, with underscores: "content_type"
	// Raw is the value without a short string's length octet. The headers property keeps its four.
	Raw []byte
	// bytes from the payload's first octet: the property's first octet, and the one after it
	Offset, End int
}

// Form returns how the property is encoded, which its name decides.
func (p Property) Form() Form { return FormOf(p.Name) }

// Text returns the bytes of a short string property.
func (p Property) Text() ([]byte, bool) { return p.Raw, p.Form() == FormShortStr }

// Uint8 returns the value of delivery_mode or priority.
func (p Property) Uint8() (uint8, bool) {
	if p.Form() != FormOctet || len(p.Raw) != 1 {
		return 0, false
	}
	return p.Raw[0], true
}

// Timestamp returns the value of timestamp: by the spec seconds since 1970; clients of Qpid write
// milliseconds.
func (p Property) Timestamp() (int64, bool) {
	if p.Form() != FormTimestamp || len(p.Raw) != 8 {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(p.Raw)), true
}

// cutProperty reads the property that begins at offset at. When ok is false the payload ends inside
// it; a table then holds in Raw what there is of it.
func cutProperty(payload []byte, at int, name string) (p Property, ok bool) {
	p = Property{Name: name, Offset: at}
	rest := payload[at:]
	if len(rest) == 0 {
		return p, false
	}
	skip, size := 0, 0
	switch p.Form() {
	case FormShortStr:
		skip, size = 1, int(rest[0])
	case FormOctet:
		size = 1
	case FormTimestamp:
		size = 8
	case FormTable:
		size = tableExtent(rest)
		p.Raw, p.End = rest[:size:size], at+size
		return p, len(rest) >= 4 && uint64(binary.BigEndian.Uint32(rest))+4 <= uint64(len(rest))
	}
	if len(rest) < skip+size {
		return p, false
	}
	p.Raw, p.End = rest[skip:skip+size:skip+size], at+skip+size
	return p, true
}

// tableExtent is how many octets of b the table at its start takes: all of them when its length
// overruns.
func tableExtent(b []byte) int {
	if len(b) < 4 {
		return len(b)
	}
	return int(min(uint64(binary.BigEndian.Uint32(b))+4, uint64(len(b))))
}

// AppendContentHeader appends a content header frame with this payload, which may be any bytes.
func AppendContentHeader(dst []byte, channel uint16, payload []byte) []byte {
	return AppendFrame(dst, FrameHeader, channel, payload)
}

// AppendContentHeaderPayload appends the payload of a content header of class basic: the fixed
// part, the flags of the given properties and their values, in wire order whatever the order in
// props. Only Name and Raw of each are read: Raw is written behind a length octet for short strings
// (cut at 255 bytes) and as it is for the others. Names that class basic does not have are left
// out.
func AppendContentHeaderPayload(dst []byte, bodySize uint64, props ...Property) []byte {
	dst = binary.BigEndian.AppendUint16(dst, ClassBasic)
	dst = binary.BigEndian.AppendUint16(dst, 0)
	dst = binary.BigEndian.AppendUint64(dst, bodySize)
	flagsAt := len(dst)
	dst = binary.BigEndian.AppendUint16(dst, 0)
	var flags uint16
	for i, name := range basicProperties() {
		for _, p := range props {
			if p.Name != name {
				continue
			}
			flags |= flagContentType >> i
			if p.Form() == FormShortStr {
				dst = appendShortStr(dst, p.Raw)
			} else {
				dst = append(dst, p.Raw...)
			}
			break
		}
	}
	binary.BigEndian.PutUint16(dst[flagsAt:], flags)
	return dst
}
