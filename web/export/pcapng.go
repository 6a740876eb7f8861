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
		Begin:      func(w io.Writer, s Selection) (Writer, error) { return capture.NewWriter(w, s.String()) },
	}
}
