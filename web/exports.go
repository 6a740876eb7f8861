package web

import (
	"bufio"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/views/listing"
	"github.com/headerglass/headerglass/web/export"
	"github.com/headerglass/headerglass/web/sources"
)

// exportBuffer is how many bytes are collected before they are sent.
const exportBuffer = 32 << 10

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
		req, err := s.parse(r)
		if err != nil {
			return err
		}
		over, err := s.sources.Newest(r.Context(), req.filter, req.within(), s.exportLimit(r, f))
		if err != nil {
			return err
		}
		selected := export.Selection{
			Filter:  req.filter,
			Dialect: req.dialect,
			Columns: req.columns,
			Paths:   req.Columns,
			First:   over.First,
			Last:    over.Last,
			Count:   over.Count,
			More:    over.More,
		}
		h := w.Header()
		h.Set("Content-Type", f.Type)
		h.Set("Content-Disposition", `attachment; filename="`+f.FileName(selected)+`"`)
		if r.Method == http.MethodHead {
			return nil
		}
		err = s.writeExport(r.Context(), bufio.NewWriterSize(out, exportBuffer), f, req, over, selected)
		if err != nil && out.begun {
			s.logger.Debug("export cut off", "path", r.URL.Path, "error", err)
			panic(http.ErrAbortHandler) // the browser must see that the file is not whole
		}
		return err
	}
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

func (s *Server) writeExport(
	ctx context.Context, w *bufio.Writer, f export.Format, req request, over sources.Range, selected export.Selection,
) error {
	file, err := f.Begin(w, selected)
	if err != nil {
		return err
	}
	err = s.sources.Each(ctx, req.filter, req.within(), over, func(m archive.Message) error {
		if f.Decodes {
			s.fullDecodes.Add(1)
		}
		return file.Write(m)
	})
	if err != nil {
		return err
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
