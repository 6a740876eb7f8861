package web

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
)

// withGaps serves messages that arrive a second apart from noon on, of a copy that was not
// connected from and to these milliseconds after noon.
func withGaps(t *testing.T, gaps ...[2]int) *fixture {
	t.Helper()
	return newFixture(t, func(c *Config, _ *archive.Config) {
		st := source.Status{State: source.Consuming, Mode: source.Copy, Name: "events"}
		for _, g := range gaps {
			at := func(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }
			st.Gaps = append(st.Gaps, source.Gap{From: at(g[0]), To: at(g[1])})
		}
		c.Sources[0].Status = func() source.Status { return st }
	})
}

// lines are the list's: sequence numbers, and the seconds of gaps.
func lines(html string) (got []string) {
	found := regexp.MustCompile(`data-seq="(\d+)"|not connected from [-0-9]+ 12:00:([.0-9]+) to [-0-9]+ 12:00:([.0-9]+) UTC: not copied`)
	for _, m := range found.FindAllStringSubmatch(html, -1) {
		if m[1] != "" {
			got = append(got, m[1])
		} else {
			got = append(got, m[2]+"-"+m[3])
		}
	}
	return got
}

// TestGapsStandBetweenTheMessages: an exchange copy that was not connected says so where the
// messages are missing.
func TestGapsStandBetweenTheMessages(t *testing.T) {
	f := withGaps(t, [2]int{1200, 1300}, [2]int{1500, 1600}, [2]int{3100, 3900}, [2]int{9000, 9900})
	f.fill(6) // at noon and 0 to 5 s
	for _, tc := range []struct {
		name, path string
		want       []string
	}{
		{"all", "/", []string{"6", "5", "03.100-03.900", "4", "3", "01.500-01.600", "01.200-01.300", "2", "1"}},
		{"a page that ends above one", "/?limit=2", []string{"6", "5", "03.100-03.900"}},
		{"the next page", "/?limit=2&before=5", []string{"4", "3", "01.500-01.600", "01.200-01.300"}},
		{"a filter that leaves out the neighbours", "/?q=tenant+%3D+t0", []string{"4", "01.500-01.600", "01.200-01.300", "1"}},
		{"sorted by something else", "/?cols=tenant&sort=tenant&limit=2", []string{"6", "5"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := lines(string(f.in(t).get(tc.path).body))
			if tc.name == "sorted by something else" {
				got = slices.DeleteFunc(got, func(s string) bool { return !strings.Contains(s, "-") })
				tc.want = nil
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%v, not %v", got, tc.want)
			}
		})
	}
	f.get("/").wantText("Not connected, and not copied", "4 times, last from")
}

// TestLiveRowsTellGaps: the first message after a gap brings the line.
func TestLiveRowsTellGaps(t *testing.T) {
	f := withGaps(t, [2]int{2100, 2900})
	f.fill(3)
	b := f.dialLive(t, "after=3")
	b.read()
	f.fill(1)
	if got := lines(fmt.Sprint(b.rows()["html"])); !slices.Equal(got, []string{"4", "02.100-02.900"}) {
		t.Errorf("%v", got)
	}
}
