package spool

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// filled is the folder of a spool with the messages 0 to n-1 of 5,000 octets, closed in good order.
func filled(t testing.TB, n int) (dir string) {
	t.Helper()
	dir = fresh(t)
	s := open(t, dir, Config{MaxBytes: MinMaxBytes})
	for i := 0; i < n; i += 100 {
		appendAll(t, s, messages(s, i, 100, 5000))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// change rewrites a file.
func change(t testing.TB, path string, how func(b []byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, how(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

func flip(at int) func([]byte) []byte {
	return func(b []byte) []byte {
		b[at] ^= 0x10
		return b
	}
}

// frameSize is what each of the messages in filled takes.
func frameSize(t testing.TB) int {
	t.Helper()
	s := open(t, fresh(t), Config{})
	return int(message(s, 0, 5000).Size())
}

func without(n int, lost ...int) (want []int) {
	for i := range n {
		if !slices.Contains(lost, i) {
			want = append(want, i)
		}
	}
	return want
}

func TestDamageIsNamedAndTheRestStaysReadable(t *testing.T) {
	const n = 400
	size := frameSize(t)
	first := headerBytes + frameBytes // of messages in the first file, behind the mark of opening
	at := func(message int) int { return first + message*size }
	keep := func(b []byte) []byte { return b }
	for _, tc := range []struct {
		name   string
		damage func(b []byte) []byte // of the one log file
		key    func(b []byte) []byte // of the file with the key
		lost   []int
		says   string // what the first place says; "": nothing is damaged
	}{
		{"nothing", keep, keep, nil, ""},
		{"the body", flip(at(17) + 3000), keep, []int{17}, "are damaged: message 18 is lost"},
		{"the headers", flip(at(17) + frameHeaderBytes + 60), keep, []int{17}, "message 18 is lost"},
		{"a number", flip(at(17)), keep, []int{17}, "message 18 is lost"},
		{"a length", flip(at(17) + 9), keep, []int{17}, "message 18 is lost"},
		{"a checksum", flip(at(17) + size - 1), keep, []int{17}, "message 18 is lost"},
		{"the last message", flip(at(n-1) + 100), keep, []int{n - 1}, "message 400 is lost"},
		{"the last header", flip(at(n-1) + 2), keep, []int{n - 1}, "message 400 is lost"},
		{"the file's header", flip(9), keep, nil, "at offset 0, 64 B are damaged: no message is lost"},
		{"the key's file", keep, flip(30), nil, "spool at offset 0, 64 B are damaged: no message is lost"},
		{"the key's file cut", keep, func(b []byte) []byte { return b[:20] }, nil, "spool at offset 0, 20 B are damaged"},
		{"two messages, zeros", func(b []byte) []byte { clear(b[at(5) : at(7)+1]); return b }, keep, []int{5, 6, 7}, "3 messages, 6 to 8, are lost"},
		{"a message cut out", func(b []byte) []byte { return slices.Delete(b, at(5), at(6)) }, keep, []int{5}, "message 6 is lost"},
		{"noise in between", func(b []byte) []byte { return slices.Insert(b, at(5), bytes.Repeat([]byte("noise"), 99)...) }, keep, nil, "no message is lost"},
		{"half a message cut out", func(b []byte) []byte { return slices.Delete(b, at(5)+40, at(5)+2040) }, keep, []int{5}, "message 6 is lost"},
		{"cut at the end", func(b []byte) []byte { return b[:at(n-1)+99] }, keep, []int{n - 1}, "99 B at the end are no whole message"},
		{"a copy of a message", func(b []byte) []byte { return slices.Insert(b, at(9), b[at(3):at(4)]...) }, keep, nil, "no message is lost"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := filled(t, n)
			change(t, logs(t, dir)[0], tc.damage)
			change(t, filepath.Join(dir, keyFile), tc.key)
			for _, again := range []bool{false, true} {
				s := open(t, dir, Config{})
				a, l := load(t, s, archive.Config{})
				want := without(n, tc.lost...)
				st := s.Stats()
				if !slices.Equal(numbers(a), want) || int(l.Stored) != len(want) {
					t.Errorf("%d messages are readable, not %d: %+v", len(numbers(a)), len(want), st)
				}
				if st.Messages != uint64(len(want)) {
					t.Errorf("%d counted", st.Messages)
				}
				if again && !strings.Contains(tc.says, "lost") || again && strings.HasPrefix(tc.says, "spool") {
					continue // it was mended, or goes on in another file
				}
				if (len(st.Damage) > 0) != (tc.says != "") ||
					tc.says != "" && !strings.Contains(st.Damage[0], tc.says) {
					t.Errorf("it says %q", st.Damage)
				}
				if !strings.Contains(tc.says, "at the end") && st.Lost != uint64(len(tc.lost)) {
					t.Errorf("%d lost", st.Lost)
				}
				appendAll(t, s, messages(s, n, 0, 10))
				s.Close()
			}
		})
	}
}

// TestEveryFlippedBitIsNoticed: whatever bit is flipped, no message is shown that is not as it was.
func TestEveryFlippedBitIsNoticed(t *testing.T) {
	dir := fresh(t)
	s := open(t, dir, Config{})
	appendAll(t, s, messages(s, 0, 4, 30))
	s.Close()
	whole, err := os.ReadFile(logs(t, dir)[0])
	if err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		dir := fresh(t)
		s := open(t, dir, Config{})
		s.Close()
		damaged := flip(at)(slices.Clone(whole))
		l := &logFile{first: 1, seed: seedOf(whole), f: &memoryFile{now: damaged}, size: int64(len(damaged))}
		var got []uint64
		found, err := l.scan(0, func(at int64, f frame, w *window) { got = append(got, f.number) })
		if err != nil {
			t.Fatal(err)
		}
		header := at < headerBytes
		mark := at >= headerBytes && at < headerBytes+frameBytes || at >= len(whole)-frameBytes
		switch {
		case header && len(got) == 4:
		case mark && len(got) == 4 && len(found.damage) == 1:
		case !header && !mark && len(got) == 3 && found.lost == 1:
		default:
			t.Fatalf("octet %d of %d: messages %v, %+v", at, len(whole), got, found)
		}
	}
}

func seedOf(file []byte) uint32 {
	h, _ := parseHeader(file[:headerBytes])
	return h.seed()
}

// TestMissingFilesAreNamed: what somebody has removed while the spool was closed is counted.
func TestMissingFilesAreNamed(t *testing.T) {
	const n = 2400 // 12 MB, in three files
	dir := filled(t, n)
	files := logs(t, dir)
	if len(files) < 3 {
		t.Fatalf("%d files", len(files))
	}
	if err := os.Remove(files[1]); err != nil {
		t.Fatal(err)
	}
	from, _ := parseLogName(filepath.Base(files[1]))
	to, _ := parseLogName(filepath.Base(files[2]))
	s := open(t, dir, Config{})
	a, l := load(t, s, archive.Config{})
	st := s.Stats()
	lost := int(to - from)
	if int(l.Stored) != n-lost || len(numbers(a)) != n-lost || int(st.Lost) != lost || int(st.Messages) != n-lost {
		t.Errorf("%d lost: %+v, %+v", lost, l, st)
	}
	want := fmt.Sprintf("a file behind it is missing: %d messages, %d to %d, are lost", lost, from, to-1)
	if len(st.Damage) != 1 || !strings.Contains(st.Damage[0], want) ||
		!strings.Contains(st.Damage[0], filepath.Base(files[0])) {
		t.Errorf("it says %q", st.Damage)
	}
	s.Close()
	for _, name := range logs(t, dir) {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, dir, Config{})
	if st := s.Stats(); len(st.Damage) != 1 || !strings.Contains(st.Damage[0], "no file of the log") || !s.Unclean() {
		t.Errorf("all are gone: %q", st.Damage)
	}
}

// TestOlderFilesAreCheckedToo: damage in what does not fit into memory is found beside the work.
func TestOlderFilesAreCheckedToo(t *testing.T) {
	const n = 2400
	dir := filled(t, n)
	change(t, logs(t, dir)[0], flip(100_000))
	s := open(t, dir, Config{})
	_, l := load(t, s, archive.Config{MaxBytes: 1 << 20})
	if st := s.Stats(); l.Stored+l.Older != n || st.Lost != 1 || st.Messages != n-1 || len(st.Damage) != 1 {
		t.Errorf("%+v, %+v", l, st)
	}
}

func TestNoSpool(t *testing.T) {
	dir := filled(t, 100)
	change(t, filepath.Join(dir, keyFile), flip(3))
	change(t, logs(t, dir)[0], flip(3))
	_, err := Open(dir, Config{})
	if err == nil || !strings.Contains(err.Error(), "is damaged or is no spool") || !strings.Contains(err.Error(), dir) {
		t.Error(err)
	}
}

// TestPublishersCannotForgeFrames: a message whose body is a log is one message, also where its own
// frame is damaged.
func TestPublishersCannotForgeFrames(t *testing.T) {
	other := filled(t, 100)
	forged, err := os.ReadFile(logs(t, other)[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := fresh(t)
	s := open(t, dir, Config{})
	r := message(s, 0, 10)
	r.Write(forged[headerBytes:])
	appendAll(t, s, []*Record{r})
	appendAll(t, s, messages(s, 1, 1, 10))
	s.Close()
	change(t, logs(t, dir)[0], flip(headerBytes+frameBytes))
	s = open(t, dir, Config{})
	if a, _ := load(t, s, archive.Config{}); !slices.Equal(numbers(a), []int{1}) || s.Stats().Lost != 1 {
		t.Errorf("%v, %+v", numbers(a), s.Stats())
	}
}

// FuzzScan: whatever a file holds, reading it ends, and shows nothing that does not fit its
// checksums.
func FuzzScan(f *testing.F) {
	h := header{first: 1}
	b := h.encode()
	b, sum := appendFrame(b, h.seed(), frame{number: 1, length: 3, kind: kindMessage})
	b = binary.LittleEndian.AppendUint32(append(b, "abc"...), checksum(sum, []byte("abc")))
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		l := &logFile{first: 1, seed: h.seed(), f: &memoryFile{now: b}, size: int64(len(b))}
		_, err := l.scan(rand.Uint64N(3), func(at int64, f frame, w *window) {
			if !w.checks(at, f) || readHead(w, at, f) == nil {
				t.Error("not sound")
			}
		})
		if err != nil {
			t.Error(err)
		}
	})
}
