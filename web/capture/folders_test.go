package capture

import (
	"archive/zip"
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/wire"
)

// zipFile is a file of a zip; its text may be very long.
type zipFile struct {
	name string
	text io.Reader
}

func zipOf(t testing.TB, files ...zipFile) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: noon})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(w, f.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func header(bodySize uint64) io.Reader {
	return bytes.NewReader(wire.AppendContentHeaderPayload(nil, bodySize))
}

const facts = `{"seq":7,"received":"2026-03-01T12:00:00.000000001Z","delivery_tag":5,"redelivered":true,"exchange":"e","routing_key":{"hex":"ff"},"body_bytes":4,"content_header_base64":"AAAA"}`

func TestFolders(t *testing.T) {
	got, _ := readWhole(t, zipOf(t,
		zipFile{"000007/message.json", strings.NewReader(facts)},
		zipFile{"000007/headers.bin", strings.NewReader("is not needed")},
		zipFile{"000007/content-header.bin", header(4)},
		// packed again, without some, in another order
		zipFile{"export/000008/body.bin", strings.NewReader("abc")},
		zipFile{"000007/body.bin", strings.NewReader("1234")},
		zipFile{"export/000008/content-header.bin", header(3)},
		zipFile{"notes.txt", strings.NewReader("see 7")},
		zipFile{"000009/message.json", strings.NewReader("no content header, no message")},
	))
	if len(got) != 2 {
		t.Fatalf("%d messages", len(got))
	}
	m := got[0]
	if m.DeliveryTag() != 5 || !m.Redelivered() || string(m.Exchange()) != "e" || string(m.RoutingKey()) != "\xff" ||
		string(m.Body()) != "1234" ||
		m.Received().Nanosecond() != 1 {
		t.Errorf(
			"got tag %d, %v, %q, %q, %q, %v",
			m.DeliveryTag(),
			m.Redelivered(),
			m.Exchange(),
			m.RoutingKey(),
			m.Body(),
			m.Received(),
		)
	}
	if h := m.Header(); h.BodySize() != 4 {
		t.Errorf("the content header is not that of the file: %x", h.Payload())
	}
	m = got[1]
	if string(m.Body()) != "abc" || m.BodySize() != 3 || !m.Received().Equal(noon.Truncate(time.Second)) {
		t.Errorf("without message.json: %q, %v", m.Body(), m.Received())
	}
}

func TestZipOfNothing(t *testing.T) {
	if got, _ := readWhole(t, zipOf(t)); len(got) != 0 {
		t.Errorf("%d messages", len(got))
	}
}

func TestFoldersThatCannotBeRead(t *testing.T) {
	whole := zipOf(
		t,
		zipFile{"1/content-header.bin", header(0)},
		zipFile{"2/content-header.bin", header(0)},
		zipFile{"2/message.json", strings.NewReader(facts)},
	)
	damaged := bytes.Clone(whole)
	damaged[bytes.LastIndex(damaged[:bytes.Index(damaged, []byte("PK\x01\x02"))], []byte("2/message.json"))+len("2/message.json")+20] ^= 0xff
	for name, tt := range map[string]struct {
		file     []byte
		messages int
		want     string
	}{
		"cut off":           {whole[:len(whole)-30], 0, "not a valid zip file"},
		"without messages":  {zipOf(t, zipFile{"a.txt", strings.NewReader("x")}), 0, "no content-header.bin in the zip"},
		"damaged":           {damaged, 1, "2/message.json: "},
		"facts of no JSON":  {zipOf(t, zipFile{"1/content-header.bin", header(0)}, zipFile{"2/content-header.bin", header(0)}, zipFile{"2/message.json", strings.NewReader("{")}), 1, "2/message.json: unexpected end of JSON input"},
		"a time of nothing": {zipOf(t, zipFile{"1/content-header.bin", header(0)}, zipFile{"1/message.json", strings.NewReader(`{"received":"0001-01-01T00:00:00Z"}`)}), 0, "1/content-header.bin: received is missing"},
	} {
		got, _, err := read(t, tt.file)
		if len(got) != tt.messages {
			t.Errorf("%s: %d messages, want %d", name, len(got), tt.messages)
		}
		if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}

func TestUnpackIsBounded(t *testing.T) {
	file := zipOf(t, zipFile{"1", zeros(100)})
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		limit   int
		tooLong error
		left    int64
		octets  int
		err     error
	}{
		{100, errHeader, 100, 100, nil},
		{99, errHeader, 100, 0, errHeader},
		{99, nil, 100, 99, nil},
		{0, nil, 100, 0, nil},
		{100, errHeader, 99, 0, errInflation},
	} {
		left := tt.left
		b, err := unpack(z.File[0], tt.limit, tt.tooLong, &left)
		if len(b) != tt.octets || !errors.Is(err, tt.err) {
			t.Errorf("%+v: %d octets, %v", tt, len(b), err)
		}
		if want := tt.left - int64(min(100, tt.limit+1)); left != want {
			t.Errorf("%+v: %d octets are left, want %d", tt, left, want)
		}
	}
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func zeros(n int64) io.Reader { return io.LimitReader(zeroReader{}, n) }

// A body that unpacks to a thousand times its size is read as far as it is kept.
func TestZipBombBody(t *testing.T) {
	got, _ := readWhole(
		t,
		zipOf(t, zipFile{"1/content-header.bin", header(1 << 24)}, zipFile{"1/body.bin", zeros(1 << 24)}),
	)
	if len(got) != 1 || len(got[0].Body()) != bodyLimit || got[0].BodySize() != 1<<24 {
		t.Fatalf("%d messages", len(got))
	}
}

// Many files that share their octets.
func TestZipOfSharedOctets(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	content := make([]byte, maxFrame)
	var packed bytes.Buffer
	p := zip.NewWriter(&packed)
	w, err := p.Create("x")
	if err != nil {
		t.Fatal(err)
	}
	w.Write(content)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	one, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := one.File[0].OpenRaw()
	if err != nil {
		t.Fatal(err)
	}
	octets, err := io.ReadAll(raw)
	if err != nil {
		t.Fatal(err)
	}
	// The first file holds the octets; the others are made to point at its local header.
	const files = 300
	for i := range files {
		fw, err := z.CreateRaw(&zip.FileHeader{
			Name:               string(rune('A'+i)) + "/content-header.bin",
			Method:             zip.Deflate,
			CRC32:              crc32.ChecksumIEEE(content),
			CompressedSize64:   uint64(len(octets)),
			UncompressedSize64: maxFrame,
		})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			fw.Write(octets)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file := b.Bytes()
	for at := 0; ; {
		next := bytes.Index(file[at:], []byte("PK\x01\x02"))
		if next < 0 {
			break
		}
		at += next
		clear(file[at+42 : at+46]) // the offset of the local header
		at += 46
	}
	got, _, err := read(t, file)
	if !errors.Is(err, errInflation) {
		t.Errorf("%d messages, %v", len(got), err)
	}
}

func TestZipDirectoryIsBounded(t *testing.T) {
	name := strings.Repeat("n", 60_000)
	var files []zipFile
	for range maxDirectory/60_000 + 2 {
		files = append(files, zipFile{name, strings.NewReader("")})
	}
	if _, _, err := read(t, zipOf(t, files...)); !errors.Is(err, errDirectory) {
		t.Errorf("got %v", err)
	}
}
