package opened

import (
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/viewtest"
)

// TestExpirationOfQpidIsATime: under the dialect of Qpid that is known, elsewhere guessed.
func TestExpirationOfQpidIsATime(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		dialect    *fieldtable.Dialect
		noted      bool
		guess      bool
	}{
		{"Qpid", "1700000000123", fieldtable.QpidJava(), true, false},
		{"elsewhere", "1700000000123", fieldtable.Lenient(), true, true},
		{"a duration", "60000", fieldtable.QpidJava(), false, false},
		{"a month", "2592000000", fieldtable.Lenient(), false, false},
		{"no number", "soon", fieldtable.QpidJava(), false, false},
		{"beyond all years", "9223372036854775807", fieldtable.QpidJava(), false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			row := NewProperty(wire.Property{Name: "expiration", Raw: []byte(tt.text)}, nil, tt.dialect, viewtest.Now)
			if (len(row.Notes) > 0) != tt.noted {
				t.Fatalf("%+v", row.Notes)
			}
			if !tt.noted {
				return
			}
			if row.Notes[0].Text != "the time at which it expires" || row.Notes[0].Guess != tt.guess {
				t.Errorf("%+v", row.Notes[0])
			}
			if got := row.Notes[1].Time.UnixMilli(); got != 1700000000123 {
				t.Errorf("%d", got)
			}
		})
	}
}
