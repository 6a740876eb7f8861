package views

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

const bodyPage = 4 << 10

// Body is one page of the body, as far as it is kept.
type Body struct {
	Size             uint64 // as declared
	Kept             int
	From, To         int
	Parts            []Part    // when it is text
	Dump             []DumpRow // when it is not
	PrevURL, NextURL string
	// the whole body, laid out, when it reads as JSON; nil = it does not, or is long
	JSON []Part
}

// BuildBody lays out the page of the body that begins at the byte q.Body.
func BuildBody(body []byte, size uint64, links Links, seq uint64) Body {
	b := Body{Size: size, Kept: len(body), From: min(links.Query.Body, len(body))}
	window := clip(body[b.From:], bodyPage)
	b.To = b.From + len(window)
	if looksLikeText(window) {
		b.Parts = Visible(window)
	} else {
		b.From = b.From / hexRow * hexRow
		window = body[b.From:min(b.From+bodyPage, len(body))]
		b.To = b.From + len(window)
		b.Dump = dump(window, b.From, hexRow)
	}
	at := func(n int) string {
		return links.Inspect(seq, func(q *Query) { q.Body = n }) + "#body"
	}
	if b.From == 0 && uint64(len(body)) == size {
		if pretty, ok := prettyJSON(body); ok && !bytes.Equal(pretty, body) {
			b.JSON = laidOut(pretty)
		}
	}
	if b.From > 0 {
		b.PrevURL = at(max(b.From-bodyPage, 0))
	}
	if b.To < b.Kept {
		b.NextURL = at(b.To)
	}
	return b
}

// looksLikeText says whether bytes read better as text than as a dump. What it gets wrong is still
// exact.
func looksLikeText(s []byte) bool {
	if !utf8.Valid(s) {
		return false
	}
	control := 0
	for _, r := range string(s) {
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			control++
		}
	}
	return control*20 <= len(s)
}
