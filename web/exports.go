package web

import (
	"context"
	"net/http"
	"strconv"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/views/listing"
	"github.com/headerglass/headerglass/web/export"
	"github.com/headerglass/headerglass/web/sources"
)

// exportForms are the formats as a page offers them.
func exportForms() (forms []listing.ExportForm) {
	for _, f := range export.Formats() {
		forms = append(forms, listing.ExportForm{Extension: f.Extension, Label: f.Label, Use: f.Use})
	}
	return forms
}

// serveExport streams the messages that match, oldest first, so that what reads the file meets them
// in the order of their arrival. Where there are more than the limit allows, they are the newest.
// What arrives meanwhile is left out. Where some of them are evicted before they are written, the
// answer is cut off: what looks whole is whole.
func (s *Server) serveExport(f export.Format) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if s.cfg.NoExports {
			return errNoExports
		}
		req, err := s.parse(r)
		if err != nil {
			return err
		}
		req.view = req.view.At(nil) // what is evicted meanwhile is not kept
		return s.stream(w, r, f.Memory, !f.Compressed, func(ctx context.Context, out *streamed) error {
			over, err := req.view.Newest(ctx, req.filter, req.within(), s.exportLimit(r, f))
			if err != nil {
				return err
			}
			selected := export.Selection{
				Filter:  req.filter,
				Dialect: req.dialect,
				Columns: req.columns,
				Paths:   req.Columns,
				Sourced: s.sources.Several(),
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
			return s.writeExport(ctx, r, out, f, req, over, selected)
		})
	}
}

// exportLimit is how many messages a file holds at most. Unlike a page's, an export's limit may be
// as large as the configuration allows.
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
	ctx context.Context, r *http.Request, out *streamed, f export.Format,
	req request, over sources.Range, selected export.Selection,
) error {
	file, err := f.Begin(out, selected)
	if err != nil {
		return err
	}
	n := 0
	write := func(m archive.Message) error {
		if n++; n%keptEvery == 1 {
			if err := out.Take(keptEvery * f.Kept); err != nil {
				return err
			}
		}
		if f.Decodes {
			s.fullDecodes.Add(1)
		}
		return file.Write(m)
	}
	if err := req.view.Each(ctx, req.filter, req.within(), over, out, write); err != nil {
		return err
	}
	if n < over.Count {
		s.exportsCutOff.Add(1)
		s.logger.Warn("export cut off: messages were evicted before they were written",
			"path", r.URL.Path, "written", n, "missing", over.Count-n)
		if c, ok := file.(export.Cutter); ok {
			if err := c.Cut(over.Count - n); err != nil {
				return err
			}
		}
		return errOvertaken
	}
	return file.Close()
}

// keptEvery is for how many messages at a time bytes are taken that are kept until the file ends.
const keptEvery = 64
