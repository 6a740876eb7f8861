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
	seqs, err := compareSeqs(values["m"])
	if err != nil {
		return err
	}
	v := s.sources.View()
	if with := values.Get("with"); with != "" {
		return s.compareNeighbour(w, r, v, seqs, with)
	}
	p := s.frame(req.State)
	p.Title = "Compare"
	var ms []facts.Message
	var notes []string
	var first error
	for _, seq := range seqs {
		m, err := v.Get(v.Key(seq))
		switch {
		case errors.Is(err, archive.ErrEvicted):
			notes = append(notes, "Message "+kit.Num(seq)+" was kept once and has been evicted.")
		case errors.Is(err, archive.ErrNotYet):
			notes = append(notes, "There is no message "+kit.Num(seq)+" yet.")
		case err != nil:
			return err
		default:
			one := s.factsOf(m)
			one.Passage = v.Passage(v.Key(seq))
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

func compareSeqs(given []string) ([]uint64, error) {
	var seqs []uint64
	for _, list := range given {
		for text := range strings.SplitSeq(list, ",") {
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			seq, err := strconv.ParseUint(text, 10, 64)
			if err != nil || seq == 0 {
				return nil, &paramError{
					"m",
					"A message is named by its sequence number, which is a whole number from 1.",
				}
			}
			if !slices.Contains(seqs, seq) {
				seqs = append(seqs, seq)
			}
		}
	}
	if len(seqs) > compare.Max {
		return nil, &paramError{"m", "At most " + strconv.Itoa(compare.Max) + " messages are compared at once."}
	}
	return seqs, nil
}

func (s *Server) compareNeighbour(
	w http.ResponseWriter,
	r *http.Request,
	v sources.View,
	seqs []uint64,
	with string,
) error {
	if len(seqs) != 1 || with != "older" && with != "newer" {
		return &paramError{"with", `The parameter "with" is "older" or "newer", beside one message.`}
	}
	m, err := v.Get(v.Key(seqs[0]))
	if err != nil {
		return err
	}
	if other, ok := v.Alike(r.Context(), m, with == "older"); ok {
		http.Redirect(w, r, address.Links{Base: s.base}.Diff(m.Seq(), other.Seq()), http.StatusSeeOther)
		return nil
	}
	none := "No " + with + " message kept here has the exchange and routing key of message " + kit.Num(m.Seq()) + "."
	return &shownError{&sentenceError{errNotAlike, none}, func(failure) (templ.Component, error) {
		p := s.frame(address.State{})
		p.Title = "Compare"
		d := compare.Build([]facts.Message{s.factsOf(m)}, s.dialect(), p.Links)
		d.Notes = append(d.Notes, none)
		return compare.Page(p, d), nil
	}}
}
