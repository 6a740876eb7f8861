package opened

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/views/kit"
)

const (
	prettyBytes = 32 << 10 // of a JSON text that is laid out on request
	prettyDepth = 64       // of it; deeper indentation would grow faster than the text
)

// recognise says what a text in a header looks like. Everything it says is a guess: headers have no
// formats. traceURL is where traces are shown, with {trace} and {span} in it; "" = nowhere.
func recognise(name, s []byte, now time.Time, traceURL string) []Note {
	if len(s) == 0 || len(s) > 512 || !utf8.Valid(s) {
		return nil
	}
	if n, ok := traceContext(strings.ToLower(string(name)), string(s), traceURL); ok {
		return n
	}
	if note, ok := uuidNote(s); ok {
		return []Note{note}
	}
	if t, ok := momentOf(string(s)); ok {
		note := Note{Text: "time " + kit.Stamp(t), Guess: true, Time: t}
		if r := kit.Relative(t, now); r != "" {
			note.Text += ", " + r
		}
		return []Note{note}
	}
	return nil
}

// uuidNote knows the form of RFC 9562, section 4.
func uuidNote(s []byte) (Note, bool) {
	if len(s) != 36 {
		return Note{}, false
	}
	for i, c := range s {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') || !dash && !isHex(c) {
			return Note{}, false
		}
	}
	n := Note{Text: "UUID", Guess: true}
	version, variant := s[14], s[19]
	switch {
	case string(bytes.Trim(s, "0-")) == "":
		n.Text = "nil UUID"
	case !strings.ContainsRune("89abAB", rune(variant)):
	case version == '7': // section 5.7: the first 48 bits are Unix milliseconds
		ms, _ := strconv.ParseInt(string(s[:8])+string(s[9:13]), 16, 64)
		n.Time = time.UnixMilli(ms).UTC()
		n.Text = "UUID version 7, made " + kit.Stamp(n.Time)
	case version >= '1' && version <= '8':
		n.Text = "UUID version " + string(version)
	}
	return n, true
}

// momentOf reads RFC 3339, and Unix seconds and milliseconds between 2001 and 2096.
func momentOf(s string) (time.Time, bool) {
	if len(s) >= 20 && len(s) <= 40 && s[4] == '-' {
		t, err := time.Parse(time.RFC3339Nano, s)
		return t.UTC(), err == nil && fieldtable.HasRFC3339(t)
	}
	if len(s) != 10 && len(s) != 13 {
		return time.Time{}, false
	}
	n, err := strconv.ParseUint(s, 10, 63) // no sign
	switch {
	case err != nil:
	case len(s) == 10 && n >= 1e9 && n < 4e9:
		return time.Unix(int64(n), 0).UTC(), true
	case len(s) == 13 && n >= 1e12 && n < 4e12:
		return time.UnixMilli(int64(n)).UTC(), true
	}
	return time.Time{}, false
}

// traceContext reads what tracers put into headers: W3C Trace Context (traceparent, tracestate) and
// B3 (b3, and the X-B3 headers), by the names that their specifications give. name is in lower
// case.
func traceContext(name, s, traceURL string) ([]Note, bool) {
	guess := func(text string) []Note { return []Note{{Text: text, Guess: true}} }
	switch name {
	case "traceparent":
		// version "-" trace-id "-" parent-id "-" flags; later versions may go on after the flags.
		p := strings.Split(s, "-")
		if len(p) < 4 || !lowerHex(p[0], 2) || !lowerHex(p[1], 32) || !lowerHex(p[2], 16) || !lowerHex(p[3], 2) ||
			p[0] == "ff" ||
			p[0] == "00" && len(p) != 4 {
			return guess("not a valid traceparent"), true
		}
		if zeros(p[1]) || zeros(p[2]) {
			return guess("traceparent with an all-zero id: receivers ignore it"), true
		}
		flags, _ := hex.DecodeString(p[3])
		sampled := "not sampled"
		if flags[0]&1 != 0 {
			sampled = "sampled"
		}
		return traceNotes(p[1], p[2], sampled, traceURL), true
	case "tracestate":
		var keys []string
		for member := range strings.SplitSeq(s, ",") {
			key, _, ok := strings.Cut(strings.Trim(member, " \t"), "=")
			if key == "" && !ok {
				continue
			}
			if !ok {
				return guess("not a valid tracestate"), true
			}
			keys = append(keys, kit.VisibleText(kit.Clip([]byte(key), 60)))
		}
		if len(keys) == 0 {
			return nil, true
		}
		return guess("trace state of " + strings.Join(keys[:min(len(keys), 8)], ", ")), true
	case "b3":
		if s == "0" {
			return guess("B3: not sampled"), true
		}
		p := strings.Split(s, "-")
		if len(p) < 2 || len(p) > 4 || !traceID(p[0]) || !anyHex(p[1], 16) {
			return guess("not a valid b3 header"), true
		}
		sampled := ""
		if len(p) > 2 {
			switch p[2] {
			case "0":
				sampled = "not sampled"
			case "1":
				sampled = "sampled"
			case "d":
				sampled = "debug"
			default:
				return guess("not a valid b3 header"), true
			}
		}
		return traceNotes(p[0], p[1], sampled, traceURL), true
	case "x-b3-traceid":
		if !traceID(s) {
			return guess("not a valid B3 trace id"), true
		}
		return traceNotes(s, "", "", traceURL), true
	case "x-b3-spanid", "x-b3-parentspanid":
		if !anyHex(s, 16) {
			return guess("not a valid B3 span id"), true
		}
		return guess("B3 span id"), true
	}
	return nil, false
}

func traceNotes(trace, span, sampled, traceURL string) []Note {
	n := Note{Text: "trace " + trace, Guess: true, URL: traceLink(traceURL, trace, span)}
	rest := ""
	if span != "" {
		rest = "span " + span
	}
	if sampled != "" {
		if rest != "" {
			rest += ", "
		}
		rest += sampled
	}
	if rest == "" {
		return []Note{n}
	}
	return []Note{n, {Text: rest}}
}

// traceLink puts ids, which are hexadecimal digits alone, into the configured address.
func traceLink(template, trace, span string) string {
	if template == "" {
		return ""
	}
	return strings.NewReplacer("{trace}", trace, "{span}", span).Replace(template)
}

func traceID(s string) bool { return anyHex(s, 16) || anyHex(s, 32) }

func lowerHex(s string, n int) bool { return anyHex(s, n) && strings.ToLower(s) == s }

func anyHex(s string, n int) bool {
	if len(s) != n {
		return false
	}
	for i := range len(s) {
		if !isHex(s[i]) {
			return false
		}
	}
	return true
}

func zeros(s string) bool { return strings.Trim(s, "0") == "" }

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// prettyJSON lays out a JSON object or array. Numbers, names and texts keep the bytes they have:
// only white space is added between them. ok is false for anything else, and for what would be long
// or deep.
func prettyJSON(s []byte) (pretty []byte, ok bool) {
	trimmed := bytes.TrimLeft(s, " \t\r\n")
	if len(trimmed) < 2 || len(s) > prettyBytes || trimmed[0] != '{' && trimmed[0] != '[' || !utf8.Valid(s) ||
		deep(s) ||
		!json.Valid(s) {
		return nil, false
	}
	var b bytes.Buffer
	if err := json.Indent(&b, trimmed, "", "  "); err != nil {
		return nil, false
	}
	return bytes.TrimRight(b.Bytes(), " \t\r\n"), true
}

// laidOut is what prettyJSON wrote. Its line ends are the layout's own, since a JSON text has none
// inside.
func laidOut(pretty []byte) []kit.Part {
	var parts []kit.Part
	for line := range bytes.Lines(pretty) {
		text, ended := bytes.CutSuffix(line, []byte("\n"))
		parts = append(parts, kit.Parts(text)...)
		if ended {
			parts = append(parts, kit.Part{Text: "\n"})
		}
	}
	return parts
}

// deep reports whether brackets outside strings nest deeper than prettyDepth.
func deep(s []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > prettyDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
