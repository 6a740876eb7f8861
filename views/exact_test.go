package views

import (
	"math"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/kit"
	"github.com/headerglass/headerglass/views/opened"
	"github.com/headerglass/headerglass/views/viewtest"
)

// domText is what a reader sees of a node: its text, without what is only for screen readers.
func domText(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	for _, a := range n.Attr {
		if a.Key == "class" && (a.Val == "vh" || a.Val == "verbs") {
			return ""
		}
	}
	var b strings.Builder
	for c := range n.ChildNodes() {
		b.WriteString(domText(c))
	}
	return b.String()
}

func classOf(n *html.Node) string {
	for _, a := range n.Attr {
		if a.Key == "class" {
			return a.Val
		}
	}
	return ""
}

// Every tag with its boundaries, as the page's own text: name, tag, type and value, in wire order.
func TestPageShowsEveryTagExactly(t *testing.T) {
	long := strings.Repeat("é", 200) // past what a row shows
	type row struct {
		write                   func(e *encode.Encoder, k string)
		tag, kind, value, notes string
	}
	rows := []row{
		{func(e *encode.Encoder, k string) { e.Bool(k, true) }, "t", "bool", "true", ""},
		{func(e *encode.Encoder, k string) { e.Bool(k, false) }, "t", "bool", "false", ""},
		{
			func(e *encode.Encoder, k string) { e.Value(k, 't', []byte{2}) },
			"t",
			"bool",
			"true",
			"stored as 0x02; some clients read only 1 as true",
		},
		{func(e *encode.Encoder, k string) { e.Int8(k, math.MinInt8) }, "b", "int8", "-128", ""},
		{func(e *encode.Encoder, k string) { e.Int8(k, math.MaxInt8) }, "b", "int8", "127", ""},
		{func(e *encode.Encoder, k string) { e.Uint8(k, 0) }, "B", "uint8", "0", ""},
		{func(e *encode.Encoder, k string) { e.Uint8(k, math.MaxUint8) }, "B", "uint8", "255", ""},
		{func(e *encode.Encoder, k string) { e.Int16(k, math.MinInt16) }, "s", "int16", "-32768", ""},
		{func(e *encode.Encoder, k string) { e.Int16(k, math.MaxInt16) }, "s", "int16", "32767", ""},
		{func(e *encode.Encoder, k string) { e.Int16U(k, math.MinInt16) }, "U", "int16", "-32768", ""},
		{func(e *encode.Encoder, k string) { e.Uint16(k, math.MaxUint16) }, "u", "uint16", "65535", ""},
		{func(e *encode.Encoder, k string) { e.Int32(k, math.MinInt32) }, "I", "int32", "-2147483648", ""},
		{func(e *encode.Encoder, k string) { e.Int32(k, math.MaxInt32) }, "I", "int32", "2147483647", ""},
		{func(e *encode.Encoder, k string) { e.Uint32(k, math.MaxUint32) }, "i", "uint32", "4294967295", ""},
		{func(e *encode.Encoder, k string) { e.Int64(k, math.MinInt64) }, "l", "int64", "-9223372036854775808", ""},
		{func(e *encode.Encoder, k string) { e.Int64(k, math.MaxInt64) }, "l", "int64", "9223372036854775807", ""},
		{func(e *encode.Encoder, k string) { e.Int64L(k, 9007199254740993) }, "L", "int64", "9007199254740993", ""},
		{func(e *encode.Encoder, k string) { e.Float32(k, 0.1) }, "f", "float32", "0.1", ""},
		{func(e *encode.Encoder, k string) { e.Float32(k, math.SmallestNonzeroFloat32) }, "f", "float32", "1e-45", ""},
		{func(e *encode.Encoder, k string) { e.Float64(k, 0.1) }, "d", "float64", "0.1", ""},
		{
			func(e *encode.Encoder, k string) { e.Float64(k, math.MaxFloat64) },
			"d",
			"float64",
			"1.7976931348623157e+308",
			"",
		},
		{func(e *encode.Encoder, k string) { e.Float64(k, math.Copysign(0, -1)) }, "d", "float64", "-0", ""},
		{func(e *encode.Encoder, k string) { e.Float64(k, math.NaN()) }, "d", "float64", "NaN", ""},
		{func(e *encode.Encoder, k string) { e.Float64(k, math.Inf(1)) }, "d", "float64", "+Inf", ""},
		{func(e *encode.Encoder, k string) { e.Float32(k, float32(math.Inf(-1))) }, "f", "float32", "-Inf", ""},
		{func(e *encode.Encoder, k string) { e.Decimal(k, 2, 310) }, "D", "decimal", "3.10", ""},
		{func(e *encode.Encoder, k string) { e.Decimal(k, 0, math.MinInt32) }, "D", "decimal", "-2147483648", ""},
		{func(e *encode.Encoder, k string) { e.Decimal(k, 12, -1) }, "D", "decimal", "-0.000000000001", ""},
		{func(e *encode.Encoder, k string) { e.Str(k, "") }, "S", "longstr", `""`, ""},
		{func(e *encode.Encoder, k string) { e.Str(k, ` <b>&amp;"'  é 😀`) }, "S", "longstr", ` <b>&amp;"'  é 😀`, ""},
		{
			func(e *encode.Encoder, k string) { e.Str(k, "a\x00\u202e\u00a0\tb") },
			"S",
			"longstr",
			`a\x00\u202e\xa0\tb`,
			"",
		},
		{func(e *encode.Encoder, k string) { e.Str(k, "\xff\x00A") }, "S", "longstr", "ff 00 41  ··A", "not UTF-8"},
		{func(e *encode.Encoder, k string) { e.Str(k, long) }, "S", "longstr", long[:160] + long, ""},
		{func(e *encode.Encoder, k string) { e.Bytes(k, nil) }, "x", "bytes", "no bytes", ""},
		{
			func(e *encode.Encoder, k string) { e.Bytes(k, []byte{0, 1, 0xfe, '<'}) },
			"x",
			"bytes",
			"00 01 fe 3c  ···<",
			"",
		},
		{func(e *encode.Encoder, k string) { e.Value(k, 'c', []byte("\x00\x00\x00\x02ok")) }, "c", "longstr", "ok", ""},
		{func(e *encode.Encoder, k string) { e.Value(k, 'C', []byte("\x00\x00\x00\x02ok")) }, "C", "longstr", "ok", ""},
		{func(e *encode.Encoder, k string) { e.Char8(k, 'k') }, "k", "char8", "6b  k", ""},
		{func(e *encode.Encoder, k string) { e.Timestamp(k, 0) }, "T", "timestamp", "0", "1970-01-01 00:00:00 UTC"},
		{
			func(e *encode.Encoder, k string) { e.Timestamp(k, math.MinInt64) },
			"T",
			"timestamp",
			"-9223372036854775808",
			"outside the years 1 to 9999",
		},
		{
			func(e *encode.Encoder, k string) { e.Timestamp(k, math.MaxInt64) },
			"T",
			"timestamp",
			"9223372036854775807",
			"outside the years 1 to 9999",
		},
		{func(e *encode.Encoder, k string) { e.Void(k) }, "V", "void", "void", ""},
		{func(e *encode.Encoder, k string) { e.Nested(k, func(*encode.Encoder) {}) }, "F", "table", "0 fields", ""},
		{func(e *encode.Encoder, k string) { e.Array(k, func(*encode.Encoder) {}) }, "A", "array", "0 elements", ""},
	}
	name := func(i int) string { return "f" + kit.Itoa(i) }
	table := encode.Table(func(e *encode.Encoder) {
		for i, r := range rows {
			r.write(e, name(i))
		}
	})
	in := opened.Build(facts.Message{Seq: 1, HasHeaders: true, Headers: table}, opened.Options{})
	doc, err := html.Parse(strings.NewReader(viewtest.Render(t, InspectorPane(address.Links{}, &in, nil))))
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for tr := range doc.Descendants() {
		path := ""
		for _, a := range tr.Attr {
			if a.Key == "data-path" && tr.Data == "tr" {
				path = a.Val
			}
		}
		if path == "" {
			continue
		}
		if i == len(rows) {
			t.Fatal("more rows than fields")
		}
		want := rows[i]
		var gotName, tag, kind, value, rest string
		for n := range tr.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			switch c := classOf(n); {
			case c == "nm":
				gotName = domText(n)
			case strings.HasPrefix(c, "tag "):
				tag = domText(n)
			case c == "kind":
				kind = domText(n)
			case (n.Data == "bdi" || n.Data == "pre" || n.Data == "span") &&
				(strings.HasPrefix(c, "v v") || strings.HasPrefix(c, "dump v")):
				value += domText(n)
			case c == "m" && !strings.HasSuffix(domText(n), " B"):
				rest += domText(n)
			}
		}
		if gotName != name(i) || tag != want.tag || kind != want.kind || value != want.value {
			t.Errorf(
				"row %d reads %q %q %q %q, want %q %q %q %q",
				i,
				gotName,
				tag,
				kind,
				value,
				name(i),
				want.tag,
				want.kind,
				want.value,
			)
		}
		if want.notes != "" && !strings.Contains(rest, want.notes) {
			t.Errorf("row %d: notes %q, want %q", i, rest, want.notes)
		}
		i++
	}
	if i != len(rows) {
		t.Errorf("%d rows, want %d", i, len(rows))
	}
}
