package web

import (
	"context"
	"encoding/hex"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/typedjson"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/web/sources"
)

func (s *Server) serveMessagesJSON(w http.ResponseWriter, r *http.Request) error {
	req, err := s.parse(r)
	if err != nil {
		return err
	}
	v := req.view
	p, err := req.find(r.Context())
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	b := []byte(`{"messages":[`)
	var scratch query.Scratch
	for i, m := range p.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendSummary(b, m, req, &scratch)
		if len(b) > writeBytes { // columns may hold long values
			if _, err := w.Write(b); err != nil {
				return nil // the browser went away
			}
			b = b[:0]
		}
	}
	b = append(b, ']')
	b = strconv.AppendUint(typedjson.AppendMember(b, "matched"), p.Matched, 10)
	b = strconv.AppendUint(typedjson.AppendMember(b, "scanned"), p.Scanned+p.Skipped+p.Answered, 10)
	b = strconv.AppendUint(typedjson.AppendMember(b, "damaged"), p.Damaged, 10)
	b = typedjson.AppendMember(b, "next")
	b = s.appendNext(b, &req, p.Next)
	if r.URL.Query().Get("explain") == "1" {
		b = appendExplain(typedjson.AppendMember(b, "explain"), p.Explain, req.filter.Notes(v.Names()))
	}
	return writeJSON(w, append(b, '}'))
}

// appendNext appends where to go on: a sequence number, a text where several sources are listed
// together, or null.
func (s *Server) appendNext(b []byte, req *request, next sources.Position) []byte {
	if next == nil {
		return append(b, "null"...)
	}
	cursor := s.before(req, next)
	if req.ascending() {
		cursor = s.after(req, next)
	}
	if s.together(req) {
		return typedjson.AppendString(b, string(cursor))
	}
	return append(b, cursor...)
}

// appendExplain appends how an answer was reached, and what in the filter may be meant otherwise.
func appendExplain(b []byte, e query.Explain, notes []query.Note) []byte {
	b = typedjson.AppendString(typedjson.AppendMember(append(b, '{'), "filter"), e.Filter)
	b = append(typedjson.AppendMember(b, "keys"), '[')
	for _, k := range e.Keys {
		b = typedjson.AppendOctets(typedjson.AppendNext(b), []byte(k))
	}
	b = append(b, ']')
	b = strconv.AppendInt(typedjson.AppendMember(b, "shapes"), int64(e.Shapes), 10)
	b = strconv.AppendInt(typedjson.AppendMember(b, "shapes_matched"), int64(e.ShapesMatched), 10)
	b = strconv.AppendUint(typedjson.AppendMember(b, "scanned"), e.Scanned, 10)
	b = strconv.AppendUint(typedjson.AppendMember(b, "skipped"), e.Skipped, 10)
	b = strconv.AppendUint(typedjson.AppendMember(b, "answered"), e.Answered, 10)
	b = append(typedjson.AppendMember(b, "columns"), '[')
	for _, c := range e.Columns {
		b = typedjson.AppendOctets(typedjson.AppendNext(b), []byte(c))
	}
	b = append(b, ']')
	b = strconv.AppendUint(typedjson.AppendMember(b, "damaged"), e.Damaged, 10)
	b = strconv.AppendInt(typedjson.AppendMember(b, "bytes_read"), e.BytesRead, 10)
	b = strconv.AppendUint(typedjson.AppendMember(b, "decoded"), e.Decoded, 10)
	b = strconv.AppendFloat(typedjson.AppendMember(b, "elapsed_ms"), float64(e.Elapsed.Microseconds())/1000, 'g', -1, 64)
	b = append(typedjson.AppendMember(b, "notes"), '[')
	for _, n := range notes {
		b = typedjson.AppendString(typedjson.AppendMember(append(typedjson.AppendNext(b), '{'), "text"), n.Text)
		b = append(typedjson.AppendMember(b, "readings"), '[')
		for _, filter := range n.Readings {
			b = typedjson.AppendString(typedjson.AppendNext(b), filter)
		}
		b = append(b, "]}"...)
	}
	return append(b, "]}"...)
}

// appendSummary appends one entry of a listing; nothing of it needs a decoded
// table. Columns are as appendCell writes them.
func appendSummary(b []byte, m archive.Message, req request, scratch *query.Scratch) []byte {
	encoded, _ := m.HeaderTable()
	marks := m.Marks()
	b = append(b, '{')
	b = strconv.AppendUint(typedjson.AppendMember(b, "seq"), m.Seq(), 10)
	b = typedjson.AppendSource(b, m)
	b = typedjson.AppendTime(typedjson.AppendMember(b, "received"), m.Received())
	b = typedjson.AppendOctets(typedjson.AppendMember(b, "exchange"), m.Exchange())
	b = typedjson.AppendOctets(typedjson.AppendMember(b, "routing_key"), m.RoutingKey())
	if method := m.Method(); method != wire.Deliver {
		b = typedjson.AppendString(typedjson.AppendMember(b, "method"), method.String())
	}
	b = strconv.AppendBool(typedjson.AppendMember(b, "redelivered"), m.Redelivered())
	b = strconv.AppendInt(typedjson.AppendMember(b, "header_count"), int64(marks.HeaderCount), 10)
	b = strconv.AppendInt(typedjson.AppendMember(b, "header_bytes"), int64(len(encoded)), 10)
	b = strconv.AppendUint(typedjson.AppendMember(b, "body_bytes"), m.BodySize(), 10)
	b = strconv.AppendInt(typedjson.AppendMember(b, "body_kept"), int64(len(m.Body())), 10)
	b = strconv.AppendBool(typedjson.AppendMember(b, "damaged"), marks.Damaged)
	b = strconv.AppendBool(typedjson.AppendMember(b, "duplicates"), marks.Duplicates)
	b = append(typedjson.AppendMember(b, "columns"), '{')
	for i, o := range req.columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(typedjson.AppendString(b, req.Columns[i]), ':')
		b = appendCell(b, o.Cell(m, req.dialect, scratch))
	}
	b = append(b, '}')
	if m.Redacted() {
		b = append(typedjson.AppendMember(b, "redacted"), "true"...)
	}
	return append(b, '}')
}

func (s *Server) serveMessageJSON(w http.ResponseWriter, r *http.Request) error {
	req, err := s.parseAround(r)
	if err != nil {
		return err
	}
	m, err := s.message(req.view, r)
	if err != nil {
		return err
	}
	s.fullDecodes.Add(1)
	w.Header().Set("Content-Type", "application/json")
	n := int64(m.Bytes())
	m, req.view = archive.Message{}, req.view.At(nil) // to wait for a turn may take a while
	if n <= maxCollected {
		return s.collect(maxCollected, s.pages, func(w http.ResponseWriter, r *http.Request) error {
			m, err := s.message(req.view.Now(), r)
			if err != nil {
				return err
			}
			return s.writeMessageJSON(w, m, req)
		})(w, r)
	}
	if r.Method == http.MethodHead {
		return nil
	}
	return s.stream(w, r, n, true, func(_ context.Context, out *streamed) error {
		m, err := s.message(req.view.Now(), r)
		if err != nil {
			return err
		}
		return s.writeMessageJSON(out, m.Clone(), req)
	})
}

// maxCollected is how many bytes a message may have whose JSON is made before it is sent. That of a
// larger one is sent while it is made.
const maxCollected = 64 << 10

func (s *Server) writeMessageJSON(w io.Writer, m archive.Message, req request) error {
	buf, ok := s.buffers.Get().(*[]byte)
	if !ok {
		buf = new([]byte)
	}
	defer s.buffers.Put(buf)
	var err error
	*buf, err = typedjson.WriteMessage(w, *buf, m, req.dialect, appendPassage(nil, req.view.Passage(m)))
	if err == nil {
		_, err = w.Write([]byte{'\n'})
	}
	return err
}

func (s *Server) serveKeysJSON(w http.ResponseWriter, r *http.Request) error {
	v, _, err := s.view(r, address.State{})
	if err != nil {
		return err
	}
	counts, err := v.CountNames(r.Context())
	if err != nil {
		return err
	}
	b := []byte(`{"keys":[`)
	var tags []byte
	for _, k := range counts {
		b = append(typedjson.AppendNext(b), '{')
		if utf8.ValidString(k.Key) {
			b = typedjson.AppendString(typedjson.AppendMember(b, "key"), k.Key)
		} else {
			b = append(typedjson.AppendMember(b, "key"), "null"...)
			b = append(typedjson.AppendMember(b, "key_hex"), '"')
			b = hex.AppendEncode(b, []byte(k.Key))
			b = append(b, '"')
		}
		b = strconv.AppendUint(typedjson.AppendMember(b, "count"), k.Count, 10)
		b = append(typedjson.AppendMember(b, "tags"), '{')
		tags = slices.AppendSeq(tags[:0], maps.Keys(k.Tags))
		slices.Sort(tags)
		for _, tag := range tags {
			if b[len(b)-1] != '{' {
				b = append(b, ',')
			}
			b = append(typedjson.AppendTag(b, tag), ':')
			b = strconv.AppendUint(b, k.Tags[tag], 10)
		}
		b = append(b, '}', '}')
	}
	return writeJSON(w, append(b, ']', '}'))
}

func (s *Server) serveStatusJSON(w http.ResponseWriter, r *http.Request) error {
	v := s.sources.View()
	st := v.Status()
	b := []byte(`{"broker":{`)
	b = typedjson.AppendString(typedjson.AppendMember(b, "state"), st.State.String())
	b = typedjson.AppendTime(typedjson.AppendMember(b, "since"), st.Since)
	b = typedjson.AppendMember(b, "error")
	if st.Error == "" {
		b = append(b, "null"...)
	} else {
		b = typedjson.AppendString(b, st.Error)
	}
	b = append(b, '}')
	b = typedjson.AppendString(typedjson.AppendMember(b, "mode"), string(st.Mode))
	b = strconv.AppendUint(typedjson.AppendMember(b, "held"), st.Held, 10)
	b = strconv.AppendUint(typedjson.AppendMember(b, "stored"), st.Kept.Messages, 10)
	b = strconv.AppendUint(typedjson.AppendMember(b, "evicted"), st.Kept.Evicted, 10)
	b = strconv.AppendInt(typedjson.AppendMember(b, "bytes"), st.Kept.Bytes, 10)
	b = strconv.AppendFloat(typedjson.AppendMember(b, "rate"), st.Kept.Rate, 'f', -1, 64)
	b = strconv.AppendUint(typedjson.AppendMember(b, "full_decodes"), s.FullDecodes(), 10)
	b = appendStrings(typedjson.AppendMember(b, "notes"), st.Notes)
	b = appendGaps(typedjson.AppendMember(b, "gaps"), st.Gaps)
	b = appendSpool(typedjson.AppendMember(b, "spool"), st.Spool)
	b = appendSources(typedjson.AppendMember(b, "sources"), v)
	return writeJSON(w, append(b, '}'))
}

// serveSourcesJSON lists the sources.
func (s *Server) serveSourcesJSON(w http.ResponseWriter, r *http.Request) error {
	b := appendSources(typedjson.AppendMember([]byte{'{'}, "sources"), s.sources.View())
	return writeJSON(w, append(b, '}'))
}

// appendSources appends what each source reads, what it is doing and what is kept of it.
func appendSources(b []byte, v sources.View) []byte {
	b = append(b, '[')
	for _, one := range v.Statuses() {
		b = append(typedjson.AppendNext(b), '{')
		b = typedjson.AppendString(typedjson.AppendMember(b, "name"), one.Name)
		b = typedjson.AppendString(typedjson.AppendMember(b, "reads"), one.Status.Name)
		b = typedjson.AppendString(typedjson.AppendMember(b, "mode"), string(one.Mode))
		b = typedjson.AppendString(typedjson.AppendMember(b, "state"), one.State.String())
		b = typedjson.AppendTime(typedjson.AppendMember(b, "since"), one.Since)
		b = typedjson.AppendMember(b, "error")
		if one.Error == "" {
			b = append(b, "null"...)
		} else {
			b = typedjson.AppendString(b, one.Error)
		}
		b = strconv.AppendUint(typedjson.AppendMember(b, "held"), one.Held, 10)
		b = typedjson.AppendMember(b, "waiting")
		if one.ObservedAt.IsZero() {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendUint(b, one.Ready, 10)
		}
		b = strconv.AppendUint(typedjson.AppendMember(b, "stored"), one.Kept.Messages, 10)
		b = strconv.AppendUint(typedjson.AppendMember(b, "evicted"), one.Kept.Evicted, 10)
		b = strconv.AppendInt(typedjson.AppendMember(b, "bytes"), one.Kept.Bytes, 10)
		b = strconv.AppendInt(typedjson.AppendMember(b, "max_bytes"), one.Kept.MaxBytes, 10)
		b = strconv.AppendFloat(typedjson.AppendMember(b, "rate"), one.Kept.Rate, 'f', -1, 64)
		b = appendStrings(typedjson.AppendMember(b, "notes"), one.Notes)
		b = append(b, '}')
	}
	return append(b, ']')
}

func appendStrings(b []byte, all []string) []byte {
	b = append(b, '[')
	for _, s := range all {
		b = typedjson.AppendString(typedjson.AppendNext(b), s)
	}
	return append(b, ']')
}

// appendGaps writes when an exchange copy was not connected.
func appendGaps(b []byte, gaps []source.Gap) []byte {
	b = append(b, '[')
	for _, g := range gaps {
		b = append(typedjson.AppendNext(b), '{')
		b = typedjson.AppendTime(typedjson.AppendMember(b, "from"), g.From)
		b = append(typedjson.AppendTime(typedjson.AppendMember(b, "to"), g.To), '}')
	}
	return append(b, ']')
}

// appendSpool writes what is on disk, or null.
func appendSpool(b []byte, sp *source.Spool) []byte {
	if sp == nil {
		return append(b, "null"...)
	}
	b = append(b, '{')
	b = strconv.AppendUint(typedjson.AppendMember(b, "messages"), sp.Messages, 10)
	b = strconv.AppendUint(typedjson.AppendMember(b, "dropped"), sp.Dropped, 10)
	b = strconv.AppendInt(typedjson.AppendMember(b, "bytes"), sp.Bytes, 10)
	b = strconv.AppendInt(typedjson.AppendMember(b, "max_bytes"), sp.MaxBytes, 10)
	b = strconv.AppendUint(typedjson.AppendMember(b, "lost"), sp.Lost, 10)
	return append(appendStrings(typedjson.AppendMember(b, "damage"), sp.Damage), '}')
}

// maxCell is how many octets a value may have that stands in a listing. Of a larger one the listing
// has the number; the message's own JSON has it whole.
const maxCell = 128 << 10

// appendCell appends a cell as JSON: null where there is nothing, a header's value as an item of a
// typed JSON array, a property as what the page shows of it.
func appendCell(b []byte, c query.Cell) []byte {
	switch {
	case c.Damaged:
		return append(b, `{"damaged":true}`...)
	case !c.Set:
		return append(b, "null"...)
	case !c.IsHeader() && !c.Removed:
		return typedjson.AppendOctets(b, c.Text)
	}
	b = append(b, '{')
	if c.IsHeader() {
		b = typedjson.AppendTag(typedjson.AppendMember(b, "tag"), c.Value.Tag())
		b = typedjson.AppendString(typedjson.AppendMember(b, "type"), c.Value.Kind().String())
		if n := len(c.Value.Raw()); !c.Removed && n > maxCell {
			b = strconv.AppendInt(typedjson.AppendMember(b, "octets"), int64(n), 10)
		} else if !c.Removed {
			b = typedjson.AppendValue(typedjson.AppendMember(b, "value"), c.Value)
		}
		b = strconv.AppendInt(typedjson.AppendMember(b, "offset"), int64(c.Value.Offset()), 10)
		b = strconv.AppendInt(typedjson.AppendMember(b, "end"), int64(c.Value.End()), 10)
	}
	if c.Removed {
		b = append(typedjson.AppendMember(b, "redacted"), "true"...)
	}
	return append(b, '}')
}

const maxCompletions = 12

// serveCompletions offers header names really seen, and properties, for the word that
// ends at byte "at" of the filter "q", by default its end. They stand in the place
// of the bytes from "start" to there.
func (s *Server) serveCompletions(w http.ResponseWriter, r *http.Request) error {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return &paramError{"query", "The parameters of this address are not URL-encoded correctly."}
	}
	q := values.Get("q")
	at := len(q)
	if text := values.Get("at"); text != "" {
		if at, err = strconv.Atoi(text); err != nil || at < 0 || at > len(q) {
			return &paramError{"at", "The parameter at of this address is not a place in the filter."}
		}
	}
	v, _, err := s.view(r, address.State{})
	if err != nil {
		return err
	}
	items, start := v.Complete(q, at, maxCompletions)
	b := []byte(`{`)
	b = strconv.AppendInt(typedjson.AppendMember(b, "start"), int64(start), 10)
	b = append(typedjson.AppendMember(b, "items"), '[')
	for _, item := range items {
		b = append(typedjson.AppendNext(b), '{')
		b = typedjson.AppendString(typedjson.AppendMember(b, "insert"), item.Insert)
		b = typedjson.AppendOctets(typedjson.AppendMember(b, "name"), []byte(item.Name))
		b = typedjson.AppendString(typedjson.AppendMember(b, "meaning"), item.Meaning)
		b = strconv.AppendUint(typedjson.AppendMember(b, "count"), item.Count, 10)
		b = append(b, '}')
	}
	w.Header().Set("Content-Type", "application/json")
	return writeJSON(w, append(b, "]}"...))
}
