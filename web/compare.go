package web

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/compare"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/kit"
	"github.com/headerglass/headerglass/web/sources"
)

// serveCompare compares the messages that the parameter m names, each time it stands
// in the address or several at once with commas. With "with" it leads to the
// comparison of one message with its older or newer neighbour of the same
// exchange and routing key.
func (s *Server) serveCompare(w http.ResponseWriter, r *http.Request) error {
	req, err := s.parseAround(r)
	if err != nil {
		return err
	}
	values := r.URL.Query()
	keys, err := compareKeys(values["m"])
	if err != nil {
		return err
	}
	v := req.view
	if with := values.Get("with"); with != "" {
		return s.compareNeighbour(w, r, req, keys, with)
	}
	p := s.frame(&req)
	p.Title = "Compare"
	var ms []facts.Message
	var notes []string
	var first error
	for _, k := range keys {
		m, err := v.Get(sources.Key(k))
		switch {
		case errors.Is(err, archive.ErrEvicted):
			notes = append(notes, "Message "+words(k)+" was kept once and has been evicted.")
		case errors.Is(err, archive.ErrNotYet):
			notes = append(notes, "There is no message "+words(k)+" yet.")
		case errors.Is(err, sources.ErrNoSource):
			notes = append(notes, "There is no source that message "+words(k)+" could be of.")
		case err != nil:
			return err
		default:
			one := s.factsOf(v, m)
			one.Passage = v.Passage(m)
			ms = append(ms, one)
		}
		if first == nil {
			first = err
		}
	}
	page := func() templ.Component {
		d := compare.Build(ms, req.dialect, p.Links)
		d.Notes = append(notes, d.Notes...)
		return compare.Page(p, d)
	}
	if first != nil && len(ms) < 2 {
		return &shownError{
			&sentenceError{first, strings.Join(notes, " ")},
			func(failure) (templ.Component, error) { return page(), nil },
		}
	}
	return s.render(w, r, http.StatusOK, page())
}

// words name a message in a sentence.
func words(k address.Key) string {
	if k.Source == "" {
		return kit.Num(k.Seq)
	}
	return kit.Num(k.Seq) + " of " + k.Source
}

func compareKeys(given []string) ([]address.Key, error) {
	var keys []address.Key
	for _, list := range given {
		for text := range strings.SplitSeq(list, ",") {
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			name, number, found := strings.Cut(text, ":")
			if !found {
				name, number = "", text
			}
			seq, err := strconv.ParseUint(number, 10, 64)
			if err != nil || seq == 0 {
				return nil, &paramError{
					"m",
					"A message is named by its sequence number, which is a whole number from 1, with its source " +
						"and a colon before it where there are several.",
				}
			}
			if k := (address.Key{Source: name, Seq: seq}); !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	if len(keys) > compare.Max {
		return nil, &paramError{"m", "At most " + strconv.Itoa(compare.Max) + " messages are compared at once."}
	}
	return keys, nil
}

func (s *Server) compareNeighbour(
	w http.ResponseWriter,
	r *http.Request,
	req request,
	keys []address.Key,
	with string,
) error {
	if len(keys) != 1 || with != "older" && with != "newer" {
		return &paramError{"with", `The parameter "with" is "older" or "newer", beside one message.`}
	}
	v := req.view
	m, err := v.Get(sources.Key(keys[0]))
	if err != nil {
		return err
	}
	if other, ok := v.Alike(r.Context(), m, with == "older"); ok {
		http.Redirect(w, r, address.Links{Base: s.base}.Diff(keys[0], address.Key(v.Key(other))), http.StatusSeeOther)
		return nil
	}
	none := "No " + with + " message kept here has the exchange and routing key of message " + words(keys[0]) + "."
	return &shownError{&sentenceError{errNotAlike, none}, func(failure) (templ.Component, error) {
		p := s.frame(&request{view: v})
		p.Title = "Compare"
		d := compare.Build([]facts.Message{s.factsOf(v, m)}, s.dialect(v), p.Links)
		d.Notes = append(d.Notes, none)
		return compare.Page(p, d), nil
	}}
}
