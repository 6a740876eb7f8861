package fieldtable

import (
	"cmp"
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
	// Version is the release that was asked, or the commit whose source was read.
	Version string
	Text    string // what it reads; empty if it reads nothing
	Why     string // one sentence
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
	if flaw := t.flawed(); t.flaw == tableLengthTruncated || t.flaw == tableLengthOverrun {
		return c.unreadable(flaw, t.root)
	}
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

// unreadable is the one reading of octets that have no whole table in them.
func (c *comparison) unreadable(flaw *SyntaxError, octets []byte) []Reading {
	c.readings = []Reading{{End: len(octets), Text: string(flaw.appendCause(nil))}}
	// Bunny does not look at the last 3 octets of what the length claims.
	near := len(octets) >= 4 && int64(binary.BigEndian.Uint32(octets))-int64(len(octets)-4) <= 3
	for _, c.client = range Clients() {
		rest := container{root: octets, end: len(octets), d: c.client.dialect}
		claims := flaw.Err == ErrTableLengthOverrun && c.client.slack == javaSlack && rest.valid(true) == nil
		if c.client.slack == bunnySlack && near || claims {
			c.note(0, "", "goes on after the damage, with whatever then is before it")
		} else {
			c.refuseDamage(0, "", flaw)
		}
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
	o.Version = c.client.Version
	i := sort.Search(len(c.readings), func(i int) bool { return uint64(c.readings[i].Offset) >= offset })
	if i < len(c.readings) && uint64(c.readings[i].Offset) == offset {
		c.readings[i].Others = append(c.readings[i].Others, o)
	}
}

// compare reads one table or array both ways. It returns false if the client gives up.
func (c *comparison) compare(mine, theirs *Scanner) bool {
	same := c.namesakesOf(*mine)
	first := mine.pos
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
		if why := c.client.invalid(mine, w); why != "" {
			c.add(at, Other{Client: c.client.Name, Why: deletion + why, Fatal: true})
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
		if mine.named {
			c.name(at, mine.Name())
		}
		if inner, ok := mine.Into(); ok {
			if theirInner, ok := theirs.Into(); ok && !c.compare(&inner, &theirInner) {
				return false
			}
		}
	}
	if max := c.client.maxElements; max > 0 {
		for mine.count <= max && mine.Next() { // beyond what is compared
		}
		if mine.count > max {
			c.refuse(first, fmt.Sprintf("there are more than %d elements", max))
			return false
		}
	}
	return !mine.failed || c.compareDamage(mine, theirs)
}

// compareDamage notes what the client makes of the element that mine could not read.
func (c *comparison) compareDamage(mine, theirs *Scanner) bool {
	at := uint64(mine.Offset())
	if damage := mine.damage(); damage.Err == ErrDepthExceeded {
		return true // what stops the reading of t need not stop the client's
	}
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
	if c.client.slack.takes(e, mine) {
		c.note(at, "", "goes on after the damage, with whatever then is before it")
		return true
	}
	c.refuseDamage(at, "", e)
	return false
}

// takes reports whether a client goes on at damage in the table or array of s.
func (k slack) takes(e *SyntaxError, s *Scanner) bool {
	nested := e.HasTag && (s.d.kinds[e.Tag] == KindTable || s.d.kinds[e.Tag] == KindArray)
	switch k {
	case javaSlack:
		return e.Err == ErrLengthOverrun && nested
	case nodeSlack:
		return e.Err == ErrLengthOverrun && nested || e.Err == ErrValueTruncated && e.Tag == 't' && s.end == len(s.root)
	case pamqpSlack:
		return e.Err == ErrNameTruncated || e.Err == ErrMissingTag ||
			e.Err == ErrValueTruncated && len(s.root)-e.Offset > widthOf(s.d.kinds[e.Tag])
	case bunnySlack:
		return !s.named || s.end-s.Offset() <= 3 || e.Err == ErrValueTruncated && e.Tag != 'D' && e.Tag != 'T'
	}
	return false
}

// widthOf is how many octets a value of a kind has at least.
func widthOf(k Kind) int {
	switch k {
	case KindBool, KindInt8, KindUint8, KindChar8:
		return 1
	case KindInt16, KindUint16:
		return 2
	case KindInt32, KindUint32, KindFloat32:
		return 4
	case KindDecimal:
		return 5
	}
	return 8
}

// name notes what the client makes of a name.
func (c *comparison) name(offset uint64, name []byte) {
	if c.client.replacesInNames && !utf8.Valid(name) {
		c.note(offset, "", "replaces octets of the name that are no UTF-8")
	}
	if c.client.numbersFirst && isIndex(name) {
		c.note(offset, "", "puts names that are numbers first")
	}
}

// isIndex reports whether JavaScript takes a name for a place in an array: 0 to 2^32-2, written
// without zeros before.
func isIndex(name []byte) bool {
	n, err := strconv.ParseUint(string(name), 10, 32)
	return err == nil && n < math.MaxUint32 && strconv.FormatUint(n, 10) == string(name)
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

func (c *comparison) namesakesOf(s Scanner) map[string]namesakes {
	all := map[string]namesakes{}
	for n := 0; s.named && n < maxReadings && s.Next(); n++ {
		if c.client.losesShortTail && s.end-int(s.start) <= 3 {
			break
		}
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
		case (b.names == nonEmptyNames || b.names == shortNames) && len(name) == 0:
			return "the name is empty"
		case b.names == shortNames && len(name) > 128:
			return "the name has more than 128 octets"
		}
	}
	switch w.kind {
	case KindFloat32, KindFloat64:
		if f, _ := w.Float64(); b.refusesNaN && (math.IsNaN(f) || math.IsInf(f, 0)) {
			return "it cannot read NaN or infinity"
		} else if b.doublesCut && w.kind == KindFloat64 && (math.IsNaN(f) || math.IsInf(f, 0)) {
			return "it makes an integer of d, which NaN and infinity cannot become"
		}
	case KindDecimal:
		if d, _ := w.Decimal(); b.decimals == signAndMagnitude && d.Scale > magnitudeMaxScale {
			return "the scale of the decimal is above 28"
		}
	case KindTimestamp:
		if ts, _ := w.Timestamp(); b.timestamps == dateTimestamps && (ts.Value < 0 || ts.Value > lastSecond) {
			return "the timestamp is beyond the year 9999"
		} else if b.timestamps == guessedTimestamps && uint64(ts.Value)/1000 > lastSecond {
			return "the timestamp is beyond the year 9999, in milliseconds too"
		}
	}
	return ""
}

// deletion is what a broker does that validates a table after it took the message.
const deletion = "accepts the message and then deletes it (QUE-1006): "

// invalid says why the client deletes the message because of w, the value that s stands on.
func (b *behaviour) invalid(s *Scanner, w Value) string {
	if !b.deletes {
		return ""
	}
	if s.named && !utf8.Valid(s.Name()) {
		return "the name is no UTF-8"
	}
	switch w.kind {
	case KindLongStr:
		if !utf8.Valid(w.Raw()) {
			return "the text is no UTF-8"
		}
	case KindTable:
		if len(w.Raw()) == 0 {
			return "the nested table is empty"
		}
	case KindDecimal:
		if d, _ := w.Decimal(); d.Scale > 127 {
			return "the scale of the decimal is above 127"
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
	case KindFloat64:
		if f, _ := w.Float64(); b.doublesCut && math.Trunc(f) != f {
			whole := strings.TrimPrefix(strconv.FormatFloat(math.Trunc(f), 'f', -1, 64), "-0")
			return cmp.Or(whole, "0"), "makes an integer of d and drops what is behind the point"
		}
	case KindDecimal:
		return b.readsDecimal(w)
	case KindTimestamp:
		return b.readsTimestamp(w, v)
	case KindLongStr:
		if raw := w.Raw(); b.textIsUTF8 && !utf8.Valid(raw) {
			return replaced(raw), "replaces octets that are no UTF-8"
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

// replaced is text with U+FFFD for each longest beginning of a character that does not go on as one
// (Unicode, chapter 3.9, as decoders of the web and of Java do it).
func replaced(raw []byte) string {
	var b strings.Builder
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		if r == utf8.RuneError && n == 1 {
			for n < len(raw) && n < 4 && begins(raw[:n+1]) {
				n++
			}
		}
		b.WriteRune(r)
		raw = raw[n:]
	}
	return b.String()
}

// begins reports whether octets are the beginning of a character of more octets.
func begins(octets []byte) bool { return !utf8.FullRune(octets) }

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
