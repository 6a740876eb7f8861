package capture

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Format is the kind of a file.
type Format uint8

// The formats that can be read. Each but Zip may be compressed with gzip.
const (
	JSONL  Format = iota + 1 // the explorer's export: typed JSON, a message a line
	Zip                      // the explorer's export: a folder for each message
	Pcap                     // a capture in libpcap's own format
	Pcapng                   // a capture as Wireshark writes it, or the explorer's export
)

func (f Format) String() string {
	switch f {
	case JSONL:
		return "jsonl"
	case Zip:
		return "zip"
	case Pcap:
		return "pcap"
	case Pcapng:
		return "pcapng"
	}
	return "unknown"
}

// Why a file is of none of the kinds that can be read.
var (
	ErrFormat = errors.New("this is no export (jsonl, zip, pcapng) and no capture (pcap, pcapng)")
	ErrEmpty  = errors.New("the file is empty")
	// ErrStream is of a zip in a pipe.
	ErrStream = errors.New("a zip is read from its end, which a pipe does not allow: save it as a file first")
)

// Error says where a file could not be read on. What came before it has been read.
type Error struct {
	Name  string // of the file
	Line  int    // 1 for the first; 0: see Entry and Offset
	Entry string // in a zip; "": see Offset
	// bytes from the file's first, after decompression with gzip; negative: the file as a whole
	Offset int64
	Err    error
}

// Error gives one plain line.
func (e *Error) Error() string {
	switch {
	case e.Line > 0:
		return fmt.Sprintf("%s: line %d: %v", e.Name, e.Line, e.Err)
	case e.Entry != "":
		return fmt.Sprintf("%s: %s: %v", e.Name, e.Entry, e.Err)
	case e.Offset < 0:
		return fmt.Sprintf("%s: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("%s: at byte %d (0x%x): %v", e.Name, e.Offset, e.Offset, e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// File is an open file of a known format.
type File struct {
	name   string
	format Format
	close  func() error
	in     io.Reader // what is inside of gzip
	pipe   *os.File  // what cannot be read twice; nil: a file

	// A zip is read from its end.
	at   io.ReaderAt
	size int64
}

// readBuffer is how much is read from a file at once, in bytes.
const readBuffer = 64 << 10

// Open opens a file, or a pipe, and finds out what it is, by its first bytes and not by its name.
// The error is ErrFormat, ErrEmpty, ErrStream, or why it cannot be read.
func Open(name string) (*File, error) {
	f, err := os.Open(name) // #nosec G304 -- the file that the command line names
	if err != nil {
		return nil, err
	}
	var file *File
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.Mode().IsRegular():
		file, err = New(name, f, info.Size())
	default: // its size says nothing
		file = &File{name: name, pipe: f}
		if err = file.recognize(f); err == nil && file.format == Zip {
			err = ErrStream
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	file.close = f.Close
	return file, nil
}

// New is Open for what is there already. Its errors do not say the name.
func New(name string, r io.ReaderAt, size int64) (*File, error) {
	f := &File{name: name, close: func() error { return nil }, at: r, size: size}
	if err := f.recognize(io.NewSectionReader(r, 0, size)); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *File) recognize(r io.Reader) error {
	in, head, err := peek(r)
	if err == nil && bytes.HasPrefix(head, []byte("\x1f\x8b")) {
		var unzipped io.Reader
		if unzipped, err = gzip.NewReader(in); err == nil {
			in, head, err = peek(unzipped)
		}
		if formatOf(head) == Zip {
			return ErrFormat
		}
	}
	if err != nil {
		return err
	}
	if len(head) == 0 {
		return ErrEmpty
	}
	f.in, f.format = in, formatOf(head)
	if f.format == 0 {
		return ErrFormat
	}
	return nil
}

// peek looks at the first bytes of r. The end of r is no error.
func peek(r io.Reader) (in *bufio.Reader, head []byte, err error) {
	in = bufio.NewReaderSize(r, readBuffer)
	if head, err = in.Peek(peeked); err == io.EOF {
		err = nil
	}
	return in, head, err
}

// peeked is how many bytes are enough to know a format, white space before an export's first line
// included.
const peeked = 512

func formatOf(head []byte) Format {
	for magic, format := range map[string]Format{
		"\x0a\x0d\x0d\x0a": Pcapng,
		"\xa1\xb2\xc3\xd4": Pcap, "\xd4\xc3\xb2\xa1": Pcap, // microseconds
		"\xa1\xb2\x3c\x4d": Pcap, "\x4d\x3c\xb2\xa1": Pcap, // nanoseconds
		"PK\x03\x04": Zip, "PK\x05\x06": Zip,
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return format
		}
	}
	if bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(head, []byte(byteOrderMark)), " \t\r\n"), []byte("{")) {
		return JSONL
	}
	return 0
}

// byteOrderMark is what some editors put before UTF-8.
const byteOrderMark = "\ufeff"

// Name is the name that the file was opened by.
func (f *File) Name() string { return f.name }

// Format is what the file is.
func (f *File) Format() Format { return f.format }

// Close closes the file.
func (f *File) Close() error { return f.close() }

// Config says how to read.
type Config struct {
	Archive *archive.Archive
	// BodyLimit is how many octets of a body to read; the archive may keep less. 0 or negative:
	// none.
	BodyLimit int
}

// Read puts the file's messages into the archive, in the order of the file, and counts them. It is
// the archive's writer meanwhile, and may be called once. The error is that of ctx, or an *Error
// that says where the file could not be read on; what came before it is in the archive and counted.
func (f *File) Read(ctx context.Context, cfg Config) (Report, error) {
	s := streams{recorder{writer: cfg.Archive.Writer()}, keeping{bodyLimit: max(cfg.BodyLimit, 0), most: maxKept}}
	if f.pipe != nil {
		// What fills a pipe may never end.
		stop := context.AfterFunc(ctx, func() { _ = f.pipe.SetReadDeadline(time.Now()) })
		defer stop()
	}
	var err error
	var report Report
	switch f.format {
	case JSONL:
		err = readLines(ctx, f.in, &s)
		report = s.Report
	case Zip:
		err = readFolders(ctx, f.at, f.size, &s)
		report = s.Report
	default:
		flows := newFlows(s)
		err = readPackets(ctx, f.in, f.format, flows)
		report = flows.Report
	}
	if ctx.Err() != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		return report, ctx.Err()
	}
	if e, ok := errors.AsType[*Error](err); ok {
		e.Name = f.name
	}
	return report, err
}
