package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headerglass/headerglass/web/budget"
)

const (
	// collectLeast and collectMost are how many bytes of an answer are taken from the budget at a
	// time: as many as there are already.
	collectLeast = 2 << 10
	collectMost  = 64 << 10
	// collectSpare is for what comes after a part, such as its last line's end.
	collectSpare = 64
	// gzipBytes is what a compressor takes.
	gzipBytes = 1 << 20
)

// collect makes an answer whole before any of it is sent: a failure can still become an error page,
// and what it was made of, the messages above all, is let go of before anybody waits for a browser
// that reads slowly. It takes the bytes that making it takes, work, from the budget, and then those
// of the answer, compressed where the browser knows gzip. Meanwhile it has one of turns: whoever
// waits for that needs no bytes yet, but for what is uploaded, which arrives before.
func (s *Server) collect(work int64, turns *budget.Limiter, h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithCancelCause(r.Context())
		defer cancel(nil)
		control := http.NewResponseController(w)
		var receiving, sending atomic.Bool
		leave := func() {}
		defer func() { leave() }()
		turn := func() (err error) {
			next, err := turns.Acquire(ctx)
			switch {
			case errors.Is(err, budget.ErrBusy):
				return budget.ErrFull
			case err == nil:
				leave = next
			}
			return err
		}
		upload := r.Method == http.MethodPost
		if !upload {
			if err := turn(); err != nil {
				return err
			}
		}
		share, err := s.budget.Take(ctx, budget.Page, clientOf(r), work+gzipBytes, func() {
			cancel(budget.ErrFull)
			if receiving.Load() {
				_ = control.SetReadDeadline(time.Now())
			}
			if sending.Load() { // else there is still an answer
				_ = control.SetWriteDeadline(time.Now())
			}
		})
		if err != nil {
			return err
		}
		defer share.Release()
		if upload {
			receiving.Store(true)
			share.Stall()
			// An error stays there to be read after what has arrived.
			body, _ := io.ReadAll(io.LimitReader(r.Body, maxUpload+1))
			r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), r.Body))
			share.Resume()
			receiving.Store(false)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := turn(); err != nil {
				return err
			}
		}
		share.BeginReading()
		defer share.EndReading()
		c := &collected{ctx: ctx, share: share, pool: &s.compressors, header: w.Header(), gzip: acceptsGzip(r)}
		if err := h(c, r.WithContext(ctx)); err != nil {
			if c.ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if full(err) {
				return err
			}
			c.drop()
			s.answer(c, r, err)
		}
		if err := c.finish(); err != nil {
			return err
		}
		leave()
		share.EndReading()
		share.Shrink(work + gzipBytes)
		sending.Store(true)
		share.Stall()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		w.WriteHeader(c.status)
		if r.Method == http.MethodHead {
			return nil
		}
		for i, b := range c.chunks {
			if _, err := w.Write(b); err != nil {
				return nil // the browser went away
			}
			c.chunks[i] = nil
			share.Shrink(int64(cap(b)))
			share.Stall()
		}
		return nil
	}
}

// collected is an answer in the making. It belongs to one goroutine.
type collected struct {
	ctx    context.Context
	share  *budget.Share
	pool   *sync.Pool // of *gzip.Writer
	header http.Header
	gzip   bool // the browser knows it
	status int
	z      *gzip.Writer // nil: what is written is kept as it is
	chunks [][]byte     // of collectMost at most, taken from the budget
	size   int
	err    error // why it cannot be whole
}

func (c *collected) Header() http.Header { return c.header }

func (c *collected) WriteHeader(status int) {
	if c.status != 0 {
		return
	}
	c.status = status
	if c.gzip && compressible(c.header) {
		c.header.Set("Content-Encoding", "gzip")
		c.header.Del("Content-Length")
		z, ok := c.pool.Get().(*gzip.Writer)
		if !ok {
			z, _ = gzip.NewWriterLevel(nil, 5) // an error says that there is no such level
		}
		z.Reset(keeper{c})
		c.z = z
	}
}

func compressible(h http.Header) bool {
	if h.Get("Content-Encoding") != "" {
		return false
	}
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return kind == "text/html" || kind == "application/json"
}

func (c *collected) Write(b []byte) (int, error) {
	if c.status == 0 {
		c.WriteHeader(http.StatusOK)
	}
	if c.z != nil {
		return c.z.Write(b)
	}
	return keeper{c}.Write(b)
}

// keeper keeps what is to be sent.
type keeper struct{ c *collected }

func (k keeper) Write(b []byte) (n int, err error) {
	c := k.c
	for len(b) > 0 && c.err == nil {
		last := len(c.chunks) - 1
		if last < 0 || len(c.chunks[last]) == cap(c.chunks[last]) {
			room := min(max(len(b)+collectSpare, c.size, collectLeast), collectMost)
			if c.err = c.share.Grow(c.ctx, int64(room)); c.err != nil {
				break
			}
			c.chunks = append(c.chunks, make([]byte, 0, room))
			last++
		}
		into := &c.chunks[last]
		part := b[:min(len(b), cap(*into)-len(*into))]
		*into = append(*into, part...)
		b = b[len(part):]
		n += len(part)
		c.size += len(part)
	}
	return n, c.err
}

// finish ends the answer. An error means that it is not whole.
func (c *collected) finish() error {
	if c.status == 0 {
		c.WriteHeader(http.StatusOK)
	}
	if c.z != nil {
		if err := c.z.Close(); err != nil && c.err == nil {
			c.err = err
		}
		c.z.Reset(nil)
		c.pool.Put(c.z)
		c.z = nil
	}
	if c.err == nil {
		c.err = context.Cause(c.ctx)
	}
	if c.err != nil {
		return c.err
	}
	if c.status >= http.StatusOK && c.status != http.StatusNoContent && c.status != http.StatusNotModified {
		c.header.Set("Content-Length", strconv.Itoa(c.size))
	}
	return nil
}

// drop forgets what was written.
func (c *collected) drop() {
	c.status, c.z = 0, nil
	for _, b := range c.chunks {
		c.share.Shrink(int64(cap(b)))
	}
	c.chunks, c.size = nil, 0
	c.header.Del("Content-Encoding")
}

// full reports whether err is about too little room, which the answer to it must not need.
func full(err error) bool { return errors.Is(err, budget.ErrFull) }
