package fieldtable

import (
	"encoding/binary"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable/plural"
)

// Reading is one field or element, and who reads it otherwise than the table's dialect does.
type Reading struct {
	Offset, End int    // as in Field
	Path        string // as in SyntaxError
	Tag         byte
	Text        string // what the octets say in the table's dialect; long text is cut
	Others      []Other
}

// Loud reports whether someone reads it otherwise.
func (r Reading) Loud() bool { return len(r.Others) > 0 }

// Other is what one client makes of a field or element.
type Other struct {
	Client string // its Name
	Text   string // what it reads; empty if it reads nothing
	Why    string // one sentence
	// Fatal says that the client gives up here and sees nothing of the table at all.
	Fatal bool
}

const (
	maxReadings    = 1000
	maxReadingText = 120 // octets
)

// Readings returns the fields and elements of t, nested ones too, in wire order, at most 1,000,
// each with the clients that read it otherwise. Damage has a Reading of its own, from the element
// that could not be read to the end of what holds it, with the cause as its Text. A client that
// gives up at one field is not mentioned at later ones.
func Readings(t Table) []Reading {
	c := comparison{}
	s := t.Scan()
	c.collect(&s)
	for _, client := range Clients() {
		c.client = client
		theirs := t
		theirs.d, theirs.flaw = client.dialect, sound
		mine, other := t.Scan(), theirs.Scan()
		c.compare(&mine, &other)
	}
	return c.readings
}

// comparison holds the readings so far, in ascending order of Offset.
type comparison struct {
	readings []Reading
	client   Client
}

func (c *comparison) collect(s *Scanner) {
	for len(c.readings) < maxReadings && s.Next() {
		v := s.Value()
		c.readings = append(c.readings, Reading{
			Offset: int(s.start),
			End:    int(s.stop),
			Path:   string(shorten(s.AppendPath(nil))),
			Tag:    v.tag,
			Text:   shown(v),
		})
		if inner, ok := s.Into(); ok {
			c.collect(&inner)
		}
	}
	if s.failed && len(c.readings) < maxReadings {
		e := s.damage()
		c.readings = append(c.readings, Reading{
			Offset: s.Offset(), End: s.end, Path: e.Path, Tag: e.Tag, Text: string(e.appendCause(nil)),
		})
	}
}

// note adds what the client makes of the element that begins at offset, if that was collected.
func (c *comparison) note(offset uint64, text, why string) {
	c.add(offset, Other{Client: c.client.Name, Text: shortened(text), Why: why})
}

// refuse notes that the client gives up at offset.
func (c *comparison) refuse(offset uint64, why string) {
	c.add(offset, Other{Client: c.client.Name, Why: c.client.Refusal + ": " + why, Fatal: true})
}

// refuseDamage notes that the client gives up at offset because of the damage that it sees there,
// which context may explain.
func (c *comparison) refuseDamage(offset uint64, context string, e *SyntaxError) {
	why := c.client.Refusal
	if e.Err == ErrUnknownTag && c.client.TagError != "" {
		why += " with " + c.client.TagError
	}
	c.add(offset, Other{
		Client: c.client.Name,
		Why:    fmt.Sprintf("%s: %s%s", why, context, e.appendCause(nil)),
		Fatal:  true,
	})
}

func (c *comparison) add(offset uint64, o Other) {
	i := sort.Search(len(c.readings), func(i int) bool { return uint64(c.readings[i].Offset) >= offset })
	if i < len(c.readings) && uint64(c.readings[i].Offset) == offset {
		c.readings[i].Others = append(c.readings[i].Others, o)
	}
}

// compare reads one table or array both ways. It returns false if the client gives up.
func (c *comparison) compare(mine, theirs *Scanner) bool {
	same := namesakesOf(*mine)
	for n := 0; n < maxReadings && mine.Next(); n++ {
		at, v := mine.start, mine.Value()
		if !theirs.Next() {
			c.refuseDamage(at, "", theirs.damage())
			return false
		}
		w := theirs.Value()
		if why := c.client.refusal(mine, w); why != "" {
			c.refuse(at, why)
			return false
		}
		if w.end != v.end {
			return c.lost(at, w, theirs)
		}
		if c.client.losesShortTail && mine.end-int(at) <= 3 {
			c.note(at, "", "loses what begins in the last 3 octets of a table or array")
			continue
		}
		if mine.named && !c.duplicate(at, same[string(mine.Name())]) {
			return false
		}
		if c.client.names == objectKeys && string(mine.Name()) == "__proto__" {
			c.note(at, "", "loses a field named __proto__, which sets the prototype of its object")
			continue
		}
		if text, why := c.client.reads(w, v); why != "" {
			c.note(at, text, why)
		}
		if inner, ok := mine.Into(); ok {
			if theirInner, ok := theirs.Into(); ok && !c.compare(&inner, &theirInner) {
				return false
			}
		}
	}
	if max := c.client.maxElements; max > 0 && mine.count > max {
		c.refuse(mine.start, fmt.Sprintf("more than %d elements", max))
		return false
	}
	return !mine.failed || c.compareDamage(mine, theirs)
}

// compareDamage notes what the client makes of the element that mine could not read.
func (c *comparison) compareDamage(mine, theirs *Scanner) bool {
	at := mine.pos
	if theirs.Next() {
		c.note(
			at,
			shown(theirs.Value()),
			fmt.Sprintf("reads %s as %s", AppendTag(nil, theirs.Value().tag), theirs.Value().kind),
		)
		return true
	}
	e := theirs.damage()
	if c.client.arraysEndEarly && !mine.named && e.Offset == mine.end {
		c.note(at, "", "takes it for the end of the array")
		return true
	}
	if left := mine.root[min(e.Offset+4, mine.end):mine.end]; c.client.takesWhatIsLeft && e.Err == ErrLengthOverrun &&
		c.client.dialect.isText(e.Tag) {
		c.note(at, string(left), "takes what is left")
		return true
	}
	c.refuseDamage(at, "", e)
	return false
}

func (d *Dialect) isText(tag byte) bool {
	return d.kinds[tag] == KindLongStr || d.kinds[tag] == KindBytes
}

// lost notes that the client takes w, which begins at offset, to be of another length than it has.
func (c *comparison) lost(offset uint64, w Value, theirs *Scanner) bool {
	why := fmt.Sprintf("reads %s as %s of %s and loses its place",
		AppendTag(nil, w.tag), w.kind, plural.Of(len(w.Raw()), "octet"))
	for theirs.Next() {
	}
	if e := theirs.damage(); e != nil {
		c.refuseDamage(offset, why+": ", e)
		return false
	}
	c.note(offset, shown(w), why+"; what follows reads as other fields")
	return true
}

// namesakes are the offsets of the first and the last field of one name.
type namesakes struct{ first, last uint64 }

func namesakesOf(s Scanner) map[string]namesakes {
	all := map[string]namesakes{}
	for n := 0; s.named && n < maxReadings && s.Next(); n++ {
		name := string(s.Name())
		if same, ok := all[name]; ok {
			all[name] = namesakes{same.first, s.start}
		} else {
			all[name] = namesakes{s.start, s.start}
		}
	}
	return all
}

// duplicate notes what becomes of the field at offset if there are others of its name. It returns
// false if the client gives up.
func (c *comparison) duplicate(offset uint64, same namesakes) bool {
	if same.first == same.last {
		return true
	}
	switch c.client.duplicates {
	case lastCounts:
		if offset != same.last {
			c.note(offset, "", "keeps only the last of the fields with this name")
		}
	case firstCounts:
		if offset != same.first {
			c.note(offset, "", "keeps only the first of the fields with this name")
		}
	case firstAndLast:
		if offset != same.last {
			c.note(
				offset,
				"",
				"its headers exchange and management page see only the last of the fields with this name",
			)
		}
		if offset != same.first {
			c.note(offset, "", "its look-ups, as for dead-lettering, see only the first of the fields with this name")
		}
	case secondRefused:
		if offset != same.first {
			c.refuse(offset, "two fields have this name")
			return false
		}
	}
	return true
}

// refusal says why the client refuses the table because of w, the value that s stands on.
func (b *behaviour) refusal(s *Scanner, w Value) string {
	if s.named {
		switch name := s.Name(); {
		case b.names == utf8Names && !utf8.Valid(name):
			return "the name is no UTF-8"
		case b.names == nonEmptyNames && len(name) == 0:
			return "the name is empty"
		}
	}
	switch w.kind {
	case KindFloat32, KindFloat64:
		if f, _ := w.Float64(); b.refusesNaN && (math.IsNaN(f) || math.IsInf(f, 0)) {
			return "it cannot read NaN or infinity"
		}
	case KindDecimal:
		if d, _ := w.Decimal(); b.decimals == signAndMagnitude && d.Scale > magnitudeMaxScale {
			return "the scale of the decimal is above 28"
		}
	case KindTimestamp:
		if ts, _ := w.Timestamp(); b.timestamps == dateTimestamps && (ts.Value < 0 || ts.Value > lastSecond) {
			return "the timestamp is beyond the year 9999"
		}
	}
	return ""
}

// reads returns what the client makes of w, its own reading of v, and why, if that is not what v
// says.
func (b *behaviour) reads(w, v Value) (text, why string) {
	switch w.kind {
	case KindBool:
		theirs, _ := w.Bool()
		if ours, ok := v.Bool(); ok && ours != theirs {
			if b.dialect.trueIsOne {
				return shown(w), "takes only the octet 1 for true"
			}
			return shown(w), "takes every octet but 0 for true"
		}
		return "", ""
	case KindFloat32:
		if bits := binary.LittleEndian.Uint32(w.Raw()); b.floatsReversed && bits != binary.BigEndian.Uint32(w.Raw()) {
			return strconv.FormatFloat(
				float64(math.Float32frombits(bits)),
				'g',
				-1,
				32,
			), "reads f in the byte order of its host"
		}
	case KindDecimal:
		return b.readsDecimal(w)
	case KindTimestamp:
		return b.readsTimestamp(w, v)
	case KindLongStr:
		if raw := w.Raw(); b.textIsUTF8 && !utf8.Valid(raw) {
			return strings.ToValidUTF8(string(raw), "\uFFFD"), "replaces octets that are no UTF-8"
		}
	}
	if len(w.Raw()) == 0 && (w.kind == KindTable && b.emptyTableIsNull || w.kind == KindArray && b.emptyArrayIsNull ||
		w.kind == KindBytes && b.emptyBytesIsNull) {
		return "null", "takes none for null"
	}
	if n, ok := w.Int64(); ok && b.doublesOnly && int64(float64(n)) != n {
		return strconv.FormatFloat(float64(n), 'f', -1, 64), "holds integers as doubles, exact to 53 bits"
	}
	if w.kind != v.kind {
		if ours, theirs := shown(v), shown(w); ours != theirs {
			return theirs, fmt.Sprintf("reads %s as %s", AppendTag(nil, w.tag), w.kind)
		}
	}
	return "", ""
}

func (b *behaviour) readsDecimal(w Value) (text, why string) {
	d, _ := w.Decimal()
	switch {
	case b.decimals == unsignedDecimals && d.Unscaled < 0:
		return unsignedDecimal(d), "reads the digits unsigned"
	case b.decimals == signAndMagnitude && d.Unscaled < 0:
		return "-" + Decimal{
			d.Scale,
			int32(uint32(d.Unscaled) &^ (1 << 31)),
		}.String(), "reads a sign bit and 31 bits of magnitude"
	case b.decimals == unscaledDecimals && d.Scale > 0 && d.Unscaled != 0:
		return strconv.Itoa(
			int(d.Unscaled),
		) + "." + strings.Repeat(
			"0",
			int(d.Scale),
		), "takes the digits for the value without scaling them"
	}
	return "", ""
}

func (b *behaviour) readsTimestamp(w, v Value) (text, why string) {
	ts, _ := w.Timestamp()
	ours, _ := v.Timestamp()
	switch {
	case ts.Unit != ours.Unit && ts.Value != 0:
		return shown(w), map[Unit]string{Seconds: "counts seconds", Milliseconds: "counts milliseconds"}[ts.Unit]
	case b.doublesOnly && uint64(ts.Value) > 1<<53:
		return strconv.FormatFloat(
			float64(uint64(ts.Value)),
			'f',
			-1,
			64,
		) + " s", "holds integers as doubles, exact to 53 bits"
	case b.timestamps == unsignedTimestamps && ts.Value < 0:
		return strconv.FormatUint(uint64(ts.Value), 10) + " s", "reads the timestamp unsigned"
	case b.timestamps == guessedTimestamps && uint64(ts.Value) > math.MaxUint32:
		n := Timestamp{Value: int64(uint64(ts.Value) / 1000)}
		return shownTime(n), "takes it for milliseconds, because it exceeds 32 bits"
	case b.timestamps == multipliedSeconds && (ts.Value > math.MaxInt64/1000 || ts.Value < math.MinInt64/1000):
		return shownTime(Timestamp{Value: ts.Value * 1000, Unit: Milliseconds}), "multiplies by 1000 beyond 64 bits"
	}
	return "", ""
}

func shown(v Value) string {
	switch v.kind {
	case KindTimestamp:
		ts, _ := v.Timestamp()
		return shownTime(ts)
	case KindLongStr, KindShortStr:
		if !utf8.Valid(v.Raw()) {
			return shortened(fmt.Sprintf("0x%x", v.Raw()[:min(len(v.Raw()), maxReadingText)]))
		}
	}
	return shortened(string(v.AppendText(nil)))
}

func shownTime(ts Timestamp) string {
	count := fmt.Sprintf("%d %s", ts.Value, ts.Unit)
	if rfc3339, ok := ts.AppendRFC3339(nil); ok {
		return fmt.Sprintf("%s = %s", count, rfc3339)
	}
	return count
}

func shortened(s string) string {
	if len(s) <= maxReadingText {
		return s
	}
	n := maxReadingText
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
