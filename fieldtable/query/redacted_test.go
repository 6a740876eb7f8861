package query

import (
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// A filter neither finds nor excludes by what was removed. That a header is there, and its type,
// stay known.
func TestRemovedValuesAreUnknown(t *testing.T) {
	redact, err := archive.ParseRedaction("secret,$user_id")
	if err != nil {
		t.Fatal(err)
	}
	s := archived(archive.Config{Redact: redact}, testMessage{
		props: []wire.Property{{Name: "user_id", Raw: []byte("ann")}, {Name: "app_id", Raw: []byte("x")}},
		table: encode.Table(func(e *encode.Encoder) {
			e.Str("open", "v")
			e.Str("secret", "acme")
			e.Nested("outer", func(e *encode.Encoder) { e.Int32("secret", 7) })
			e.Array("list", func(e *encode.Encoder) {
				e.Nested("", func(e *encode.Encoder) { e.Str("secret", "a") })
			})
		}),
	})
	m, err := s.Get(1)
	if err != nil {
		t.Fatal(err)
	}
	for filter, want := range map[string]Verdict{
		"secret":                     Yes,
		"secret IS NOT NULL":         Yes,
		"type(secret) = S":           Yes,
		"type(secret) = int32":       No,
		"secret = acme":              Unknown,
		"secret = 'acme'":            Unknown,
		"secret = '****'":            Unknown,
		"secret <> acme":             Unknown,
		"NOT secret = acme":          Unknown,
		"secret LIKE '%'":            Unknown,
		"secret NOT LIKE 'a%'":       Unknown,
		"secret IN (a, '****')":      Unknown,
		"secret NOT IN (a)":          Unknown,
		"secret BETWEEN 'a' AND 'z'": Unknown,
		"secret > 3":                 Unknown,
		`"outer".secret = 0`:         Unknown,
		`"outer".secret = 7`:         Unknown,
		`NOT "outer".secret = 7`:     Unknown,
		`"outer".secret`:             Yes,
		"list[*].secret = a":         Unknown,
		"list[0].secret <> b":        Unknown,
		"$user_id = ann":             Unknown,
		"$user_id <> bob":            Unknown,
		"$user_id":                   Yes,
		"$app_id = x":                Yes,
		"open = v":                   Yes,
		"open = v AND secret = acme": Unknown,
		"open = v OR secret = acme":  Yes,
	} {
		q := compile(t, filter)
		var scratch Scratch
		if got := q.Match(m, nil, &scratch); got != want {
			t.Errorf("%s: %v, want %v", filter, got, want)
		}
		if got := q.Matcher(nil, nil).Match(s, m); (got == Yes) != (want == Yes) || got == Damaged {
			t.Errorf("%s with its shape: %v, want %v", filter, got, want)
		}
	}
}
