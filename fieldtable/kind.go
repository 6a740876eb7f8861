package fieldtable

// Kind says what a value means, whichever tag its dialect writes it with.
type Kind uint8

const (
	KindInvalid   Kind = iota // the dialect does not know the tag
	KindBool                  // 1 octet
	KindInt8                  // 1 octet, two's complement
	KindUint8                 // 1 octet
	KindInt16                 // 2 octets, two's complement
	KindUint16                // 2 octets
	KindInt32                 // 4 octets, two's complement
	KindUint32                // 4 octets
	KindInt64                 // 8 octets, two's complement
	KindUint64                // 8 octets
	KindFloat32               // 4 octets, IEEE 754 binary32
	KindFloat64               // 8 octets, IEEE 754 binary64
	KindDecimal               // 1 octet scale, 4 octets unscaled value in two's complement
	KindLongStr               // text with a length of 4 octets (of 2 for c in qpid-336)
	KindShortStr              // text with a length of 1 octet
	KindBytes                 // octets with a length of 4 octets
	KindChar8                 // 1 octet, a character
	KindTimestamp             // 8 octets, two's complement; the dialect gives the unit
	KindVoid                  // no octets
	KindTable                 // a nested field table
	KindArray                 // values without names
)

// String returns the name that typed JSON uses: "bool", "int8", "longstr" and so on.
func (k Kind) String() string {
	switch k {
	case KindBool:
		return "bool"
	case KindInt8:
		return "int8"
	case KindUint8:
		return "uint8"
	case KindInt16:
		return "int16"
	case KindUint16:
		return "uint16"
	case KindInt32:
		return "int32"
	case KindUint32:
		return "uint32"
	case KindInt64:
		return "int64"
	case KindUint64:
		return "uint64"
	case KindFloat32:
		return "float32"
	case KindFloat64:
		return "float64"
	case KindDecimal:
		return "decimal"
	case KindLongStr:
		return "longstr"
	case KindShortStr:
		return "shortstr"
	case KindBytes:
		return "bytes"
	case KindChar8:
		return "char8"
	case KindTimestamp:
		return "timestamp"
	case KindVoid:
		return "void"
	case KindTable:
		return "table"
	case KindArray:
		return "array"
	}
	return "invalid"
}
