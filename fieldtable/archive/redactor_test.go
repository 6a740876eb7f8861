package archive

import (
	"bytes"
	"slices"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

func secretive() []byte {
	return headerOf(table(func(e *encode.Encoder) {
		e.Str("tenant", "acme")
		e.Str("token", secret)
		e.Str("session", secret)
	}), 0)
}

func TestRedactorWorksAsItsArchive(t *testing.T) {
	for _, list := range []string{"", "token", "t*", "*"} {
		a := redacting(t, list, nil)
		m := stored(t, a, secretive())
		payload := secretive()
		removed := a.Redactor().Redact(payload)
		if !bytes.Equal(payload, m.Header().Payload()) || !slices.Equal(removed, m.Removed()) {
			t.Errorf(
				"%q: %q with %v, but the archive has %q with %v",
				list,
				payload,
				removed,
				m.Header().Payload(),
				m.Removed(),
			)
		}
	}
}

// TestBeginRedacted: what was removed earlier stays marked, whatever the archive itself removes.
func TestBeginRedacted(t *testing.T) {
	payload := secretive()
	tokens := redacting(t, "token", nil).Redactor().Redact(payload)
	both := stored(t, redacting(t, "token,session", nil), secretive())
	for _, tc := range []struct {
		name string
		list string
		want []Span
	}{
		{"nothing more", "", tokens},
		{"the same", "token", tokens},
		{"more", "session", both.Removed()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := redacting(t, tc.list, nil)
			w := a.Writer()
			w.BeginRedacted(&wire.Delivery{Header: payload}, epoch, tokens)
			seq := w.Commit()
			m, err := a.Snapshot().Get(seq)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(m.Removed(), tc.want) {
				t.Errorf("%s: removed %v, want %v", tc.name, m.Removed(), tc.want)
			}
			if tc.list == "session" && !bytes.Equal(m.Header().Payload(), both.Header().Payload()) {
				t.Errorf("%s: %q", tc.name, m.Header().Payload())
			}
		})
	}
}

// TestBeginRedactedTakesNothingForGranted: spans from a damaged file are no danger.
func TestBeginRedactedTakesNothingForGranted(t *testing.T) {
	payload := secretive()
	var many []Span
	for i := range len(payload) {
		many = append(many, Span{i, i + 1})
	}
	for _, spans := range [][]Span{{{-5, 1 << 40}}, {{30, 20}}, {{1 << 40, 1 << 41}}, many} {
		a := New(Config{})
		w := a.Writer()
		w.BeginRedacted(&wire.Delivery{Header: payload}, epoch, spans)
		seq := w.Commit()
		m, err := a.Snapshot().Get(seq)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(m.Header().Payload(), payload) {
			t.Errorf("%v: the payload is now %q", spans, m.Header().Payload())
		}
		for _, s := range m.Removed() {
			if s.From < 0 || s.From >= s.To || s.To > len(payload) {
				t.Errorf("%v became %v", spans, m.Removed())
			}
		}
	}
}
