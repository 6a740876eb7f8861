package web

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/headerglass/headerglass/fieldtable/typedjson"
)

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
	items, start := s.sources.View().Complete(q, at, maxCompletions)
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
