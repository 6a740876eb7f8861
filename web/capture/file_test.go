package capture

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket/layers"
)

func gzipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(b)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func TestFormats(t *testing.T) {
	want := numbered(1, 10)
	packets := inbound(1, want[0].frames(), 1000)
	big := pcap(t, layers.LinkTypeRaw, packets...)
	for i := 0; i < 24; i += 4 { // the file's header in the other order of octets, and the packet's
		reverse(big[i : i+4])
	}
	reverse16(big[4:8])
	for i := 24; i < 40; i += 4 {
		reverse(big[i : i+4])
	}
	for name, tt := range map[string]struct {
		file   []byte
		format Format
	}{
		"pcap":       {pcap(t, layers.LinkTypeRaw, packets...), Pcap},
		"big-endian": {big, Pcap},
		"pcapng":     {pcapng(t, layers.LinkTypeRaw, packets...), Pcapng},
		"pcap.gz":    {gzipped(t, pcap(t, layers.LinkTypeRaw, packets...)), Pcap},
		"jsonl":      {[]byte("\n " + line(0, "")), JSONL},
		"jsonl.gz":   {gzipped(t, []byte(line(0, ""))), JSONL},
		"zip":        {zipOf(t, zipFile{"1/content-header.bin", header(0)}), Zip},
	} {
		path := filepath.Join(t.TempDir(), "misleading.txt")
		if err := os.WriteFile(path, tt.file, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a := newArchive()
		report, err := f.Read(t.Context(), Config{Archive: a, BodyLimit: bodyLimit})
		if f.Format() != tt.format || f.Name() != path || err != nil || report.Messages != 1 || a.Stats().Stored != 1 {
			t.Errorf("%s: %s, %+v, %v", name, f.Format(), report, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func reverse(b []byte) { b[0], b[1], b[2], b[3] = b[3], b[2], b[1], b[0] }

// reverse16 makes of two numbers in the wrong places two in the right ones.
func reverse16(b []byte) { b[0], b[1], b[2], b[3] = b[2], b[3], b[0], b[1] }

func TestFilesThatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string][]byte{
		"text":             []byte("hello"),
		"white space":      []byte(strings.Repeat(" ", 2000)),
		"gzip of text":     gzipped(t, []byte("hello")),
		"gzip of a zip":    gzipped(t, zipOf(t)),
		"gzip of gzip":     gzipped(t, gzipped(t, []byte(line(0, "")))),
		"an array of JSON": []byte("[{}]"),
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); !errors.Is(err, ErrFormat) || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an absent file: %v", err)
	}
	if _, err := Open(dir); err == nil {
		t.Error("a folder can be opened")
	}
	empty := filepath.Join(dir, "empty.gz")
	if err := os.WriteFile(empty, gzipped(t, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(empty); !errors.Is(err, ErrEmpty) {
		t.Errorf("an empty file: %v", err)
	}
	broken := filepath.Join(dir, "broken.gz")
	if err := os.WriteFile(broken, []byte("\x1f\x8b\x08"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(broken); err == nil {
		t.Error("a broken gzip can be opened")
	}
}

// A pipe has no size, may be read once, and need not end.
func TestPipes(t *testing.T) {
	open := func(content []byte, more bool) (*File, error) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close(); w.Close() })
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
		if !more {
			w.Close()
		}
		return Open("/dev/fd/" + strconv.Itoa(int(r.Fd())))
	}
	want := numbered(1, 10)
	packets := pcap(t, layers.LinkTypeRaw, inbound(1, want[0].frames(), 1000)...)
	for name, content := range map[string][]byte{
		"pcap":    packets,
		"pcap.gz": gzipped(t, packets),
		"jsonl":   []byte(line(0, "")),
	} {
		f, err := open(content, false)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		report, err := f.Read(t.Context(), Config{Archive: newArchive(), BodyLimit: bodyLimit})
		if err != nil || report.Messages != 1 {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
		f.Close()
	}
	if _, err := open(zipOf(t, zipFile{"1/content-header.bin", header(0)}), false); !errors.Is(err, ErrStream) {
		t.Errorf("a zip: %v", err)
	}
	if _, err := open(nil, false); !errors.Is(err, ErrEmpty) {
		t.Errorf("an empty pipe: %v", err)
	}

	f, err := open(bytes.Repeat([]byte(line(0, "")+"\n"), 50), true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := f.Read(ctx, Config{Archive: newArchive()}); !errors.Is(err, context.Canceled) {
		t.Errorf("a pipe that does not end: %v", err)
	}
}
