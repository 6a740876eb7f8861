package views

import (
	"context"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
)

// narrowSpace parts groups of three digits without letting them break apart.
const narrowSpace = "\u202f"

// Num writes a whole number with its digits in groups of three.
func Num[T ~int | ~int64 | ~uint64](n T) string {
	s := fmt.Sprint(n)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	if len(s) < 5 { // four digits read well as they are
		return sign + s
	}
	head := len(s) % 3
	groups := make([]string, 0, 8)
	if head > 0 {
		groups = append(groups, s[:head])
	}
	for ; head < len(s); head += 3 {
		groups = append(groups, s[head:head+3])
	}
	return sign + strings.Join(groups, narrowSpace)
}

// plural writes a count with its noun: "1 field", "12 fields".
func plural[T ~int | ~int64 | ~uint64](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Num(n) + " " + noun + "s"
}

// size writes a number of bytes for people; exact below 10,000.
func size[T ~int | ~int64 | ~uint64](n T) string {
	if n < 10_000 {
		return Num(n) + " B"
	}
	f, unit := float64(n)/1024, "KiB"
	for _, next := range []string{"MiB", "GiB", "TiB"} {
		if f < 1000 {
			break
		}
		f, unit = f/1024, next
	}
	return strconv.FormatFloat(f, 'f', 1, 64) + " " + unit
}

// offset writes where a byte is, in decimal and hexadecimal.
func offset(n int) string { return strconv.Itoa(n) + " (0x" + strconv.FormatInt(int64(n), 16) + ")" }

func rate(perSecond float64) string {
	if perSecond > 0 && perSecond < 10 {
		return strconv.FormatFloat(perSecond, 'f', 1, 64) + "/s"
	}
	return Num(int64(perSecond+0.5)) + "/s"
}

func percent(part, whole uint64) string {
	if whole == 0 {
		return "0%"
	}
	p := 100 * float64(part) / float64(whole)
	if p > 0 && p < 1 {
		return "<1%"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + "%"
}

func clock(t time.Time, loc *time.Location) string { return t.In(loc).Format("15:04:05.000") }

func iso(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func dayAndClock(t time.Time, loc *time.Location) string {
	return t.In(loc).Format("2006-01-02 15:04:05.000 MST")
}

func zoneName(loc *time.Location) string {
	if loc == time.UTC {
		return "UTC"
	}
	return loc.String()
}

// zoneShort names a zone as its clocks do at t: CET, UTC-03.
func zoneShort(loc *time.Location, t time.Time) string {
	if t.IsZero() {
		return zoneName(loc)
	}
	name, _ := t.In(loc).Zone()
	if strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-") {
		return "UTC" + name
	}
	return name
}

// inputTime is a moment as <input type="datetime-local"> takes it.
func inputTime(t time.Time, loc *time.Location) string {
	if t.IsZero() {
		return ""
	}
	return t.In(loc).Format("2006-01-02T15:04:05")
}

// span writes a duration with three digits at most.
func span(d time.Duration) string {
	switch {
	case d < time.Microsecond:
		return strconv.FormatInt(int64(d), 10) + " ns"
	case d < time.Millisecond:
		return strconv.FormatFloat(float64(d)/1e3, 'g', 3, 64) + " µs"
	case d < time.Second:
		return strconv.FormatFloat(float64(d)/1e6, 'g', 3, 64) + " ms"
	default:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	}
}

func itoa[T ~int | ~int64 | ~uint64](n T) string { return fmt.Sprint(n) }

// text draws parts: plain text, and escapes told apart from it. With breaks, a line ends after its
// \n.
func text(parts []Part, breaks bool) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		for _, p := range parts {
			if !p.Escape {
				b.WriteString(html.EscapeString(p.Text))
				continue
			}
			b.WriteString(`<i class="e">`)
			b.WriteString(p.Text)
			b.WriteString(`</i>`)
			if breaks && strings.HasSuffix(p.Text, `\n`) {
				b.WriteString("<br>")
			}
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// visible draws a publisher's text.
func visible(s []byte) templ.Component { return text(Visible(s), false) }

// whole draws a sentence of ours in which neither a number nor an option of the command line is
// broken into two lines.
func whole(sentence string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		for i, word := range strings.Split(sentence, " ") {
			var b strings.Builder
			if i > 0 {
				b.WriteByte(' ')
			}
			option := strings.HasPrefix(word, "--")
			if option {
				b.WriteString(`<span class="option">`)
			}
			for j, group := range strings.Split(word, narrowSpace) {
				if j > 0 {
					b.WriteString(narrowSpace)
				}
				if err := visible([]byte(group)).Render(ctx, &b); err != nil {
					return err
				}
			}
			if option {
				b.WriteString(`</span>`)
			}
			if _, err := io.WriteString(w, b.String()); err != nil {
				return err
			}
		}
		return nil
	})
}

// dumpLines draws a dump as preformatted text.
func dumpLines(rows []DumpRow, offsets bool) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		width := 0
		for _, r := range rows {
			width = max(width, len(r.Hex))
		}
		for i, r := range rows {
			if offsets {
				b.WriteString(`<i class="o">`)
				b.WriteString(r.Offset)
				b.WriteString(`  </i>`)
			}
			b.WriteString(r.Hex)
			for range width - len(r.Hex) + 2 {
				b.WriteByte(' ')
			}
			b.WriteString(`<i class="a">`)
			b.WriteString(html.EscapeString(r.ASCII))
			if i < len(rows)-1 {
				b.WriteByte('\n') // in here, for where it stands under the bytes
			}
			b.WriteString(`</i>`)
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// runs draws the two columns of a hex row. White space stands between runs, not in them, so that a
// mark covers the bytes alone.
func runs(row HexRow) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		b := make([]byte, 0, 1024)
		open := func(r Run) {
			b = append(b, `<b class="`...)
			b = append(b, roleClass(r)...)
			b = append(b, `" data-o="`...)
			b = strconv.AppendInt(b, int64(r.Offset), 10)
			b = append(b, `">`...)
		}
		b = append(b, `<span class="hh">`...)
		for i, r := range row.Runs {
			if i > 0 {
				b = append(b, separator(r.Offset)...)
			}
			open(r)
			for j := range r.bytes {
				if j > 0 {
					b = append(b, separator(r.Offset+j)...)
				}
				b = append(b, "0123456789abcdef"[r.bytes[j]>>4], "0123456789abcdef"[r.bytes[j]&15])
			}
			b = append(b, `</b>`...)
		}
		b = append(b, `</span><span class="ha">`...)
		for _, r := range row.Runs {
			open(r)
			for _, c := range r.bytes {
				switch {
				case c < ' ' || c >= 0x7f:
					b = append(b, "·"...)
				case c == '<':
					b = append(b, "&lt;"...)
				case c == '&':
					b = append(b, "&amp;"...)
				default:
					b = append(b, c)
				}
			}
			b = append(b, `</b>`...)
		}
		b = append(b, `</span>`...)
		_, err := w.Write(b)
		return err
	})
}

func separator(offset int) string {
	if offset%hexRow == hexRow/2 {
		return "  "
	}
	return " "
}

func roleClass(r Run) string {
	var c string
	switch r.Role {
	case RoleLength:
		c = "l"
	case RoleName:
		c = "n"
	case RoleTag:
		c = "g v" + r.Class
	case RoleValue:
		c = "v v" + r.Class
	default:
		c = "r"
	}
	if r.Marked {
		c += " mark"
	}
	return c
}

// errorLine draws a filter with what is wrong in it marked, without any white space of its own.
func errorLine(before, at, after string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		for _, part := range []struct{ open, text, end string }{
			{"", before, ""},
			{"<mark>", at, "</mark>"},
			{"", after, ""},
		} {
			if _, err := io.WriteString(w, part.open); err != nil {
				return err
			}
			if err := visible([]byte(part.text)).Render(ctx, w); err != nil {
				return err
			}
			if _, err := io.WriteString(w, part.end); err != nil {
				return err
			}
		}
		return nil
	})
}
