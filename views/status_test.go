package views

import (
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/views/shell"
)

// TestEveryModeIsWorded: none falls back on what is said without one, and only drain is said to
// remove.
func TestEveryModeIsWorded(t *testing.T) {
	none := shell.ConductOf(source.Status{})
	for _, m := range source.Modes() {
		t.Run(string(m), func(t *testing.T) {
			c := shell.ConductOf(source.Status{Mode: m})
			if c.Doing == none.Doing || c.Badge == string(m) {
				t.Errorf("%+v", c)
			}
			if removes := c.Class == "takes"; removes != (m == source.Drain) {
				t.Errorf("class %q", c.Class)
			}
			var acknowledged string
			for _, f := range shell.SafetyFacts(source.Status{Mode: m, Acknowledged: 7}, time.Time{}) {
				if f.Value == "7" {
					acknowledged = f.Name
				}
			}
			want := map[source.Mode]string{
				source.Drain:  "Acknowledged, so removed",
				source.Copy:   "Acknowledged in the explorer's own queue",
				source.Stream: "Acknowledged to get more, removing nothing",
			}[m]
			if acknowledged != want {
				t.Errorf("acknowledging is called %q, want %q", acknowledged, want)
			}
		})
	}
}
