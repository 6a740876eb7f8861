package web

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/headerglass/headerglass/web/budget"
)

// streamBuffer is how many bytes are collected before they are sent.
const streamBuffer = 32 << 10

// maxRest is how long such an answer rests at most after each part, while pages are made.
const maxRest = 50 * time.Millisecond

// streamed is an answer that is sent while it is made.
type streamed struct {
	*bufio.Writer
	ctx   context.Context // ends when the answer must give way to others
	share *budget.Share   // streamSpare of it are there for the messages being written
	held  int64           // of these messages
}

// streamSpare is what messages of the usual size need, so that an answer that has begun does not
// fail for want of it.
const streamSpare = 256 << 10

// Take takes n bytes for what is being written, and Give gives them back.
func (o *streamed) Take(n int64) error {
	if more := o.held + n - max(o.held, streamSpare); more > 0 {
		if err := o.share.Grow(o.ctx, more); err != nil {
			return err
		}
	}
	o.held += n
	return nil
}

func (o *streamed) Give(n int64) {
	o.held -= n
	if less := o.held + n - max(o.held, streamSpare); less > 0 {
		o.share.Shrink(less)
	}
}

// stream sends what write writes, which takes n bytes and what it asks for besides. Nothing of the
// archive may be kept while it writes: a browser that reads slowly would keep evicted messages in
// memory. zipped: it may be sent with gzip.
func (s *Server) stream(
	w http.ResponseWriter, r *http.Request, n int64, zipped bool, write func(ctx context.Context, out *streamed) error,
) error {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	control := http.NewResponseController(w)
	n += streamBuffer + streamSpare
	if zipped = zipped && acceptsGzip(r); zipped {
		n += gzipBytes
	}
	share, err := s.budget.Take(ctx, budget.Export, clientOf(r), n, func() {
		cancel(budget.ErrFull)
		_ = control.SetWriteDeadline(time.Now())
	})
	if err != nil {
		return err
	}
	defer share.Release()
	patient := &patientWriter{ctx: ctx, w: w, control: control, share: share, turns: s.long, stall: s.exportStall}
	patient.busy = func() bool { return s.pages.Stats().Running > 0 }
	// Exports of whoever asks must not keep pages waiting for a processor.
	if patient.leave, err = s.long.Again(ctx); err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	defer func() { patient.leave() }()
	patient.since = time.Now()
	patient.wait()
	defer patient.hurry() // for what is still in buffers
	out := &streamed{ctx: ctx, share: share}
	below := io.Writer(patient)
	var z *gzip.Writer
	if zipped {
		w.Header().Set("Vary", "Accept-Encoding")
		z = gzip.NewWriter(encoded{patient})
		below = z
	}
	out.Writer = bufio.NewWriterSize(below, streamBuffer)
	err = write(share.With(ctx), out)
	overtaken := errors.Is(err, errOvertaken) && patient.begun // and says so at its end
	if err == nil || overtaken {
		err = cmp.Or(out.Flush(), err)
	}
	if (err == nil || overtaken) && z != nil {
		err = cmp.Or(z.Close(), err)
	}
	if overtaken {
		_ = control.Flush()
	}
	if err != nil && patient.begun {
		s.logger.Debug("answer cut off", "path", r.URL.Path, "error", err)
		panic(http.ErrAbortHandler) // the browser must see that it is not whole
	}
	if err != nil && errors.Is(context.Cause(ctx), budget.ErrFull) {
		err = budget.ErrFull
	}
	return err
}

// encoded says that what is written is compressed.
type encoded struct{ *patientWriter }

func (e encoded) Write(b []byte) (int, error) {
	if !e.begun {
		e.w.Header().Set("Content-Encoding", "gzip")
		e.w.Header().Del("Content-Length")
	}
	return e.patientWriter.Write(b)
}

// patientWriter gives the browser some time for each part. Between two parts there is no deadline:
// messages may be looked for as long as it takes, and HTTP/2 ends a request whose deadline passes
// even while nothing is being written. Where deadlines are not supported the server's own holds.
type patientWriter struct {
	ctx     context.Context
	w       http.ResponseWriter
	control *http.ResponseController
	share   *budget.Share
	turns   *budget.Limiter
	leave   func()        // gives the writer's place back, which it has but while it waits for the browser
	since   time.Time     // it has had the place
	busy    func() bool   // pages are being made, so that after each part it rests for as long as that took
	stall   time.Duration // how long the browser may take for a part
	begun   bool          // something has been sent
}

func (p *patientWriter) wait()  { _ = p.control.SetWriteDeadline(time.Time{}) }
func (p *patientWriter) hurry() { _ = p.control.SetWriteDeadline(time.Now().Add(p.stall)) }

func (p *patientWriter) Write(b []byte) (n int, err error) {
	for len(b) > 0 && err == nil {
		var written int
		written, err = p.write(b[:min(len(b), streamBuffer)])
		n += written
		b = b[written:]
	}
	return n, err
}

func (p *patientWriter) write(b []byte) (int, error) {
	p.hurry()
	if p.ctx.Err() != nil { // after the deadline, so that giving way is not undone by it
		return 0, context.Cause(p.ctx)
	}
	p.begun = true
	n, err := p.send(b)
	if p.ctx.Err() == nil {
		p.wait()
	}
	return n, err
}

// send lets others have the turn, and the share, while it waits for the browser.
func (p *patientWriter) send(b []byte) (int, error) {
	p.share.Stall()
	p.leave()
	took := time.Since(p.since)
	n, err := p.w.Write(b)
	if err == nil && p.busy() {
		select {
		case <-time.After(min(took, maxRest)):
		case <-p.ctx.Done():
		}
	}
	if err == nil {
		var again func()
		if again, err = p.turns.Again(p.ctx); err != nil {
			err = cmp.Or(context.Cause(p.ctx), err)
		} else {
			p.leave, p.since = again, time.Now()
		}
	}
	p.share.Resume()
	return n, err
}
