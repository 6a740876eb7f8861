package opened

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/kit"
)

const bodyPage = 4 << 10

// Body is one page of the body, as far as it is kept.
type Body struct {
	Size             uint64 // as declared
	Kept             int
	From, To         int
	Parts            []kit.Part    // when it is text
	Dump             []kit.DumpRow // when it is not
	PrevURL, NextURL string
	// the whole body, laid out, when it reads as JSON; nil = it does not, or is long
	JSON []kit.Part
}

// BuildBody lays out the page of the body that begins at the byte q.Body.
func BuildBody(body []byte, size uint64, links address.Links, k address.Key) Body {
	b := Body{Size: size, Kept: len(body), From: min(links.State.Body, len(body))}
	window := kit.Clip(body[b.From:], bodyPage)
	b.To = b.From + len(window)
	if looksLikeText(window) {
		b.Parts = kit.Parts(window)
	} else {
		b.From = b.From / kit.DumpRowBytes * kit.DumpRowBytes
		window = body[b.From:min(b.From+bodyPage, len(body))]
		b.To = b.From + len(window)
		b.Dump = kit.Dump(window, b.From, kit.DumpRowBytes)
	}
	at := func(n int) string {
		return links.Opened(k, func(q *address.State) { q.Body = n }) + "#body"
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
