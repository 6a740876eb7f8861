package web

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/views/listing"
	"github.com/headerglass/headerglass/web/budget"
	"github.com/headerglass/headerglass/web/export"
)

const (
	// exportPage is how many messages are looked up at a time.
	exportPage = 200
	// exportBuffer is how many bytes are collected before they are sent.
	exportBuffer = 32 << 10
)

// exportForms are the formats as a page offers them.
func exportForms() (forms []listing.ExportForm) {
	for _, f := range export.Formats() {
		forms = append(forms, listing.ExportForm{Extension: f.Extension, Label: f.Label, Use: f.Use})
	}
	return forms
}

// serveExport streams the messages that match, oldest first, so that what reads the file meets them in
// the order of their arrival. Where there are more than the limit allows, they are the newest. What
// arrives or is evicted meanwhile is left out.
func (s *Server) serveExport(f export.Format) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if s.cfg.NoExports {
			return errNoExports
		}
		out := &patientWriter{w: w, control: http.NewResponseController(w), stall: s.exportStall}
		out.wait()
		defer out.hurry() // for what is still in buffers
		req, err := s.parseExport(r)
		if err != nil {
			return err
		}
		selected, err := s.selectExport(r.Context(), req, s.exportLimit(r, f))
		if err != nil {
			return err
		}
		h := w.Header()
		h.Set("Content-Type", f.Type)
		h.Set("Content-Disposition", `attachment; filename="`+f.FileName(selected)+`"`)
		if r.Method == http.MethodHead {
			return nil
		}
		err = s.writeExport(r.Context(), bufio.NewWriterSize(out, exportBuffer), f, req, selected)
		if err != nil && out.begun {
			s.logger.Debug("export cut off", "path", r.URL.Path, "error", err)
			panic(http.ErrAbortHandler) // the browser must see that the file is not whole
		}
		return err
	}
}

func (s *Server) parseExport(r *http.Request) (request, error) {
	req, filterErr, err := s.parse(r)
	if err == nil {
		err = filterErr
	}
	return req, err
}

// exportLimit is how many messages a file holds at most. Unlike a page's, an export's limit may be as
// large as the configuration allows.
func (s *Server) exportLimit(r *http.Request, f export.Format) int {
	limit := s.cfg.ExportLimit
	if f.Most > 0 {
		limit = min(limit, f.Most)
	}
	if n, err := strconv.Atoi(r.URL.Query().Get("limit")); err == nil && n > 0 {
		limit = min(limit, n)
	}
	return limit
}

// selectExport looks backward for as many matches as the limit allows, and one more.
func (s *Server) selectExport(ctx context.Context, req request, limit int) (export.Selection, error) {
	selected := export.Selection{
		Filter:  req.filter,
		Dialect: req.dialect,
		Columns: req.columns,
		Paths:   req.Columns,
	}
	before := cmp.Or(req.Before, s.archive.Snapshot().Last()+1)
	for {
		p, err := s.exportPage(ctx, req, query.PageRequest{
			Before: before,
			After:  req.After,
			Limit:  min(limit+1-selected.Count, maxLimit),
		})
		if err != nil {
			return selected, err
		}
		for _, m := range p.Messages {
			if selected.Count == limit {
				selected.More = true
				return selected, nil
			}
			if selected.Count == 0 {
				selected.Last = m.Seq()
			}
			selected.First = m.Seq()
			selected.Count++
		}
		if before = p.Next; before == 0 {
			return selected, nil
		}
	}
}

// exportPage waits its turn among the other queries. Each page has a snapshot of its own, so that a
// slow browser does not keep evicted messages in memory.
func (s *Server) exportPage(ctx context.Context, req request, r query.PageRequest) (query.Page, error) {
	release, err := s.queries.Acquire(ctx)
	if err != nil {
		return query.Page{}, err
	}
	defer release()
	r.From, r.To = req.From, req.To
	r.Dialect, r.ArchiveDialect = req.dialect, s.archive.Dialect()
	r.Budget = req.budget
	return req.filter.Page(ctx, s.archive.Snapshot(), r)
}

func (s *Server) writeExport(
	ctx context.Context, w *bufio.Writer, f export.Format, req request, selected export.Selection,
) error {
	file, err := f.Begin(w, selected)
	if err != nil {
		return err
	}
	for after := selected.First - 1; selected.Count > 0; {
		p, err := s.exportPage(ctx, req, query.PageRequest{
			After:     after,
			Before:    selected.Last + 1,
			Ascending: true,
			Limit:     exportPage,
		})
		if errors.Is(err, budget.ErrBusy) {
			continue // what has been begun waits for as long as its browser does
		}
		if err != nil {
			return err
		}
		for _, m := range p.Messages {
			if f.Decodes {
				s.fullDecodes.Add(1)
			}
			if err := file.Write(m); err != nil {
				return err
			}
		}
		if after = p.Next; after == 0 {
			break
		}
	}
	if err := file.Close(); err != nil {
		return err
	}
	return w.Flush()
}

// patientWriter gives the browser some time for each part. Between two parts there is no deadline:
// messages may be looked for as long as it takes, and HTTP/2 ends a request whose deadline passes
// even while nothing is being written. Where deadlines are not supported the server's own holds.
type patientWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration // how long the browser may take for a part
	begun   bool          // something has been sent
}

func (p *patientWriter) wait()  { _ = p.control.SetWriteDeadline(time.Time{}) }
func (p *patientWriter) hurry() { _ = p.control.SetWriteDeadline(time.Now().Add(p.stall)) }

func (p *patientWriter) Write(b []byte) (int, error) {
	p.begun = true
	p.hurry()
	defer p.wait()
	return p.w.Write(b)
}
