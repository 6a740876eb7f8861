package views

import (
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/source"
)

// TestEveryModeIsWorded: none falls back on what is said without one, and only drain is said to remove.
func TestEveryModeIsWorded(t *testing.T) {
	none := conductOf(source.Status{})
	for _, m := range source.Modes() {
		t.Run(string(m), func(t *testing.T) {
			c := conductOf(source.Status{Mode: m})
			if c.doing == none.doing || c.badge == string(m) {
				t.Errorf("%+v", c)
			}
			if removes := c.class == "takes"; removes != (m == source.Drain) {
				t.Errorf("class %q", c.class)
			}
			var acknowledged string
			for _, f := range safetyFacts(source.Status{Mode: m, Acknowledged: 7}, time.Time{}) {
				if f.value == "7" {
					acknowledged = f.name
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
