package web

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/a-h/templ"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/typedjson"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/opened"
	"github.com/headerglass/headerglass/views/shell"
)

const (
	maxPaste      = 1 << 20           // bytes of an upload, and of what an address holds once unpacked
	maxUpload     = maxPaste + 64<<10 // with the rest of the form
	maxPasteParam = 24 << 10          // of the parameter that holds bytes in an address
	// of one that also goes into a Location header, which proxies keep short
	redirectParam = 6 << 10
	packedParam   = "z" // base64url of DEFLATE (RFC 1951)
)

func badPaste(sentence string) error { return &sentenceError{errPaste, sentence} }

// paste is what someone gave to look at.
type paste struct {
	data []byte
	text string // as typed; "" when it was a file or in an address
	how  string // how the bytes were given: readHex and the like
}

// servePaste shows bytes from elsewhere as the inspector shows a message's. They
// are in the address: as hex, as base64, or packed in z, which upload makes.
func (s *Server) servePaste(w http.ResponseWriter, r *http.Request) error {
	v := r.URL.Query()
	digits := ""
	if !v.Has(packedParam) && !v.Has("base64") {
		// Beside bytes, hex is an offset into them, as for any message.
		digits = v.Get("hex")
		v.Del("hex")
		r = r.Clone(r.Context())
		r.URL.RawQuery = v.Encode()
	}
	req, err := s.parseAround(r)
	if err != nil {
		return err
	}
	var p paste
	switch {
	case digits != "":
		p.how = readHex
		p.data, err = fromHex(digits)
	case v.Get("base64") != "":
		p.how = readBase64
		p.data, err = fromBase64(v.Get("base64"))
	case v.Get(packedParam) != "":
		p.how = v.Get("read")
		p.data, err = unpack(v.Get(packedParam))
	}
	return s.pastePage(w, r, req, p, v.Get("as"), err)
}

// servePasteUpload takes what the form of inspect sends. It is the one route that
// answers POST: bytes that someone pastes or has in a file can be longer than
// an address, and without a script only a POST carries a file. It changes
// nothing and keeps nothing, takes maxPaste at most, and, as secure sees to
// for every request with another method than GET, comes from no other site's
// page.
func (s *Server) servePasteUpload(w http.ResponseWriter, r *http.Request) error {
	req, err := s.parseAround(r)
	if err != nil {
		return err
	}
	p, dialect, err := readUpload(w, r)
	if dialect != "" {
		d, unknown := dialectParam(dialect)
		if unknown != nil {
			return unknown
		}
		req.dialect = d
		if d != s.dialect(req.view) {
			req.Dialect = dialect
		}
	}
	if err == nil && bytes.HasPrefix(p.data, []byte("\x1f\x8b")) {
		err = badPaste(
			"This is compressed with gzip: uncompress it first. The command headerglass replay opens compressed captures as they are.",
		)
	}
	if err != nil || len(p.data) == 0 {
		if err == nil {
			err = badPaste("Paste some bytes, or choose a file.")
		}
		return s.pastePage(w, r, req, p, "", err)
	}
	if packed := pack(p.data); len(packed) <= redirectParam {
		l := address.Links{
			Base:   s.base,
			State:  address.State{Dialect: req.Dialect},
			Pasted: pasted(packed, p.how, ""),
		}
		http.Redirect(w, r, l.Opened(address.Key{}, func(*address.State) {}), http.StatusSeeOther)
		return nil
	}
	return s.pastePage(w, r, req, p, "", nil)
}

// readUpload reads the form: a file if there is one, the text otherwise.
func readUpload(w http.ResponseWriter, r *http.Request) (p paste, dialect string, err error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxUpload)
	parts, err := r.MultipartReader()
	if err != nil {
		return p, "", badPaste("The form came in a shape that this page does not send.")
	}
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return p, dialect, nil
		}
		var b []byte
		if err == nil {
			b, err = io.ReadAll(io.LimitReader(part, maxPaste+1))
		}
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok || len(b) > maxPaste {
			return paste{}, dialect, errPasteTooBig
		}
		if err != nil {
			return paste{}, dialect, badPaste("The form ended early.")
		}
		switch part.FormName() {
		case "dialect":
			dialect = string(b)
		case "bytes":
			if len(bytes.TrimSpace(b)) == 0 || p.data != nil {
				break
			}
			p.text = string(b)
			if p.data, p.how, err = fromText(p.text); err != nil {
				return p, dialect, err
			}
		case "file":
			if len(b) > 0 {
				p.text = ""
				p.data, p.how = fromFile(b)
			}
		}
	}
}

func pack(data []byte) string {
	var b bytes.Buffer
	z, err := flate.NewWriter(&b, flate.BestCompression)
	if err == nil {
		_, err = z.Write(data)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil { // of a buffer in memory: never
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(b.Bytes())
}

func unpack(param string) ([]byte, error) {
	packed, err := base64.RawURLEncoding.DecodeString(param)
	if err != nil {
		return nil, badPaste("The bytes in this address are cut or changed.")
	}
	data, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxPaste+1))
	if err != nil {
		return nil, badPaste("The bytes in this address are cut or changed.")
	}
	if len(data) > maxPaste {
		return nil, errPasteTooBig
	}
	return data, nil
}

// pastePage shows p, or the form alone when there is nothing to show or err
// says why it cannot be shown.
func (s *Server) pastePage(w http.ResponseWriter, r *http.Request, req request, p paste, as string, err error) error {
	page := s.frame(&req)
	page.Title = "Inspect bytes"
	form := views.Paste{MaxBytes: maxPaste, Text: p.text}
	if err == nil && isCSV(p.data) {
		err = badPaste("This is the explorer's CSV, which has values and no bytes: export JSON lines, zip or pcapng.")
	} else if err == nil && isCapture(p.data) {
		form.Found, err = s.pastedCapture(r.Context(), page.Links, p.data)
	} else if err == nil && len(p.data) > 0 {
		form.Opened, form.Listing, err = s.openPasted(page, req, p, as)
	}
	for _, d := range fieldtable.Dialects() {
		form.Dialects = append(form.Dialects, opened.DialectOption{
			Name:        d.Name(),
			Description: d.Description(),
			Selected:    d == req.dialect,
		})
	}
	switch {
	case errors.Is(err, errPaste), errors.Is(err, errPasteTooBig):
		return &shownError{err, func(f failure) (templ.Component, error) {
			form.Error = f.Msg
			return views.PastePage(page, form), nil
		}}
	case err != nil:
		return err
	case wantsPart(r) && form.Opened != nil:
		return s.render(w, r, http.StatusOK, views.InspectorPane(page.Links, form.Opened, nil))
	}
	return s.render(w, r, http.StatusOK, views.PastePage(page, form))
}

// openPasted opens data as a content header's payload or as a field table: as one of the two if
// that is asked for, or else as what it looks like. Links of the page carry the bytes along; where
// they are too many for that, there is a listing in place of the inspector.
func (s *Server) openPasted(
	page shell.Frame,
	req request,
	p paste,
	as string,
) (*opened.Opened, *views.Listing, error) {
	data := p.data
	packed := pack(data)
	const table, header = "field table", "content header"
	links := func(as string) address.Links {
		l := page.Links
		l.Pasted = pasted(packed, p.how, as)
		return l
	}
	o := opened.Options{Dialect: req.dialect, Now: page.Now, TraceURL: s.cfg.TraceURL}
	m := facts.Message{}
	ch := wire.ViewContentHeader(data)
	possible := len(data) >= wire.ContentHeaderFixed && ch.ClassID() == wire.ClassBasic
	if as == "header" || as == "" && possible && !tableFits(data) {
		if !possible {
			return nil, nil, badPaste(
				"A content header begins with 00 3c, the number of class basic, and has 14 bytes at least.",
			)
		}
		m.ContentHeader = data
		m.Headers, m.HasHeaders = ch.HeaderTable()
		if m.HasHeaders {
			m.HeadersOffset = ch.HeaderTableOffset()
		}
		m.Properties, m.PropertiesErr = properties(ch)
		m.BodySize = ch.BodySize()
		o.Pasted = &opened.Pasted{Size: len(data), As: header, How: p.how, Other: table}
		as = "header"
	} else {
		m.Headers, m.HasHeaders = data, true
		o.Pasted = &opened.Pasted{Size: len(data), As: table, How: p.how}
		if whole := withLength(data); !tableFits(data) && fieldtable.View(whole, req.dialect).Valid() == nil {
			m.Headers, o.Pasted.As = whole, "field table without its length"
		}
		if possible {
			o.Pasted.Other = header
		}
		as = "table"
	}
	if o.Pasted.Other != "" {
		other := "header"
		if as == "header" {
			other = "table"
		}
		o.Pasted.OtherURL = links(
			other,
		).Opened(address.Key{}, func(q *address.State) { q.At, q.Skip, q.Hex, q.Bytes = 0, 0, 0, archive.Span{} })
	}
	if len(packed) > maxPasteParam {
		s.fullDecodes.Add(1)
		l := &views.Listing{Size: len(data), As: o.Pasted.As}
		if m.HasHeaders {
			l.Table = typedjson.AppendText(nil, fieldtable.View(m.Headers, req.dialect))
		}
		return nil, l, nil
	}
	page.Links = links(as)
	o.Links = page.Links
	s.fullDecodes.Add(1)
	in := opened.Build(m, o)
	return &in, nil, nil
}

// withLength puts the length that data has before it.
func withLength(data []byte) []byte {
	whole := binary.BigEndian.AppendUint32(nil, uint32(len(data))) // #nosec G115 -- at most maxPaste
	return append(whole, data...)
}

// pasted are the parameters that hold bytes: packed, how they were given, and what they are read
// as.
func pasted(packed, how, as string) string {
	v := url.Values{packedParam: {packed}}
	if how != "" {
		v.Set("read", how)
	}
	if as != "" {
		v.Set("as", as)
	}
	return v.Encode()
}

// tableFits reports whether the first four bytes are the length of the rest.
func tableFits(data []byte) bool {
	return len(data) >= 4 && uint64(binary.BigEndian.Uint32(data)) == uint64(len(data)-4)
}
