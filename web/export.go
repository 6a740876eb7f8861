package web

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/web/budget"
)

const (
	// exportPage is how many messages are looked up at a time.
	exportPage = 200
	// exportBuffer is how many bytes are collected before they are sent.
	exportBuffer = 32 << 10
)

// exportFormat is a form that messages leave the explorer in.
type exportFormat struct {
	extension   string
	contentType string
	// max is how many messages a file of this form holds at most; 0: any number.
	max int
	// begin starts a file on w.
	begin func(s *Server, w io.Writer, e export) (exporter, error)
}

// exporter writes one file. Memory must not grow with the number of messages by more than a few
// bytes each.
type exporter interface {
	message(m archive.Message) error
	// close writes what comes last.
	close() error
}

// export is what one request asks for.
type export struct {
	request
	// What it is made of: messages that match, from first to last, so many of them.
	first, last uint64
	count       int
	// more says that older ones match too, and were left out because of the limit.
	more bool
}

// String says what a file holds, for those who find it later.
func (e export) String() string {
	what := "headerglass: every message that was kept"
	if !e.filter.MatchesAll() {
		what = "headerglass: messages that match " + e.filter.String()
	}
	if e.more {
		what += fmt.Sprintf(" (only the newest %d)", e.count)
	}
	return what
}

// name is the file's name. A limit that left something out shows there.
func (e export) name(extension string) string {
	if e.more {
		return fmt.Sprintf("headerglass-export-newest-%d.%s", e.count, extension)
	}
	return "headerglass-export." + extension
}

// export streams the messages that match, oldest first, so that what reads the file meets them in
// the order of their arrival. Where there are more than the limit allows, they are the newest. What
// arrives or is evicted meanwhile is left out.
func (s *Server) export(f exportFormat) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if s.cfg.NoExports {
			return errNoExports
		}
		out := &patientWriter{w: w, control: http.NewResponseController(w), stall: s.exportStall}
		out.wait()
		defer out.hurry() // for what is still in buffers
		e, err := s.parseExport(r, f.max)
		if err != nil {
			return err
		}
		h := w.Header()
		h.Set("Content-Type", f.contentType)
		h.Set("Content-Disposition", `attachment; filename="`+e.name(f.extension)+`"`)
		if r.Method == http.MethodHead {
			return nil
		}
		err = s.writeExport(r.Context(), bufio.NewWriterSize(out, exportBuffer), f, e)
		if err != nil && out.begun {
			s.logger.Debug("export cut off", "path", r.URL.Path, "error", err)
			panic(http.ErrAbortHandler) // the browser must see that the file is not whole
		}
		return err
	}
}

func (s *Server) parseExport(r *http.Request, formatMax int) (export, error) {
	req, filterErr, err := s.parse(r)
	if err == nil {
		err = filterErr
	}
	if err != nil {
		return export{}, err
	}
	// Unlike a page's, an export's limit may be as large as the configuration allows.
	limit := s.cfg.ExportLimit
	if formatMax > 0 {
		limit = min(limit, formatMax)
	}
	if n, err := strconv.Atoi(r.URL.Query().Get("limit")); err == nil && n > 0 {
		limit = min(limit, n)
	}
	return s.selectExport(r.Context(), req, limit)
}

// selectExport looks backward for as many matches as the limit allows, and one more.
func (s *Server) selectExport(ctx context.Context, req request, limit int) (export, error) {
	e := export{request: req}
	before := cmp.Or(req.Before, s.archive.Snapshot().Last()+1)
	for {
		p, err := s.exportPage(ctx, e, query.PageRequest{
			Before: before,
			After:  req.After,
			Limit:  min(limit+1-e.count, maxLimit),
		})
		if err != nil {
			return e, err
		}
		for _, m := range p.Messages {
			if e.count == limit {
				e.more = true
				return e, nil
			}
			if e.count == 0 {
				e.last = m.Seq()
			}
			e.first = m.Seq()
			e.count++
		}
		if before = p.Next; before == 0 {
			return e, nil
		}
	}
}

// exportPage waits its turn among the other queries. Each page has a snapshot of its own, so that a
// slow browser does not keep evicted messages in memory.
func (s *Server) exportPage(ctx context.Context, e export, r query.PageRequest) (query.Page, error) {
	release, err := s.queries.Acquire(ctx)
	if err != nil {
		return query.Page{}, err
	}
	defer release()
	r.From, r.To = e.From, e.To
	r.Dialect, r.ArchiveDialect = e.dialect, s.archive.Dialect()
	r.Budget = e.budget
	return e.filter.Page(ctx, s.archive.Snapshot(), r)
}

func (s *Server) writeExport(ctx context.Context, w *bufio.Writer, f exportFormat, e export) error {
	file, err := f.begin(s, w, e)
	if err != nil {
		return err
	}
	for after := e.first - 1; e.count > 0; {
		p, err := s.exportPage(ctx, e, query.PageRequest{
			After:     after,
			Before:    e.last + 1,
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
			if err := file.message(m); err != nil {
				return err
			}
		}
		if after = p.Next; after == 0 {
			break
		}
	}
	if err := file.close(); err != nil {
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
