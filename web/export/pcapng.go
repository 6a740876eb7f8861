package export

import (
	"io"

	"github.com/headerglass/headerglass/web/capture"
)

// wireshark is a capture of a connection that never was; see [capture.Writer].
func wireshark() Format {
	return Format{
		Extension:  "pcapng",
		Type:       "application/x-pcapng",
		Label:      "pcapng",
		Use:        "for Wireshark",
		Compressed: true, // no program that opens it would uncompress it first
		Begin: func(w io.Writer, s Selection) (Writer, error) {
			c, err := capture.NewWriter(w, s.String())
			return wiresharkWriter{c}, err
		},
	}
}

type wiresharkWriter struct{ *capture.Writer }

// Cut says in a comment on the last packets what is missing.
func (w wiresharkWriter) Cut(missing int) error { return w.End(capture.CutOff(missing)) }
