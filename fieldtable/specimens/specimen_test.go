package specimens_test

import (
	"errors"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/specimens"
)

func TestSpecimensAreWhatTheySay(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range specimens.Specimens() {
		if seen[s.Name] || s.Name == "" || s.Note == "" {
			t.Errorf("%q: a name used twice, or no name or note", s.Name)
		}
		seen[s.Name] = true
		name := s.Dialect
		if name == "" {
			name = fieldtable.Lenient().Name()
		}
		dialect, err := fieldtable.DialectByName(name)
		if err != nil {
			t.Fatal(err)
		}
		err = fieldtable.View(s.Encoded, dialect).Valid()
		reason := ""
		if damage, ok := errors.AsType[*fieldtable.SyntaxError](err); ok {
			reason = damage.Reason()
		}
		if reason != s.Damage {
			t.Errorf("%s: %v, want %q", s.Name, err, s.Damage)
		}
	}
}

// every tag of every dialect and every reason for damage must be somewhere in the corpus.
func TestSpecimensAreComplete(t *testing.T) {
	tags := map[byte]bool{}
	reasons := map[string]bool{}
	for _, s := range specimens.Specimens() {
		reasons[s.Damage] = true
		dialect := fieldtable.Lenient()
		if s.Dialect != "" {
			dialect, _ = fieldtable.DialectByName(s.Dialect)
		}
		for f := range fieldtable.View(s.Encoded, dialect).All() {
			tags[f.Value.Tag()] = true
		}
	}
	for _, dialect := range fieldtable.Dialects() {
		for tag := range 256 {
			if dialect.Kind(byte(tag)) != fieldtable.KindInvalid && !tags[byte(tag)] {
				t.Errorf("no specimen has the tag %c of %s", tag, dialect.Name())
			}
		}
	}
	for _, reason := range []string{"", "table_length_truncated", "table_length_overrun", "trailing_bytes", "name_truncated", "missing_tag",
		"unknown_tag", "value_truncated", "length_truncated", "length_overrun", "depth_exceeded"} {
		if !reasons[reason] {
			t.Errorf("no specimen has the damage %q", reason)
		}
	}
}
