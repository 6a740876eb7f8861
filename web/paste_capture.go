package web

import (
	"bytes"
	"context"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/views"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/web/capture"
)

const (
	maxFound      = 100       // messages of a capture that are listed
	maxFoundLinks = 256 << 10 // octets of all the addresses that open them
)

// isCapture reports whether data is a packet capture or an export of messages, not compressed as a
// whole: of a compressed one little would say how much is in it.
func isCapture(data []byte) bool {
	f, err := capture.New("", bytes.NewReader(data), int64(len(data)))
	return err == nil && f.Format() != 0 && !bytes.HasPrefix(data, []byte("\x1f\x8b"))
}

// pastedCapture lists the messages of a packet capture, each with a link that carries its content
// header. A message is on the wire what it is in the capture or less, so an archive of a few times
// its size holds them all.
func (s *Server) pastedCapture(ctx context.Context, links address.Links, data []byte) (*views.Found, error) {
	f, err := capture.New("the capture", bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, badPaste(err.Error())
	}
	a := archive.New(archive.Config{MaxBytes: 8 * maxPaste, BodyLimit: -1, Dialect: s.dialect(s.sources.View())})
	report, err := f.Read(ctx, capture.Config{Archive: a})
	found := &views.Found{Kind: kindOf(f.Format()), Notes: report.Notes()}
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		// What came before the damage is worth showing.
		found.Notes = append(found.Notes, err.Error())
	}
	size := 0
	for m := range a.Snapshot().Forward(0) {
		if len(found.Messages) == maxFound {
			break
		}
		header := m.Header().Payload()
		one := views.FoundMessage{Received: m.Received(), Exchange: m.Exchange(), RoutingKey: m.RoutingKey(),
			Headers: m.Marks().HeaderCount, Size: len(header)}
		if packed := pack(header); len(packed) <= maxPasteParam && size+len(packed) <= maxFoundLinks {
			size += len(packed)
			l := links
			l.Pasted = pasted(packed, readPerhaps, "header")
			one.URL = l.Opened(address.Key{}, func(*address.State) {})
		}
		found.Messages = append(found.Messages, one)
	}
	found.More = a.Snapshot().Len() - len(found.Messages)
	return found, nil
}
