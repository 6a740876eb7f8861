package kit

import (
	"context"
	"html"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/headerglass/headerglass/fieldtable/plural"
)

// narrowSpace parts groups of three digits without letting them break apart.
const narrowSpace = "\u202f"

// Num writes a whole number with its digits in groups of three.
func Num[T ~int | ~int64 | ~uint64](n T) string {
	s, sign := Itoa(n), ""
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

// Plural writes a count with its noun, given for one: "1 field", "12 fields".
func Plural[T ~int | ~int64 | ~uint64](n T, noun string) string {
	return Num(n) + " " + plural.Noun(n, noun)
}

// Size writes a number of bytes for people; exact below 10,000.
func Size[T ~int | ~int64 | ~uint64](n T) string {
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

// Offset writes where a byte is, in decimal and hexadecimal.
func Offset(n int) string { return strconv.Itoa(n) + " (0x" + strconv.FormatInt(int64(n), 16) + ")" }

// Rate is a number of events a second.
func Rate(perSecond float64) string {
	if perSecond > 0 && perSecond < 10 {
		return strconv.FormatFloat(perSecond, 'f', 1, 64) + "/s"
	}
	return Num(int64(perSecond+0.5)) + "/s"
}

// Percent is a share of a whole; what is there is never 0 %.
func Percent(part, whole uint64) string {
	if whole == 0 {
		return "0%"
	}
	p := 100 * float64(part) / float64(whole)
	if p > 0 && p < 1 {
		return "<1%"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + "%"
}

// Span writes a duration with three digits at most.
func Span(d time.Duration) string {
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

// Itoa is a whole number as attributes take it.
func Itoa[T ~int | ~int64 | ~uint64](n T) string {
	if n < 0 {
		return strconv.FormatInt(int64(n), 10)
	}
	return strconv.FormatUint(uint64(n), 10) // #nosec G115 -- not below 0
}

// Text draws parts: plain text, and escapes told apart from it. With breaks, a line ends after its
// \n.
func Text(parts []Part, breaks bool) templ.Component {
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

// Visible draws a publisher's text.
func Visible(s []byte) templ.Component {
	if plain(s) {
		return templ.Raw(html.EscapeString(string(s)))
	}
	return Text(Parts(s), false)
}

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
				if err := Visible([]byte(group)).Render(ctx, &b); err != nil {
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
