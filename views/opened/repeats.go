package opened

import (
	"iter"
	"strconv"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/kit"
)

// repeat is a name that many fields of a table have.
type repeat struct {
	first int // offset of the first of them
	count int
	bytes int // of all of them
}

// repeats returns the names that more than facts.Repeated fields have, of the first countedNames
// names; nil if there is none.
func repeats(s fieldtable.Scanner) map[string]*repeat {
	names, many := map[string]*repeat{}, map[string]*repeat(nil)
	for s.Next() {
		r := names[string(s.Name())]
		if r == nil {
			if len(names) == countedNames {
				continue
			}
			r = &repeat{first: s.Field().Offset}
			names[string(s.Name())] = r
		}
		f := s.Field()
		r.count++
		r.bytes += f.End - f.Offset
		if r.count == facts.Repeated+1 {
			if many == nil {
				many = map[string]*repeat{}
			}
			many[string(f.Name)] = r
		}
	}
	return many
}

// lines yields the fields or elements that stand on a line of their own: all but those of a
// repeated name, of which only the first does.
func lines(s fieldtable.Scanner, repeated map[string]*repeat) iter.Seq[fieldtable.Field] {
	return func(yield func(fieldtable.Field) bool) {
		for s.Next() {
			f := s.Field()
			if r := repeated[string(f.Name)]; r != nil && r.first != f.Offset {
				continue
			}
			if !yield(f) {
				return
			}
		}
	}
}

// octets is how many octets the fields on f's line have.
func octets(f fieldtable.Field, repeated map[string]*repeat) int {
	if r := repeated[string(f.Name)]; r != nil {
		return r.bytes
	}
	return f.End - f.Offset
}

// share writes a part of a whole in percent: "0.4 %".
func share(part, whole int) string {
	if whole == 0 {
		return ""
	}
	percent := 100 * float64(part) / float64(whole)
	switch {
	case percent < 0.1:
		return "less than 0.1 % of the table"
	case percent < 10:
		return strconv.FormatFloat(percent, 'f', 1, 64) + " % of the table"
	}
	return strconv.FormatFloat(percent, 'f', 0, 64) + " % of the table"
}

// times is how often a name is there.
func times(n int) string { return "×" + kit.Num(n) }
