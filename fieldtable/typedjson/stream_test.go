package typedjson_test

import (
	"bytes"
	"errors"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/fieldtable/typedjson"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// largest notes the longest write.
type largest struct {
	bytes.Buffer
	most int
}

func (l *largest) Write(b []byte) (int, error) {
	l.most = max(l.most, len(b))
	return l.Buffer.Write(b)
}

func messageOf(t *testing.T, table, body []byte) archive.Message {
	t.Helper()
	a := archive.New(archive.Config{MaxBytes: 64 << 20, BodyLimit: 8 << 20})
	header := wire.AppendContentHeaderPayload(nil, uint64(len(body)), wire.Property{Name: "headers", Raw: table})
	w := a.Writer()
	w.Begin(&wire.Delivery{Header: header, BodySize: uint64(len(body))}, time.Unix(0, 0))
	w.Body(body)
	w.Commit()
	m, err := a.Snapshot().Get(1)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// What is written in pieces is what is appended, and no piece is large.
func TestStreamsWriteWhatIsAppended(t *testing.T) {
	long := strings.Repeat("é\u2028<x", 100_000)
	for _, tt := range []struct {
		name  string
		table []byte
		body  []byte
	}{
		{"empty", encode.Table(func(*encode.Encoder) {}), nil},
		{"a mix", specimens.Mix(rand.New(rand.NewSource(1))), []byte("body")},
		{"many fields", append([]byte{0, 0x06, 0x1a, 0x80}, bytes.Repeat([]byte{0, 'V'}, 200_000)...), nil},
		{"a long text", encode.Table(func(e *encode.Encoder) { e.Str("a", long); e.Str("b", "x"+long) }), nil},
		{"no text", encode.Table(func(e *encode.Encoder) { e.Str("a", "\xff"+long) }), nil},
		{"a long body", encode.Table(func(*encode.Encoder) {}), bytes.Repeat([]byte("body"), 100_001)},
		{"damage", []byte{0, 0, 0, 9, 1, 'k', 'Z'}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, d := messageOf(t, tt.table, tt.body), fieldtable.Lenient()
			for name, write := range map[string]func(*largest) error{
				string(typedjson.AppendMessage(nil, m, d)): func(w *largest) error {
					_, err := typedjson.WriteMessage(w, nil, m, d, nil)
					return err
				},
				string(typedjson.AppendWhole(nil, m, d)): func(w *largest) error {
					_, err := typedjson.WriteWhole(w, nil, m, d)
					return err
				},
			} {
				var w largest
				if err := write(&w); err != nil {
					t.Fatal(err)
				}
				if w.String() != name {
					t.Errorf("wrote %d bytes, appended %d, and they differ", w.Len(), len(name))
				}
				if w.most > 128<<10 {
					t.Errorf("%d bytes were written at once", w.most)
				}
			}
			headers, _ := m.HeaderTable()
			table := fieldtable.View(headers, d).Scan()
			for table.Next() {
				v := table.Field().Value
				var w largest
				if _, err := typedjson.WriteValue(&w, nil, v); err != nil ||
					w.String() != string(typedjson.AppendValue(nil, v)) {
					t.Fatalf("a value of tag %c differs: %v", v.Tag(), err)
				}
			}
		})
	}
}

type broken struct{ writes int }

func (b *broken) Write([]byte) (int, error) {
	b.writes++
	return 0, errors.New("gone")
}

// Nothing more is made for a reader who is gone.
func TestStreamsEndWithTheirReader(t *testing.T) {
	m := messageOf(t, append([]byte{0, 0x06, 0x1a, 0x80}, bytes.Repeat([]byte{0, 'V'}, 200_000)...), nil)
	var w broken
	if _, err := typedjson.WriteMessage(&w, nil, m, fieldtable.Lenient(), nil); err == nil || w.writes != 1 {
		t.Errorf("%v after %d writes", err, w.writes)
	}
}
