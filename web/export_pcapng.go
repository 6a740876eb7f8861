package web

import (
	"io"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/web/capture"
)

// pcapngExport is a capture of a connection that never was; see capture.Writer. It decodes nothing.
func pcapngExport() exportFormat {
	return exportFormat{
		extension:   "pcapng",
		contentType: "application/x-pcapng",
		begin: func(_ *Server, w io.Writer, e export) (exporter, error) {
			c, err := capture.NewWriter(w, e.String())
			return pcapngExporter{c}, err
		},
	}
}

type pcapngExporter struct{ w *capture.Writer }

func (e pcapngExporter) message(m archive.Message) error { return e.w.Write(m) }
func (e pcapngExporter) close() error                    { return e.w.Close() }
