package archive

import (
	"bytes"
	"math/rand"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// checkPlaces compares the places of a message with a walk through its table, which they must not
// change anything about.
func checkPlaces(t *testing.T, m Message, d *fieldtable.Dialect) {
	t.Helper()
	table, ok := m.Header().HeaderTable()
	if got, gotOK := m.HeaderTable(); gotOK != ok || !bytes.Equal(got, table) {
		t.Fatalf("HeaderTable has %x, the content header %x", got, table)
	}
	n := 0
	for f, err := range fieldtable.View(table, d).All() {
		if err != nil {
			break
		}
		encoded, at, placed := m.Place(n)
		if placed != m.placed() || placed && (at != f.Value.Offset() || !bytes.Equal(encoded, table)) {
			t.Fatalf("header %d is at %d, %v, want %d", n, at, placed, f.Value.Offset())
		}
		n++
	}
	for _, i := range []int{-1, n, n + 1, 1 << 20} {
		if _, at, ok := m.Place(i); ok {
			t.Fatalf("header %d of %d is at %d", i, n, at)
		}
	}
}

func TestPlaces(t *testing.T) {
	for _, s := range specimens.Specimens() {
		for _, d := range fieldtable.Dialects() {
			a := New(Config{Dialect: d})
			put(a, s.Encoded, []byte("the body"))
			m, _ := a.Snapshot().Get(1)
			checkPlaces(t, m, d)
			if string(m.Body()) != "the body" || m.HeaderSize() != len(headerOf(s.Encoded, 8)) {
				t.Fatalf("%s: body %q, header of %d", s.Name, m.Body(), m.HeaderSize())
			}
		}
	}
}

// TestPlacesReachOnlySoFar puts the last octet of a table where 16 bits reach, and one further.
func TestPlacesReachOnlySoFar(t *testing.T) {
	table := func(text int) []byte {
		return encode.Table(func(e *encode.Encoder) {
			e.Str("a", string(make([]byte, text)))
			e.Bool("b", true)
		})
	}
	// Before the text: fixed part, places of two headers, names "ex" and "key", content header up
	// to the table, in it the length, "a" with tag and length. After it: "b" with tag and value.
	text := maxPlace - (recFixed + 8 + 2 + 3 + 14 + 11 + 4 + 7) - 4
	for _, tt := range []struct {
		text   int
		placed bool
	}{{text, true}, {text + 1, false}} {
		a := New(Config{})
		put(a, table(tt.text), []byte("body"))
		m, _ := a.Snapshot().Get(1)
		if m.placed() != tt.placed {
			t.Errorf("a text of %d octets: placed %v, want %v", tt.text, m.placed(), tt.placed)
		}
		checkPlaces(t, m, fieldtable.Lenient())
		if string(m.Body()) != "body" {
			t.Errorf("body %q", m.Body())
		}
	}
}

// TestRedactedHasNoPlaces: what was removed may have been part of what they point at.
func TestRedactedHasNoPlaces(t *testing.T) {
	a := redacting(t, "secret", nil)
	put(a, keys("tenant", "secret"), nil)
	put(a, keys("tenant"), nil)
	for seq, placed := range map[uint64]bool{1: false, 2: true} {
		m, _ := a.Snapshot().Get(seq)
		if m.placed() != placed {
			t.Errorf("message %d: placed %v, want %v", seq, m.placed(), placed)
		}
		checkPlaces(t, m, fieldtable.Lenient())
	}
}

// TestWarm only must not reach outside, whatever it is asked for.
func TestWarm(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	a := New(Config{MaxBytes: minMaxBytes})
	var want int
	for range 300 {
		want = int(put(a, specimens.Mix(r), nil))
	}
	put(a, encode.Table(func(e *encode.Encoder) { e.Str("large", string(make([]byte, 20_000))) }), make([]byte, 10_000))
	w := a.Writer()
	w.Begin(&wire.Delivery{}, epoch) // nothing at all, in a segment that is full or nearly
	w.Commit()
	s := a.Snapshot()
	if s.Last() != uint64(want)+2 || s.First() == 1 {
		t.Fatalf("messages %d to %d of %d", s.First(), s.Last(), want+2)
	}
	for i := range s.Segments() {
		g := s.Segment(i)
		for lo := range g.Len() + 2 {
			for _, hi := range []int{lo, lo + 1, lo + WarmMessages, g.Len(), g.Len() + 100} {
				asked := 0
				g.Warm(lo, hi, func(id uint16) (int, bool) {
					asked++
					if sh := s.Shape(id); sh != nil {
						return len(sh.Fields) - 1, asked%3 > 0
					}
					return -1, true
				})
				if limit := max(0, min(hi, g.Len(), lo+WarmMessages)-lo); asked != limit {
					t.Fatalf("Warm(%d, %d) of %d asks for %d messages, want %d", lo, hi, g.Len(), asked, limit)
				}
			}
		}
	}
}

// TestWarmBesideTheWriter is for the race detector: the writer is at work right behind short
// records.
func TestWarmBesideTheWriter(t *testing.T) {
	a := New(Config{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 20_000 {
			put(a, nil, nil)
		}
	}()
	for {
		s := a.Snapshot()
		g := s.Segment(s.Segments() - 1)
		g.Warm(max(0, g.Len()-WarmMessages), g.Len(), func(uint16) (int, bool) { return 0, true })
		select {
		case <-done:
			return
		default:
		}
	}
}
