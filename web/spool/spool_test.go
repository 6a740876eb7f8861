package spool

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/fttest"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

func open(t testing.TB, dir string, cfg Config) *Spool {
	t.Helper()
	s, err := Open(dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func plain() *archive.Redactor { return archive.New(archive.Config{MaxBytes: 1}).Redactor() }

// message n is one of many; its body has size octets that begin with n.
func message(n, size int) Record { return sealed(plain(), n, size) }

func sealed(redactor *archive.Redactor, n, size int) Record {
	body := make([]byte, size)
	copy(body, fmt.Sprintf("%06d", n))
	table := fttest.Table(func(e *fttest.Encoder) { e.Int32("n", int32(n)) })
	r := NewRecord(&wire.Delivery{
		DeliveryTag: uint64(n),
		Redelivered: n%2 == 1,
		ConsumerTag: []byte("tag"),
		Exchange:    []byte("exchange"),
		RoutingKey:  []byte("key"),
		BodySize:    uint64(size),
		Header:      wire.AppendContentHeaderPayload(nil, uint64(size), wire.Property{Name: "headers", Raw: table}),
	}, noon.Add(time.Duration(n)))
	return append(r, body...).Seal(redactor, uint64(n))
}

func messages(from, n, size int) []Record {
	redactor, records := plain(), make([]Record, 0, n)
	for i := range n {
		records = append(records, sealed(redactor, from+i, size))
	}
	return records
}

func appendAll(t testing.TB, s *Spool, records []Record) {
	t.Helper()
	if n, err := s.Append(records); err != nil || n != len(records) {
		t.Fatalf("appended %d of %d: %v", n, len(records), err)
	}
}

// numbers are those of the messages that an archive has, oldest first.
func numbers(a *archive.Archive) (got []int) {
	for m := range a.Snapshot().Forward(0) {
		got = append(got, int(m.DeliveryTag()))
	}
	return got
}

func load(t testing.TB, s *Spool, cfg archive.Config) (*archive.Archive, Loaded) {
	t.Helper()
	a := archive.New(cfg)
	l, err := s.Load(a)
	if err != nil {
		t.Fatal(err)
	}
	return a, l
}

func upTo(from, to int) (n []int) {
	for i := from; i < to; i++ {
		n = append(n, i)
	}
	return n
}

func TestEverythingIsThereAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	s := open(t, dir, Config{})
	key := s.Key()
	appendAll(t, s, messages(0, 100, 50))
	appendAll(t, s, messages(100, 1, 300_000))
	if st := s.Stats(); st.Messages != 101 || st.Bytes < 300_000 || st.MaxBytes != DefaultMaxBytes {
		t.Errorf("%+v", st)
	}
	s.Close()
	s = open(t, dir, Config{})
	if s.Key() != key || key == [32]byte{} {
		t.Error("the key has changed")
	}
	appendAll(t, s, messages(101, 2, 0))
	a, l := load(t, s, archive.Config{BodyLimit: 100})
	if l != (Loaded{Stored: 103}) || !slices.Equal(numbers(a), upTo(0, 103)) {
		t.Fatalf("%+v, %v", l, numbers(a))
	}
	for m := range a.Snapshot().Forward(0) {
		n := int(m.DeliveryTag())
		want := message(n, map[bool]int{true: 300_000, false: 50}[n == 100])
		if n > 100 {
			want = message(n, 0)
		}
		d := want.Delivery()
		if !m.Received().Equal(noon.Add(time.Duration(n))) || m.Redelivered() != (n%2 == 1) || string(m.ConsumerTag()) != "tag" ||
			string(m.Exchange()) != "exchange" || string(m.RoutingKey()) != "key" || !bytes.Equal(m.Header().Payload(), d.Header) ||
			m.BodySize() != d.BodySize ||
			!bytes.Equal(m.Body(), want.Body()[:min(100, len(want.Body()))]) {
			t.Errorf("message %d differs", n)
		}
	}
	prints, err := s.Recent(5)
	if err != nil || !slices.Equal(prints, []uint64{98, 99, 100, 101, 102}) {
		t.Errorf("recent: %v, %v", prints, err)
	}
	info, err := os.Stat(filepath.Join(dir, fileName))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read the file: %v, %v", info.Mode(), err)
	}
}

func TestLoadTakesTheNewestThatFit(t *testing.T) {
	s := open(t, t.TempDir(), Config{})
	appendAll(t, s, messages(0, 1000, 1000))
	a, l := load(t, s, archive.Config{MaxBytes: 256 << 10})
	got := numbers(a)
	if l.Stored < 150 || l.Stored > 300 || l.Older+l.Stored != 1000 || len(got) == 0 || got[len(got)-1] != 999 {
		t.Errorf("%+v, the newest of %d is %d", l, len(got), got[len(got)-1])
	}
	for i := range got {
		if got[i] != 1000-len(got)+i {
			t.Fatalf("not the newest in order: %v", got)
		}
	}
	// Bodies count only as far as the archive keeps them.
	if _, l := load(t, s, archive.Config{MaxBytes: 256 << 10, BodyLimit: -1}); l.Stored < 900 {
		t.Errorf("without bodies: %+v", l)
	}
}

func TestSecondExplorerIsTurnedAway(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, Config{})
	began := time.Now()
	_, err := Open(dir, Config{})
	if err == nil || !strings.Contains(err.Error(), "in use by another process") ||
		!strings.Contains(err.Error(), dir) {
		t.Error(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s to say so", took)
	}
}

func TestFullTakesNoMoreAndKeepsAll(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Config{MaxBytes: MinMaxBytes})
	total, kept := 0, 0
	for {
		n, err := s.Append(messages(total, 100, 10_000))
		kept += n
		if errors.Is(err, ErrFull) {
			break
		}
		if err != nil || n != 100 {
			t.Fatal(n, err)
		}
		total += 100
	}
	if err := s.Check(); !errors.Is(err, ErrFull) {
		t.Errorf("checked: %v", err)
	}
	size := fileSize(t, dir)
	if size > MinMaxBytes || size < MinMaxBytes/2 || uint64(kept) != s.Stats().Messages {
		t.Errorf("the file has %d bytes; %d kept, %d counted", size, kept, s.Stats().Messages)
	}
	a, _ := load(t, s, archive.Config{})
	if got := numbers(a); !slices.Equal(got, upTo(0, kept)) {
		t.Errorf("%d messages of %d", len(got), kept)
	}
	s.Close()
	s = open(t, dir, Config{MaxBytes: 2 * MinMaxBytes})
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	appendAll(t, s, messages(kept, 100, 10_000))
}

func fileSize(t *testing.T, dir string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestDropOldestStaysWithinTheBound(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Config{MaxBytes: MinMaxBytes, DropOldest: true})
	const n = 20_000
	for i := 0; i < n; i += 500 {
		appendAll(t, s, messages(i, 500, 10_000)) // 200 MB in all
	}
	if size := fileSize(t, dir); size > MinMaxBytes {
		t.Errorf("the file has %d bytes", size)
	}
	a, l := load(t, s, archive.Config{})
	got := numbers(a)
	if st := s.Stats(); st.Dropped+st.Messages != n || l.Stored != st.Messages || st.Messages < 2000 {
		t.Errorf("%+v, %+v", st, l)
	}
	if !slices.Equal(got, upTo(n-len(got), n)) {
		t.Errorf("not the newest in order: from %d to %d", got[0], got[len(got)-1])
	}
	if k, err := s.Append([]Record{message(0, MinMaxBytes)}); k != 0 || !errors.Is(err, ErrFull) {
		t.Errorf("a message larger than the bound: %d, %v", k, err)
	}
}

// TestNumbersAreNotReused: what was dropped and what comes later are never mistaken for each other.
func TestNumbersAreNotReused(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Config{MaxBytes: MinMaxBytes, DropOldest: true})
	appendAll(t, s, messages(0, 10, (MinMaxBytes-reserve)/20))
	appendAll(t, s, messages(10, 1, (MinMaxBytes-reserve)/10*9)) // drops all before it
	if st := s.Stats(); st.Dropped < 5 || st.Messages+st.Dropped != 11 {
		t.Errorf("%+v", st)
	}
	appendAll(t, s, messages(11, 3, 10))
	a, _ := load(t, s, archive.Config{BodyLimit: 10})
	if got := numbers(a); !slices.Equal(got, upTo(14-len(got), 14)) || len(got) < 3 {
		t.Errorf("%v", got)
	}
}

func TestDamage(t *testing.T) {
	for _, tc := range []struct {
		name   string
		damage func(b []byte) []byte
		words  string
	}{
		{"no spool", func([]byte) []byte { return []byte(strings.Repeat("something else entirely ", 5000)) }, "damaged or is not a spool"},
		{"cut to one page", func(b []byte) []byte { return b[:pageBytes] }, ""},
		{"cut in the middle", func(b []byte) []byte { return b[:len(b)/2] }, ""},
		{"zeros behind the first pages", func(b []byte) []byte { clear(b[3*pageBytes:]); return b }, ""},
		{"noise behind the first pages", func(b []byte) []byte {
			for i := 3 * pageBytes; i < len(b); i++ {
				b[i] = byte(i * 7)
			}
			return b
		}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir, Config{})
			for i := range 20 {
				appendAll(t, s, messages(100*i, 100, 5000))
			}
			s.Close()
			path := filepath.Join(dir, fileName)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, tc.damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err = Open(dir, Config{})
			if err == nil {
				defer s.Close()
				_, err = s.Load(archive.New(archive.Config{}))
			}
			if err == nil || !strings.Contains(err.Error(), tc.words) || !strings.Contains(err.Error(), dir) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("it says %v", err)
			}
		})
	}
}

func TestUnsoundRecordsAreSkipped(t *testing.T) {
	s := open(t, t.TempDir(), Config{})
	good := message(1, 20)
	for _, bad := range []Record{{}, good[:10], good[:fixedBytes], func() Record {
		r := slices.Clone(good)
		r[atHeader+3] = 0xff
		return r
	}(), func() Record {
		r := slices.Clone(good)
		r[atRemoved+3] = 0xff
		return r
	}(), func() Record {
		r := slices.Clone(good)
		r[atFormat] = 9
		return r
	}()} {
		appendAll(t, s, []Record{bad})
	}
	appendAll(t, s, []Record{good})
	if a, l := load(t, s, archive.Config{}); l.Stored != 1 || l.Damaged != 6 || !slices.Equal(numbers(a), []int{1}) {
		t.Errorf("%+v", l)
	}
}

func TestSealRedactsAndKeepsNoPrint(t *testing.T) {
	redact, err := archive.ParseRedaction("token")
	if err != nil {
		t.Fatal(err)
	}
	redactor := archive.New(archive.Config{Redact: redact}).Redactor()
	table := fttest.Table(func(e *fttest.Encoder) { e.Str("token", "s3cr3t"); e.Str("tenant", "acme") })
	r := NewRecord(&wire.Delivery{Header: wire.AppendContentHeaderPayload(nil, 4, wire.Property{
		Name: "headers",
		Raw:  table,
	})}, noon)
	r = append(r, "body"...).Seal(redactor, 7)
	if !r.sound() || bytes.Contains(r, []byte("s3cr3t")) || r.print() != 0 || len(r.removed()) != 1 ||
		string(r.Body()) != "body" {
		t.Errorf("%q", r)
	}
	if m := message(3, 5); m.print() != 3 || m.removed() != nil {
		t.Errorf("nothing to redact: print %d, removed %v", m.print(), m.removed())
	}
}

func TestBoundTooSmall(t *testing.T) {
	if _, err := Open(t.TempDir(), Config{MaxBytes: 1 << 20}); err == nil {
		t.Error("1 MiB is taken")
	}
}

func FuzzRecord(f *testing.F) {
	f.Add([]byte(message(1, 20)))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := Record(b)
		if !r.sound() {
			return
		}
		a := archive.New(archive.Config{MaxBytes: 1 << 20})
		r.Store(a.Writer())
		if a.Snapshot().Last() != 1 {
			t.Error("not stored")
		}
	})
}

// BenchmarkAppend writes messages of 555 octets of headers and 1 KiB bodies, as many with one
// synced transaction as named.
func BenchmarkAppend(b *testing.B) {
	for _, batch := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint("batch=", batch), func(b *testing.B) {
			s := open(b, b.TempDir(), Config{DropOldest: true})
			records := messages(0, batch, 1024+555)
			b.SetBytes(int64(batch * len(records[0])))
			for b.Loop() {
				if _, err := s.Append(records); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*float64(batch)/b.Elapsed().Seconds(), "msgs/s")
		})
	}
}

// BenchmarkLoad reads 100,000 messages into an archive.
func BenchmarkLoad(b *testing.B) {
	const n = 100_000
	s := open(b, b.TempDir(), Config{})
	for i := 0; i < n; i += 1000 {
		appendAll(b, s, messages(i, 1000, 1024+555))
	}
	for b.Loop() {
		if _, l := load(b, s, archive.Config{MaxBytes: 1 << 30}); l.Stored != n {
			b.Fatal(l)
		}
	}
	b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "msgs/s")
}
