package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/listing"
	"github.com/headerglass/headerglass/web/sources"
)

// What a page says about everything that its filter matches: how many there
// are, when they arrived, and the values of one header. A page gets as much of
// it as fits into pageTime; /summary counts to the end.
const (
	pageTime    = 100 * time.Millisecond
	summaryTime = 20 * time.Second
	liveTime    = 100 * time.Millisecond
)

// summarise counts until ctx is done or limit is over. A header that no filter could name has no
// values.
func (s *Server) summarise(
	ctx context.Context, v sources.View, req request, limit time.Duration,
) (sources.Summary, error) {
	var split *query.Operand
	if req.Facet != "" {
		split, _ = query.CompileOperand(req.Facet) // facet says what is wrong with it
	}
	return v.Summarise(ctx, req.filter, req.within(), split, limit)
}

// summaryOfPage is the summary of a page with what was found. Where these are all that match, they
// need not be looked for again.
func (s *Server) summaryOfPage(
	ctx context.Context, v sources.View, req request, found sources.Page,
) (sources.Summary, error) {
	whole := !req.filter.MatchesAll() && !req.Damaged && req.Facet == "" && req.by == nil &&
		req.under == nil && req.over == nil && req.From.IsZero() && req.To.IsZero()
	if whole {
		if sum, ok := v.Whole(found); ok {
			return sum, nil
		}
	}
	return s.summarise(ctx, v, req, pageTime)
}

// chart is the histogram of a summary as a page draws it.
func chart(sum sources.Summary, req request) listing.Histogram {
	return listing.Histogram{Histogram: sum.Histogram, Filtered: sum.Filtered, From: req.From, To: req.To}
}

// facet is the values of the header that req names; nil: it names none.
func facet(v sources.View, sum sources.Summary, req request) *listing.Facet {
	if sum.Facet != nil {
		return &listing.Facet{Facet: *sum.Facet, Kept: v.Kept()}
	}
	if req.Facet == "" {
		return nil
	}
	_, err := query.CompileOperand(req.Facet)
	wrong, ok := errors.AsType[*query.Error](err)
	if !ok {
		return nil
	}
	return &listing.Facet{Facet: query.Facet{Operand: req.Facet}, Error: wrong}
}

// maxKeys is how many header names the panel shows.
const maxKeys = 200

// maxOffering is how long a link may be where the panel also offers properties, which no name makes
// way for.
const maxOffering = 2048

// maxNamesBytes is how much of a page the panel of names takes, drawn.
const maxNamesBytes = 90_000

// room is most, less what the links take that stand on every page: the longer they are, the fewer
// there can be.
func room(most int, links address.Links) int {
	return max(most/12, most-24*len(links.Latest()))
}

// maxFacetBytes is how much of a page the values take, drawn.
const maxFacetBytes = 24_000

// namesPanel is the most frequent header names of a summary, with the values of the one that is
// open: nil where these come from elsewhere. Those that a filter reads are marked; f may be nil.
func namesPanel(
	ctx context.Context, sum sources.Summary, req request, open *listing.Facet, links address.Links,
) (listing.KeyList, error) {
	names := named(sum.Names.Keys, req.Find)
	_, single := req.view.Single()
	l := listing.KeyList{
		Keys:     names[:min(maxKeys, len(names))],
		Active:   make(map[string]bool),
		Messages: sum.Names.Matched,
		Damaged:  sum.Names.Damaged,
		InPart:   !sum.Names.Complete,
		Partial:  sum.Total != nil,
		Find:     req.Find,
		Sourced:  !single,
		Values:   (sum.Names.Matched > 0 || sum.Total != nil) && len(links.Latest()) < maxOffering,
		More:     max(0, len(names)-maxKeys),
	}
	if req.filter != nil {
		for _, k := range req.filter.Keys() {
			l.Active[k] = true
		}
	}
	return l.Fit(ctx, open, chart(sum, req), links, room(maxNamesBytes, links))
}

// named are the names that hold a text, in upper or lower case.
func named(keys []archive.KeyCount, text string) []archive.KeyCount {
	if text == "" {
		return keys
	}
	text = strings.ToLower(text)
	var found []archive.KeyCount
	for _, k := range keys {
		if strings.Contains(strings.ToLower(k.Key), text) {
			found = append(found, k)
		}
	}
	return found
}

// parts are the components of a page that a summary is drawn in.
type parts struct {
	Keys  string `json:"keys"`
	Chart string `json:"chart"`
	Facet string `json:"facet"`
	Total string `json:"total"`
}

func drawParts(
	ctx context.Context, v sources.View, sum sources.Summary, req request, links address.Links,
) (parts, error) {
	chart := chart(sum, req)
	var p parts
	var buf bytes.Buffer
	err := listing.Chart(chart, links).Render(ctx, &buf)
	p.Chart = buf.String()
	buf.Reset()
	f, wrong := facet(v, sum, req).Fit(ctx, chart, links, room(maxFacetBytes, links))
	if f != nil {
		err = errors.Join(err, wrong, listing.FacetPanel(f, chart, links).Render(ctx, &buf))
	}
	p.Facet = buf.String()
	buf.Reset()
	if sum.Total != nil {
		err = errors.Join(err, listing.TotalLine(*sum.Total, links).Render(ctx, &buf))
		p.Total = buf.String()
	}
	return p, err
}

// drawNames is the panel of names without the values of the one that is open, which have a part of
// their own.
func drawNames(ctx context.Context, sum sources.Summary, req request, links address.Links) (string, error) {
	keys, err := namesPanel(ctx, sum, req, nil, links)
	if err != nil {
		return "", err
	}
	var buf bytes.Buffer
	err = listing.KeyPanel(keys, nil, listing.Histogram{}, links).Render(ctx, &buf)
	return buf.String(), err
}

// serveSummary answers a page that was drawn before everything was counted.
func (s *Server) serveSummary(w http.ResponseWriter, r *http.Request) error {
	req, err := s.parse(r)
	if err != nil {
		return err
	}
	v := req.view
	sum, err := s.summarise(r.Context(), v, req, summaryTime)
	if err != nil {
		return err
	}
	links := s.links(&req)
	p, err := drawParts(r.Context(), v, sum, req, links)
	if err != nil {
		return err
	}
	if p.Keys, err = drawNames(r.Context(), sum, req, links); err != nil {
		return err
	}
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return writeJSON(w, b)
}
