package query

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Sort puts messages, read under dialect d, in the order of an operand's values: numbers and times
// as < has them, floats by the digits shown, text by its bytes. Different types stand one after the
// other: void, booleans, numbers and times, text and octets, tables and arrays. Messages that
// compare equal keep their order; those without a value come last either way.
func Sort(messages []archive.Message, by *Operand, descending bool, d *fieldtable.Dialect) []archive.Message {
	type row struct {
		message archive.Message
		key     sortKey
	}
	rows := make([]row, len(messages))
	var scratch Scratch
	for i, m := range messages {
		rows[i] = row{m, by.sortKey(m, d, &scratch)}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return a.key.order(&b.key, descending) })
	sorted := make([]archive.Message, len(rows))
	for i := range rows {
		sorted[i] = rows[i].message
	}
	return sorted
}

// sortKey is a value as Sort compares it.
type sortKey struct {
	class sortClass
	// number is exact; of a float it has the digits shown.
	number decimal
	text   []byte // for sortText
}

type sortClass uint8

const (
	sortAbsent sortClass = iota // the zero sortKey
	sortVoid
	sortFalse
	sortTrue
	sortNaN
	sortLowest // -Inf
	sortNumber
	sortHighest // +Inf
	sortText
	sortOther
)

func (o *Operand) sortKey(m archive.Message, d *fieldtable.Dialect, s *Scratch) (k sortKey) {
	o.first(m, d, s, func(s *Scratch, d *datum) {
		if !d.removed {
			k = newSortKey(d)
		}
	})
	return k
}

// newSortKey refers to the bytes of text.
func newSortKey(d *datum) sortKey {
	switch d.class {
	case classVoid:
		return sortKey{class: sortVoid}
	case classBool:
		if d.bool {
			return sortKey{class: sortTrue}
		}
		return sortKey{class: sortFalse}
	case classInt:
		return scaledKey(strconv.AppendInt(nil, d.int, 10), 0)
	case classDecimal, classTime:
		return scaledKey(strconv.AppendInt(nil, d.int, 10), d.scale)
	case classUint:
		return scaledKey(strconv.AppendUint(nil, d.uint, 10), 0)
	case classFloat:
		switch {
		case d.float != d.float:
			return sortKey{class: sortNaN}
		case d.float-d.float != 0 && d.float < 0:
			return sortKey{class: sortLowest}
		case d.float-d.float != 0:
			return sortKey{class: sortHighest}
		}
		return scaledKey(d.appendDisplayed(nil), 0)
	case classText:
		return sortKey{class: sortText, text: d.bytes}
	}
	if d.value != nil {
		if octets, ok := d.value.Bytes(); ok {
			return sortKey{class: sortText, text: octets}
		}
	}
	return sortKey{class: sortOther}
}

// scaledKey is of digits × 10^-scale.
func scaledKey(digits []byte, scale int) sortKey {
	n, _ := parseDecimal(digits)
	if n.digits() > 0 {
		n.exp -= scale
	}
	return sortKey{class: sortNumber, number: n}
}

// order is compare, turned round if descending, but for no value: it comes last either way.
func (k *sortKey) order(with *sortKey, descending bool) int {
	if k.class == sortAbsent || with.class == sortAbsent {
		return cmp.Compare(min(with.class, 1), min(k.class, 1))
	}
	if descending {
		return with.compare(k)
	}
	return k.compare(with)
}

func (k *sortKey) compare(with *sortKey) int {
	if c := cmp.Compare(k.class, with.class); c != 0 {
		return c
	}
	if k.class == sortNumber {
		return k.number.cmp(&with.number)
	}
	return bytes.Compare(k.text, with.text)
}
