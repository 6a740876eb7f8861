package query

import (
	"encoding/hex"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

func TestDamagedTable(t *testing.T) {
	m := one(t, encode.Table(func(e *encode.Encoder) {
		e.Int32("retries", 3)
		e.Int32("twice", 1)
		e.Int32("twice", 2)
		e.Value("bad", 'Z', []byte{1})
		e.Str("behind", "x")
	}))
	checkVerdicts(t, m, []verdictCase{
		{"retries = 3", Yes},
		{"retries = 4", No},
		{"retries", Yes},
		{"malformed()", Yes},
		{"bad", Damaged},
		{"behind", Damaged},
		{"NOT behind", Damaged},
		{"behind = x", Damaged},
		{"behind IS NULL", Damaged},
		{"type(behind) = S", Damaged},
		{"behind = x AND retries = 3", Damaged},
		{"behind = x AND retries = 4", No},
		{"behind = x OR retries = 3", Yes},
		{"duplicate()", Yes},
		{"duplicate(twice)", Yes},
		{"duplicate(retries)", Damaged},
		{"duplicate(behind)", Damaged},
		{"$size = 0 OR behind", Yes},
		{"$header_count = 3", Yes},
	})
}

func TestWholeTableDamage(t *testing.T) {
	tables := map[string][]byte{
		"length truncated": {0, 0, 0},
		"overrun":          encode.Claiming(100, func(e *encode.Encoder) { e.Int32("a", 1) }),
	}
	for name, table := range tables {
		t.Run(name, func(t *testing.T) {
			checkVerdicts(t, one(t, table), []verdictCase{
				{"malformed()", Yes}, {"a", Damaged}, {"a = 1", Damaged}, {"duplicate()", Damaged}, {"$headers", Yes},
			})
		})
	}
	t.Run("no headers property", func(t *testing.T) {
		checkVerdicts(t, one(t, nil), []verdictCase{
			{"malformed()", No},
			{"a", No},
			{"a = 1", Unknown},
			{"a IS NULL", Yes},
			{"duplicate()", No},
			{"duplicate(a)", No},
			{"$headers", No},
			{"$header_bytes = 0", Unknown},
			{"$header_count = 0", Yes},
		})
	})
	t.Run("content header cut before the table", func(t *testing.T) {
		payload := wire.AppendContentHeaderPayload(nil, 0, wire.Property{
			Name: "headers",
			Raw:  []byte{0, 0, 0, 0},
		}, wire.Property{
			Name: "priority",
			Raw:  []byte{1},
		})
		a := archive.New(archive.Config{MaxBytes: 1 << 20})
		a.Writer().Begin(&wire.Delivery{Header: payload[:len(payload)-5]}, testTime)
		a.Writer().Commit()
		m, err := a.Snapshot().Get(1)
		if err != nil {
			t.Fatal(err)
		}
		checkVerdicts(t, m, []verdictCase{
			{"malformed()", Yes}, {"a", Damaged}, {"a = 1", Damaged}, {"duplicate(a)", Damaged}, {"$headers", Damaged},
			{"$priority = 1", Damaged}, {"$message_id", No}, {"$message_id = x", Unknown},
		})
	})
}

// A content header is damaged too where its other properties are: each of these has a header table
// that is whole, or none.
func TestDamageBesideTheTable(t *testing.T) {
	for _, c := range []struct{ name, payload string }{
		{"a text after the table overruns", "003c000000000000000000002080" + "0000000a01615300000003616263" + "206162"},
		{"a text before the table overruns", "003c000000000000000000008000" + "206162"},
		{"an octet is missing", "003c000000000000000000003000" + "00000000"},
		{"a timestamp is cut", "003c000000000000000000002040" + "00000000" + "00000000"},
		{"octets follow the last property", "003c000000000000000000002000" + "00000000" + "00"},
		{"a flag that class basic does not define", "003c000000000000000000002002" + "00000000"},
		{"the flags go on and end", "003c000000000000000000002001"},
		{"the fixed part is cut", "003c0000"},
	} {
		runCase(t, c.name, func(t *testing.T) {
			runCase(t, c.name, func(t *testing.T) {
				payload, err := hex.DecodeString(c.payload)
				if err != nil {
					t.Fatal(err)
				}
				a := archive.New(archive.Config{MaxBytes: 1 << 20})
				a.Writer().Begin(&wire.Delivery{Header: payload}, testTime)
				a.Writer().Commit()
				s := a.Snapshot()
				m, err := s.Get(1)
				if err != nil {
					t.Fatal(err)
				}
				if !m.Marks().Damaged {
					t.Error("not marked")
				}
				checkVerdicts(t, m, []verdictCase{{"malformed()", Yes}, {"NOT malformed()", No}})
				for filter, want := range map[string]uint64{"malformed()": 1, "NOT malformed()": 0} {
					q := compile(t, filter)
					if n, err := q.Count(t.Context(), s, PageRequest{}); err != nil || n.Matched != want {
						t.Errorf("%s counts %d, want %d: %v", filter, n.Matched, want, err)
					}
				}
			})
		})
	}
}
