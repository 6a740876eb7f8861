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
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

// fresh names a folder that does not exist yet.
func fresh(t testing.TB) string { return filepath.Join(t.TempDir(), "spool") }

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
func message(s *Spool, n, size int) *Record { return sealed(s, plain(), n, size) }

func body(n, size int) []byte {
	b := make([]byte, size)
	copy(b, fmt.Sprintf("%06d", n))
	return b
}

func sealed(s *Spool, redactor *archive.Redactor, n, size int) *Record {
	table := encode.Table(func(e *encode.Encoder) { e.Int32("n", int32(n)) })
	r := s.NewRecord(&wire.Delivery{
		DeliveryTag: uint64(n), Redelivered: n%2 == 1,
		ConsumerTag: []byte("tag"), Exchange: []byte("exchange"), RoutingKey: []byte("key"), BodySize: uint64(size),
		Header: wire.AppendContentHeaderPayload(nil, uint64(size), wire.Property{Name: "headers", Raw: table}),
	}, noon.Add(time.Duration(n)))
	for chunk := range slices.Chunk(body(n, size), 131_064) {
		r.Write(chunk)
	}
	r.Seal(redactor, uint64(n))
	return r
}

func messages(s *Spool, from, n, size int) []*Record {
	redactor, records := plain(), make([]*Record, 0, n)
	for i := range n {
		records = append(records, sealed(s, redactor, from+i, size))
	}
	return records
}

func appendAll(t testing.TB, s *Spool, records []*Record) {
	t.Helper()
	if n, err := s.Append(records); err != nil || n != len(records) {
		t.Fatalf("appended %d of %d: %v", n, len(records), err)
	}
	for _, r := range records {
		r.Discard()
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
	l, err := s.Load(a, 5)
	if err != nil {
		t.Fatal(err)
	}
	s.reading.Wait()
	return a, l
}

func upTo(from, to int) (n []int) {
	for i := from; i < to; i++ {
		n = append(n, i)
	}
	return n
}

// logs are the paths of a spool's log files, oldest first.
func logs(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"+logSuffix))
	if err != nil || len(names) == 0 {
		t.Fatalf("no log in %s: %v", dir, err)
	}
	return names
}

// bytesOf is how large all files in a folder are together.
func bytesOf(t testing.TB, dir string) (n int64) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		n += info.Size()
	}
	return n
}

func TestEverythingIsThereAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	s := open(t, dir, Config{})
	if s.Unclean() {
		t.Error("a new spool ended uncleanly")
	}
	key := s.Key()
	sizes := map[int]int{100: 300_000, 101: 3 << 20, 102: 0}
	appendAll(t, s, messages(s, 0, 100, 50))
	appendAll(t, s, []*Record{message(s, 100, sizes[100]), message(s, 101, sizes[101])})
	if st := s.Stats(); st.Messages != 102 || st.Bytes != bytesOf(t, dir)-headerBytes ||
		st.MaxBytes != DefaultMaxBytes {
		t.Errorf("%+v", st)
	}
	s.Close()
	s = open(t, dir, Config{})
	if s.Key() != key || key == [32]byte{} || s.Unclean() {
		t.Errorf("the key has changed: %v; unclean: %v", s.Key() != key, s.Unclean())
	}
	appendAll(t, s, messages(s, 102, 2, 0))
	a, l := load(t, s, archive.Config{BodyLimit: 100})
	if l.Stored != 104 || l.Older != 0 || !slices.Equal(numbers(a), upTo(0, 104)) {
		t.Fatalf("%+v, %v", l, numbers(a))
	}
	for m := range a.Snapshot().Forward(0) {
		n := int(m.DeliveryTag())
		size, ok := sizes[n]
		switch {
		case n > 101:
			size = 0
		case !ok:
			size = 50
		}
		want := message(s, n, size).Delivery()
		if !m.Received().Equal(noon.Add(time.Duration(n))) || m.Redelivered() != (n%2 == 1) ||
			string(m.ConsumerTag()) != "tag" || string(m.Exchange()) != "exchange" || string(m.RoutingKey()) != "key" ||
			!bytes.Equal(m.Header().Payload(), want.Header) || m.BodySize() != want.BodySize ||
			!bytes.Equal(m.Body(), body(n, size)[:min(100, size)]) {
			t.Errorf("message %d differs", n)
		}
	}
	if !slices.Equal(l.Prints, []uint64{99, 100, 101, 102, 103}) {
		t.Errorf("prints: %v", l.Prints)
	}
	if st := s.Stats(); len(st.Damage) > 0 {
		t.Errorf("%+v", st)
	}
}

func TestLoadTakesTheNewestThatFit(t *testing.T) {
	s := open(t, fresh(t), Config{MaxBytes: MinMaxBytes})
	const n = 9_000 // in three files
	for i := 0; i < n; i += 1000 {
		appendAll(t, s, messages(s, i, 1000, 1000))
	}
	a, l := load(t, s, archive.Config{MaxBytes: 256 << 10})
	got := numbers(a)
	if l.Stored < 150 || l.Stored > 300 || l.Older+l.Stored != n || !slices.Equal(got, upTo(n-len(got), n)) {
		t.Errorf("%+v, the newest of %d is %d", l, len(got), got[len(got)-1])
	}
	// Bodies count only as far as the archive keeps them.
	if _, l := load(t, s, archive.Config{MaxBytes: 2 << 20, BodyLimit: -1}); l.Stored < n*8/10 {
		t.Errorf("without bodies: %+v", l)
	}
}

func TestSecondExplorerIsTurnedAway(t *testing.T) {
	dir := fresh(t)
	open(t, dir, Config{})
	_, err := Open(dir, Config{})
	if err == nil || !strings.Contains(err.Error(), "in use by another process") || !strings.Contains(err.Error(), dir) {
		t.Error(err)
	}
}

func TestFullTakesNoMoreAndKeepsAll(t *testing.T) {
	dir := fresh(t)
	s := open(t, dir, Config{MaxBytes: MinMaxBytes})
	total, kept := 0, 0
	for {
		n, err := s.Append(messages(s, total, 100, 10_000))
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
	if size := bytesOf(t, dir); size > MinMaxBytes || size < MinMaxBytes*95/100 || uint64(kept) != s.Stats().Messages {
		t.Errorf("the files have %d bytes; %d kept, %d counted", size, kept, s.Stats().Messages)
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
	appendAll(t, s, messages(s, kept, 100, 10_000))
}

func TestDropOldestStaysWithinTheBound(t *testing.T) {
	dir := fresh(t)
	s := open(t, dir, Config{MaxBytes: MinMaxBytes, DropOldest: true})
	const n = 20_000
	for i := 0; i < n; i += 500 {
		appendAll(t, s, messages(s, i, 500, 10_000)) // 200 MB in all
	}
	if size := bytesOf(t, dir); size > MinMaxBytes || size < MinMaxBytes*9/10 {
		t.Errorf("the files have %d bytes", size)
	}
	a, l := load(t, s, archive.Config{})
	got := numbers(a)
	if st := s.Stats(); st.Dropped+st.Messages != n || l.Stored != st.Messages || len(st.Damage) > 0 {
		t.Errorf("%+v, %+v", st, l)
	}
	if !slices.Equal(got, upTo(n-len(got), n)) {
		t.Errorf("not the newest in order: from %d to %d", got[0], got[len(got)-1])
	}
	s.Close()
	if st := open(t, dir, Config{MaxBytes: MinMaxBytes}).Stats(); int(st.Messages) != len(got) || len(st.Damage) > 0 {
		t.Errorf("opened again: %+v", st)
	}
}

// TestTooLarge: a message that no spool of this bound can hold is told from one that has no room
// now.
func TestTooLarge(t *testing.T) {
	for _, drop := range []bool{false, true} {
		t.Run(fmt.Sprint("drop oldest ", drop), func(t *testing.T) {
			dir := fresh(t)
			s := open(t, dir, Config{MaxBytes: MinMaxBytes, DropOldest: drop})
			appendAll(t, s, messages(s, 0, 3, 10))
			large := message(s, 3, MinMaxBytes)
			defer large.Discard()
			n, err := s.Append([]*Record{message(s, 4, 10), large, message(s, 5, 10)})
			if n != 1 || !errors.Is(err, ErrTooLarge) || !large.TooLarge() || large.Memory() > 1<<20 {
				t.Errorf("%d, %v; it takes %d octets of memory", n, err, large.Memory())
			}
			if err := s.Check(); err != nil {
				t.Errorf("checked: %v", err)
			}
			appendAll(t, s, messages(s, 6, 1, MinMaxBytes/2)) // what fits is taken
			if a, _ := load(t, s, archive.Config{}); !slices.Equal(numbers(a), []int{0, 1, 2, 4, 6}) {
				t.Errorf("%v", numbers(a))
			}
			if size := bytesOf(t, dir); size > MinMaxBytes {
				t.Errorf("the files have %d bytes", size)
			}
		})
	}
}

// TestNumbersAreNotReused: what was dropped and what comes later are never mistaken for each other.
func TestNumbersAreNotReused(t *testing.T) {
	dir := fresh(t)
	s := open(t, dir, Config{MaxBytes: MinMaxBytes, DropOldest: true})
	appendAll(t, s, messages(s, 0, 10, MinMaxBytes/20))
	appendAll(t, s, messages(s, 10, 1, MinMaxBytes/10*9)) // drops most before it
	if st := s.Stats(); st.Dropped < 5 || st.Messages+st.Dropped != 11 {
		t.Errorf("%+v", st)
	}
	appendAll(t, s, messages(s, 11, 3, 10))
	s.Close()
	s = open(t, dir, Config{MaxBytes: MinMaxBytes, DropOldest: true})
	appendAll(t, s, messages(s, 14, 1, 10))
	a, _ := load(t, s, archive.Config{BodyLimit: 10})
	if got := numbers(a); !slices.Equal(got, upTo(15-len(got), 15)) || len(got) < 4 || len(s.Stats().Damage) > 0 {
		t.Errorf("%v, %+v", got, s.Stats())
	}
}

func TestSealRedactsAndKeepsNoPrint(t *testing.T) {
	redact, err := archive.ParseRedaction("token")
	if err != nil {
		t.Fatal(err)
	}
	dir := fresh(t)
	s := open(t, dir, Config{})
	redactor := archive.New(archive.Config{Redact: redact}).Redactor()
	table := encode.Table(func(e *encode.Encoder) {
		e.Str("token", "s3cr3t")
		e.Str("tenant", "acme")
	})
	payload := wire.AppendContentHeaderPayload(nil, 4, wire.Property{Name: "headers", Raw: table})
	r := s.NewRecord(&wire.Delivery{Header: payload, BodySize: 4}, noon)
	r.Write([]byte("body"))
	r.Seal(redactor, 7)
	appendAll(t, s, []*Record{r, message(s, 3, 5)})
	b, err := os.ReadFile(logs(t, dir)[0])
	if err != nil || bytes.Contains(b, []byte("s3cr3t")) || !bytes.Contains(b, []byte("acme")) {
		t.Errorf("%q, %v", b, err)
	}
	a, l := load(t, s, archive.Config{})
	if !slices.Equal(l.Prints, []uint64{0, 3}) {
		t.Errorf("prints: %v", l.Prints)
	}
	for m := range a.Snapshot().Forward(0) {
		if m.Redacted() != (m.Seq() == 1) || m.Seq() == 1 && string(m.Body()) != "body" {
			t.Errorf("message %d is redacted: %v", m.Seq(), m.Redacted())
		}
	}
}

func TestBoundTooSmall(t *testing.T) {
	if _, err := Open(fresh(t), Config{MaxBytes: 1 << 20}); err == nil {
		t.Error("1 MiB is taken")
	}
}

// TestLeftBodiesAreRemoved: a body that had not arrived whole comes again.
func TestLeftBodiesAreRemoved(t *testing.T) {
	dir := fresh(t)
	s := open(t, dir, Config{})
	r := message(s, 1, 2<<20)
	if names, _ := filepath.Glob(filepath.Join(dir, apartPrefix+"*")); len(names) != 1 || r.Memory() > 1<<20 {
		t.Errorf("a body of 2 MiB: files %v, %d octets of memory", names, r.Memory())
	}
	s.Close()
	open(t, dir, Config{})
	if names, _ := filepath.Glob(filepath.Join(dir, apartPrefix+"*")); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
}

func FuzzHead(f *testing.F) {
	s, err := Open(filepath.Join(f.TempDir(), "spool"), Config{})
	if err != nil {
		f.Fatal(err)
	}
	defer s.Close()
	f.Add([]byte(message(s, 1, 20).head))
	f.Fuzz(func(t *testing.T, b []byte) {
		h := head(b)
		if !h.sound(uint64(len(b))) {
			return
		}
		d := h.delivery()
		w := archive.New(archive.Config{MaxBytes: 1 << 20}).Writer()
		w.BeginRedacted(&d, h.received(), h.removed())
		w.Commit()
	})
}

// BenchmarkAppend writes messages of 555 octets of headers and 1 KiB bodies, as many with one sync
// as named.
func BenchmarkAppend(b *testing.B) {
	for _, batch := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint("batch=", batch), func(b *testing.B) {
			s := open(b, fresh(b), Config{DropOldest: true})
			records := messages(s, 0, batch, 1024+555)
			b.SetBytes(int64(batch) * records[0].Size())
			for b.Loop() {
				if _, err := s.Append(records); err != nil { // and not discarded
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
	s := open(b, fresh(b), Config{})
	for i := 0; i < n; i += 1000 {
		appendAll(b, s, messages(s, i, 1000, 1024+555))
	}
	for b.Loop() {
		if _, l := load(b, s, archive.Config{MaxBytes: 1 << 30}); l.Stored != n {
			b.Fatal(l)
		}
	}
	b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "msgs/s")
}
