package archive

import (
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// A shape is new where only messages since a time have it, whichever segments they are in.
func TestNewShapes(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	for _, tt := range []struct {
		name   string
		shapes []string // the header of the message received at each second
		since  int
		want   int
		ok     bool
	}{
		{"nothing", nil, 0, 0, false},
		{"nothing older", []string{"a", "b"}, 0, 2, false},
		{"one is new", []string{"a", "b", "a", "c", "c"}, 3, 1, true},
		{"none is new", []string{"a", "b", "a"}, 2, 0, true},
		{"all are old", []string{"a", "b"}, 9, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := New(Config{MaxBytes: 8 << 20, SegmentBytes: 4 << 10})
			w := a.Writer()
			for i, name := range tt.shapes {
				for range 20 { // more than one segment
					table := encode.Table(func(e *encode.Encoder) { e.Str(name, strings.Repeat("x", 500)) })
					header := wire.AppendContentHeaderPayload(nil, 0, wire.Property{Name: "headers", Raw: table})
					w.Begin(&wire.Delivery{Header: header}, start.Add(time.Duration(i)*time.Second))
					w.Commit()
				}
			}
			since := start.Add(time.Duration(tt.since) * time.Second)
			if n, ok := a.Snapshot().NewShapes(since); n != tt.want || ok != tt.ok {
				t.Errorf("%d, %t, want %d, %t", n, ok, tt.want, tt.ok)
			}
		})
	}
}
