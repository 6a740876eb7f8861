package web

import (
	"bytes"
	"cmp"
	"math/big"
	"slices"
	"strconv"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
)

// arrange puts the messages of a page in the order that req asks for. Messages
// that compare equal keep their order, those without a value come last either
// way.
func arrange(ms []archive.Message, req request) []archive.Message {
	if req.by == nil {
		return ms
	}
	type keyed struct {
		m   archive.Message
		key sortKey
	}
	rows := make([]keyed, len(ms))
	var scratch query.Scratch
	for i, m := range ms {
		rows[i].m = m
		switch c := readCell(req.by, m, req.dialect, &scratch); {
		case !c.set || c.Removed:
		case c.isHeader():
			rows[i].key = newSortKey(c.Value)
		default:
			rows[i].key = propertySortKey(c.Text)
		}
	}
	slices.SortStableFunc(rows, func(a, b keyed) int {
		if a.key.class == classAbsent || b.key.class == classAbsent {
			return cmp.Compare(b.key.class, a.key.class)
		}
		c := a.key.compare(b.key)
		if req.Sort.Desc {
			return -c
		}
		return c
	})
	sorted := make([]archive.Message, len(rows))
	for i, r := range rows {
		sorted[i] = r.m
	}
	return sorted
}

// sortKey is a value as it compares with others: numbers exactly across their
// types, texts and bytes by their bytes, and class by class otherwise.
type sortKey struct {
	class  sortClass
	number *big.Rat // for classNumber; nil for the infinities
	float  float64  // for what number cannot hold
	text   []byte
}

type sortClass uint8

const (
	classAbsent sortClass = iota // the zero sortKey
	classVoid
	classBool
	classNumber
	classTime
	classText
	classOther
)

// propertySortKey is that of a property as it is displayed.
func propertySortKey(text []byte) sortKey {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return sortKey{class: classNumber, number: new(big.Rat).SetInt64(n)}
	}
	return sortKey{class: classText, text: bytes.Clone(text)}
}

func newSortKey(v fieldtable.Value) sortKey {
	if n, ok := v.Bool(); ok {
		k := sortKey{class: classBool}
		if n {
			k.float = 1
		}
		return k
	}
	if n, ok := v.Int64(); ok {
		return sortKey{class: classNumber, number: new(big.Rat).SetInt64(n)}
	}
	if n, ok := v.Uint64(); ok {
		return sortKey{class: classNumber, number: new(big.Rat).SetUint64(n)}
	}
	if f, ok := v.Float64(); ok {
		// SetFloat64 is nil where f is not finite.
		return sortKey{class: classNumber, number: new(big.Rat).SetFloat64(f), float: f}
	}
	if d, ok := v.Decimal(); ok {
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.Scale)), nil)
		return sortKey{class: classNumber, number: new(big.Rat).SetFrac(big.NewInt(int64(d.Unscaled)), scale)}
	}
	if t, ok := v.Timestamp(); ok {
		unit := int64(1)
		if t.Unit == fieldtable.Milliseconds {
			unit = 1000
		}
		return sortKey{class: classTime, number: big.NewRat(t.Value, unit)}
	}
	if s, ok := v.Text(); ok {
		return sortKey{class: classText, text: s}
	}
	if b, ok := v.Bytes(); ok {
		return sortKey{class: classText, text: b}
	}
	if v.Kind() == fieldtable.KindVoid {
		return sortKey{class: classVoid}
	}
	return sortKey{class: classOther}
}

func (k sortKey) compare(with sortKey) int {
	if c := cmp.Compare(k.class, with.class); c != 0 {
		return c
	}
	switch {
	case k.number != nil && with.number != nil:
		return k.number.Cmp(with.number)
	case k.number != nil || with.number != nil:
		// One of them is infinite or not a number, which cmp puts first.
		return cmp.Compare(k.size(), with.size())
	case k.class == classText:
		return bytes.Compare(k.text, with.text)
	}
	return cmp.Compare(k.float, with.float)
}

// size puts every finite number in one place between the infinities.
func (k sortKey) size() float64 {
	if k.number != nil {
		return 0
	}
	return k.float
}
