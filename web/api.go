package web

import (
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/typedjson"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

func (s *Server) apiMessages(w http.ResponseWriter, r *http.Request) error {
	req, filterErr, err := s.parse(r)
	if err == nil {
		err = filterErr
	}
	if err != nil {
		return err
	}
	p, err := s.page(r.Context(), s.archive.Snapshot(), req)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	b := []byte(`{"messages":[`)
	var scratch query.Scratch
	for i, m := range req.sorted(p.Messages) {
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
	b = strconv.AppendUint(member(b, "matched"), p.Matched, 10)
	b = strconv.AppendUint(member(b, "scanned"), p.Scanned+p.Skipped, 10)
	b = strconv.AppendUint(member(b, "damaged"), p.Damaged, 10)
	b = member(b, "next")
	if p.Next == 0 {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendUint(b, p.Next, 10)
	}
	if r.URL.Query().Get("explain") == "1" {
		b = appendExplain(member(b, "explain"), p.Explain)
	}
	return writeJSON(w, append(b, '}'))
}

// appendExplain appends how an answer was reached.
func appendExplain(b []byte, e query.Explain) []byte {
	b = typedjson.AppendString(member(append(b, '{'), "filter"), e.Filter)
	b = append(member(b, "keys"), '[')
	for _, k := range e.Keys {
		b = appendOctets(element(b), []byte(k))
	}
	b = append(b, ']')
	b = strconv.AppendInt(member(b, "shapes"), int64(e.Shapes), 10)
	b = strconv.AppendInt(member(b, "shapes_matched"), int64(e.ShapesMatched), 10)
	b = strconv.AppendUint(member(b, "scanned"), e.Scanned, 10)
	b = strconv.AppendUint(member(b, "skipped"), e.Skipped, 10)
	b = strconv.AppendUint(member(b, "damaged"), e.Damaged, 10)
	b = strconv.AppendInt(member(b, "bytes_read"), e.BytesRead, 10)
	b = strconv.AppendUint(member(b, "decoded"), e.Decoded, 10)
	b = strconv.AppendFloat(member(b, "elapsed_ms"), float64(e.Elapsed.Microseconds())/1000, 'g', -1, 64)
	return append(b, '}')
}

// appendSummary appends one entry of a listing; nothing of it needs a decoded
// table. Columns are as appendCell writes them.
func appendSummary(b []byte, m archive.Message, req request, scratch *query.Scratch) []byte {
	encoded, _ := m.HeaderTable()
	marks := m.Marks()
	b = append(b, '{')
	b = strconv.AppendUint(member(b, "seq"), m.Seq(), 10)
	b = appendTime(member(b, "received"), m.Received())
	b = appendOctets(member(b, "exchange"), m.Exchange())
	b = appendOctets(member(b, "routing_key"), m.RoutingKey())
	b = strconv.AppendBool(member(b, "redelivered"), m.Redelivered())
	b = strconv.AppendInt(member(b, "header_count"), int64(marks.HeaderCount), 10)
	b = strconv.AppendInt(member(b, "header_bytes"), int64(len(encoded)), 10)
	b = strconv.AppendUint(member(b, "body_bytes"), m.BodySize(), 10)
	b = strconv.AppendInt(member(b, "body_kept"), int64(len(m.Body())), 10)
	b = strconv.AppendBool(member(b, "damaged"), marks.Damaged)
	b = strconv.AppendBool(member(b, "duplicates"), marks.Duplicates)
	b = append(member(b, "columns"), '{')
	for i, o := range req.columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(typedjson.AppendString(b, req.Columns[i]), ':')
		b = appendCell(b, o.Cell(m, req.dialect, scratch))
	}
	b = append(b, '}')
	if m.Redacted() {
		b = append(member(b, "redacted"), "true"...)
	}
	return append(b, '}')
}

func (s *Server) apiMessage(w http.ResponseWriter, r *http.Request) error {
	req, _, err := s.parse(r)
	if err != nil {
		return err
	}
	m, err := s.message(r)
	if err != nil {
		return err
	}
	s.fullDecodes.Add(1)
	return writeJSON(w, appendMessage(nil, m, req.dialect))
}

// appendMessage appends a message in lossless typed JSON.
func appendMessage(b []byte, m archive.Message, d *fieldtable.Dialect) []byte {
	encoded, ok := m.HeaderTable()
	table := fieldtable.View(encoded, d)
	b = append(b, '{')
	b = strconv.AppendUint(member(b, "seq"), m.Seq(), 10)
	b = appendTime(member(b, "received"), m.Received())
	b = strconv.AppendUint(member(b, "delivery_tag"), m.DeliveryTag(), 10)
	b = strconv.AppendBool(member(b, "redelivered"), m.Redelivered())
	b = appendOctets(member(b, "consumer_tag"), m.ConsumerTag())
	b = appendOctets(member(b, "exchange"), m.Exchange())
	b = appendOctets(member(b, "routing_key"), m.RoutingKey())
	b = appendProperties(b, m.Header())
	b = typedjson.AppendString(member(b, "dialect"), d.Name())
	b = member(b, "headers")
	if ok {
		b = typedjson.AppendTable(b, table)
	} else {
		b = append(b, "null"...)
	}
	b = strconv.AppendInt(member(b, "header_bytes"), int64(len(encoded)), 10)
	b = strconv.AppendInt(member(b, "content_header_bytes"), int64(len(m.Header().Payload())), 10)
	b = strconv.AppendUint(member(b, "body_bytes"), m.BodySize(), 10)
	b = strconv.AppendInt(member(b, "body_kept"), int64(len(m.Body())), 10)
	marks := m.Marks()
	b = strconv.AppendBool(member(b, "damaged"), marks.Damaged)
	b = strconv.AppendBool(member(b, "duplicates"), marks.Duplicates)
	if m.Redacted() {
		b = appendRedacted(member(b, "redacted"), m)
	}
	return append(b, '}')
}

// appendProperties appends the basic properties other than headers as an
// object by their names in the specification; octets are numbers and the
// timestamp is written as one of a table. properties_error says where the
// content header ends early.
func appendProperties(b []byte, h wire.ContentHeader) []byte {
	b = append(member(b, "properties"), '{')
	var damage error
	for p, err := range h.All() {
		if err != nil {
			damage = err
			break
		}
		switch p.Form() {
		case wire.FormTable:
		case wire.FormOctet:
			if v, ok := p.Uint8(); ok {
				b = strconv.AppendUint(member(b, p.Name), uint64(v), 10)
			}
		case wire.FormTimestamp:
			if v, ok := p.Timestamp(); ok {
				b = appendSeconds(member(b, p.Name), v)
			}
		default:
			b = appendOctets(member(b, p.Name), p.Raw)
		}
	}
	b = append(b, '}')
	b = member(b, "properties_error")
	if damage == nil {
		return append(b, "null"...)
	}
	return typedjson.AppendString(b, damage.Error())
}

func (s *Server) apiKeys(w http.ResponseWriter, r *http.Request) error {
	release, err := s.queries.Acquire(r.Context())
	if err != nil {
		return err
	}
	counts := s.archive.Snapshot().Keys()
	release()
	b := []byte(`{"keys":[`)
	for _, k := range counts {
		b = append(element(b), '{')
		if utf8.ValidString(k.Key) {
			b = typedjson.AppendString(member(b, "key"), k.Key)
		} else {
			b = append(member(b, "key"), "null"...)
			b = append(member(b, "key_hex"), '"')
			b = hex.AppendEncode(b, []byte(k.Key))
			b = append(b, '"')
		}
		b = strconv.AppendUint(member(b, "count"), k.Count, 10)
		b = append(member(b, "tags"), '{')
		for _, tag := range slices.Sorted(maps.Keys(k.Tags)) {
			if b[len(b)-1] != '{' {
				b = append(b, ',')
			}
			b = append(appendTag(b, tag), ':')
			b = strconv.AppendUint(b, k.Tags[tag], 10)
		}
		b = append(b, '}', '}')
	}
	return writeJSON(w, append(b, ']', '}'))
}

func (s *Server) apiStatus(w http.ResponseWriter, r *http.Request) error {
	st := s.status()
	b := []byte(`{"broker":{`)
	b = typedjson.AppendString(member(b, "state"), st.State.String())
	b = appendTime(member(b, "since"), st.Since)
	b = member(b, "error")
	if st.Error == "" {
		b = append(b, "null"...)
	} else {
		b = typedjson.AppendString(b, st.Error)
	}
	b = append(b, '}')
	b = typedjson.AppendString(member(b, "mode"), string(st.Mode))
	b = strconv.AppendUint(member(b, "held"), st.Held, 10)
	b = strconv.AppendUint(member(b, "stored"), st.Kept.Messages, 10)
	b = strconv.AppendUint(member(b, "evicted"), st.Kept.Evicted, 10)
	b = strconv.AppendInt(member(b, "bytes"), st.Kept.Bytes, 10)
	b = strconv.AppendFloat(member(b, "rate"), st.Kept.Rate, 'f', -1, 64)
	b = strconv.AppendUint(member(b, "full_decodes"), s.FullDecodes(), 10)
	return writeJSON(w, append(b, '}'))
}

// writeBytes is how much of a long response is collected before it is sent.
const writeBytes = 64 << 10

func writeJSON(w http.ResponseWriter, b []byte) error {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(b, '\n')) // #nosec G705 -- JSON, and said to be; an error means that the browser went away
	return nil
}
