package fieldtable

import "strconv"

// Decimal is Unscaled divided by 10 to the power of Scale.
type Decimal struct {
	Scale    uint8
	Unscaled int32
}

// String writes the number exactly, with Scale digits after the point: "3.14", "-0.007", "7".
func (d Decimal) String() string { return string(d.Append(nil)) }

// Append appends what String returns.
func (d Decimal) Append(dst []byte) []byte { return appendDecimal(dst, d.Scale, int64(d.Unscaled)) }

func appendDecimal(dst []byte, scale uint8, unscaled int64) []byte {
	if unscaled < 0 {
		dst = append(dst, '-')
		unscaled = -unscaled
	}
	var scratch [20]byte
	digits := strconv.AppendInt(scratch[:0], unscaled, 10)
	whole := len(digits) - int(scale)
	if whole <= 0 {
		dst = append(dst, '0')
	} else {
		dst = append(dst, digits[:whole]...)
		digits = digits[whole:]
	}
	if scale == 0 {
		return dst
	}
	dst = append(dst, '.')
	for ; whole < 0; whole++ {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}
