package address

import (
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// full has every parameter of a state at another value than zero.
const full = "q=a&filter=k&and=e&before=1&after=2&cols=b&tz=Europe/Berlin&from=2026-01-31T10:00:00Z&to=2026-02-01T10:00:00Z&" +
	"dialect=spec&order=az&each=1&at=4&skip=5&hex=6&b=7-8&body=9&tab=code&lang=go&view=full&limit=10&facet=c&find=n&sort=d:desc&damaged=1&" +
	"all=1"

func TestParameters(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Parameters() {
		if p.Name == "" || p.Meaning == "" || p.Pages == 0 || seen[p.Name] {
			t.Errorf("%q is there twice, or says too little: %+v", p.Name, p)
		}
		seen[p.Name] = true
	}
}

// Each parameter of a state is read from its own name and written under it; the states of the list
// and of its newest page keep what the table says that they take.
func TestStatesFollowTheTable(t *testing.T) {
	given, err := url.ParseQuery(full)
	if err != nil {
		t.Fatal(err)
	}
	s, bad := Parse(given)
	if len(bad) > 0 || s.Encode() != given.Encode() {
		t.Errorf("read and written again: %s (bad: %v), want %s", s.Encode(), bad, given.Encode())
	}
	var state, list, newest []string
	for _, p := range Parameters() {
		if p.read == nil {
			continue
		}
		state = append(state, p.Name)
		if p.Pages&OnList == 0 {
			continue
		}
		list = append(list, p.Name)
		if p.Name != "before" && p.Name != "after" {
			newest = append(newest, p.Name)
		}
	}
	for _, tt := range []struct {
		name string
		s    State
		want []string
	}{
		{"everything", s, state},
		{"list", s.inList(), list},
		{"newest page", s.fromStart(), newest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := slices.Sorted(maps.Keys(values(t, tt.s)))
			if want := slices.Sorted(slices.Values(tt.want)); !slices.Equal(got, want) {
				t.Errorf("keeps %v, want %v", got, want)
			}
		})
	}
}

// The scripts name no parameter that is not in the table.
func TestScriptsNameParameters(t *testing.T) {
	known := map[string]bool{}
	for _, p := range Parameters() {
		known[p.Name] = true
	}
	files, err := filepath.Glob("../../static/*.js")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	use := regexp.MustCompile(`(?:searchParams|state)\.(?:get|getAll|set|has|delete|append)\("(\w+)"`)
	list := regexp.MustCompile(`const name of \[([^\]]*)\]`)
	word := regexp.MustCompile(`"(\w+)"`)
	found := 0
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		names := use.FindAllSubmatch(src, -1)
		for _, l := range list.FindAllSubmatch(src, -1) {
			names = append(names, word.FindAllSubmatch(l[1], -1)...)
		}
		for _, name := range names {
			found++
			if !known[string(name[1])] {
				t.Errorf("%s names %s, which no page takes", file, name[1])
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d uses of a parameter found", found)
	}
}
