package web

import (
	"bytes"
	"context"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/web/export"
)

// serveHeaders serves the field table as on the wire, with its length octets.
func (s *Server) serveHeaders(w http.ResponseWriter, r *http.Request) error {
	return s.download(w, r, "headers", func(m archive.Message) ([]byte, error) {
		encoded, ok := m.HeaderTable()
		switch {
		case m.HeaderSize() != len(m.Header().Payload()):
			return nil, errHeaderPrefix
		case !ok:
			return nil, errNoHeaders
		}
		return encoded, nil
	})
}

// serveContentHeader serves the content header frame's payload as on the wire.
func (s *Server) serveContentHeader(w http.ResponseWriter, r *http.Request) error {
	return s.download(w, r, "content-header", func(m archive.Message) ([]byte, error) {
		if m.HeaderSize() != len(m.Header().Payload()) {
			return nil, errHeaderPrefix
		}
		return m.Header().Payload(), nil
	})
}

// serveBody serves a body that was kept whole.
func (s *Server) serveBody(w http.ResponseWriter, r *http.Request) error {
	return s.download(w, r, "body", func(m archive.Message) ([]byte, error) {
		if uint64(len(m.Body())) != m.BodySize() {
			return nil, errBodyPrefix
		}
		return m.Body(), nil
	})
}

// serveWhole serves one message as an export of it alone.
func (s *Server) serveWhole(w http.ResponseWriter, r *http.Request) error {
	req, err := s.parseAround(r)
	if err != nil {
		return err
	}
	m, err := s.message(req.view, r)
	if err != nil {
		return err
	}
	f, n := export.Message(), int64(m.Bytes())
	h := w.Header()
	h.Set("Content-Type", f.Type)
	h.Set("Content-Disposition", `attachment; filename="`+partName(r, "message", f.Extension)+`"`)
	if r.Method == http.MethodHead {
		return nil
	}
	m, req = archive.Message{}, request{dialect: req.dialect} // to wait for room may take a while
	return s.stream(w, r, f.Memory+n, false, func(_ context.Context, out *streamed) error {
		v, _, err := s.view(r, address.State{})
		if err != nil {
			return err
		}
		m, err := s.message(v, r)
		if err != nil {
			return err
		}
		file, err := f.Begin(out, export.Selection{Dialect: req.dialect, Last: m.Seq(), Count: 1, Alone: true})
		if err != nil {
			return err
		}
		s.fullDecodes.Add(1)
		m = m.Clone()
		if err := file.Write(m); err != nil {
			return err
		}
		return file.Close()
	})
}

// partName is a file's name for a part of the message that the path names.
func partName(r *http.Request, part, extension string) string {
	name := chi.URLParam(r, "source") // which was found, so it is fit for a file's name
	if name != "" {
		name += "-"
	}
	return "headerglass-" + name + chi.URLParam(r, "seq") + "-" + part + "." + extension
}

// download serves octets as delivered, as an attachment that no browser
// renders. The file name is made of the sequence number and part only:
// nothing that a publisher wrote gets into it.
func (s *Server) download(
	w http.ResponseWriter,
	r *http.Request,
	part string,
	octets func(archive.Message) ([]byte, error),
) error {
	find := func() ([]byte, error) {
		v, _, err := s.view(r, address.State{})
		if err != nil {
			return nil, err
		}
		m, err := s.message(v, r)
		if err != nil {
			return nil, err
		}
		return octets(m)
	}
	b, err := find()
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+partName(r, part, "bin")+`"`)
	h.Set("Content-Length", strconv.Itoa(len(b)))
	if r.Method == http.MethodHead {
		return nil
	}
	n := len(b)
	b = nil
	return s.stream(w, r, int64(n), false, func(_ context.Context, out *streamed) error {
		b, err := find() // again, because waiting for room may take a while
		if err != nil {
			return err
		}
		b = bytes.Clone(b)
		_, err = out.Write(b)
		return err
	})
}
