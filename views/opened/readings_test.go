package opened

import (
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
)

func TestTogether(t *testing.T) {
	got := together([]fieldtable.Other{
		{Client: "Go", Version: "1", Text: "", Why: "last"},
		{Client: "Java", Version: "1", Text: "5", Why: "ms"},
		{Client: "Node", Version: "1", Text: "", Why: "last"},
		{Client: "Ruby", Version: "1", Text: "", Why: "last", Fatal: true},
	})
	want := []string{"Go 1, Node 1", "Java 1", "Ruby 1"}
	if len(got) != len(want) {
		t.Fatalf("%d groups, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i].clients != want[i] {
			t.Errorf("group %d is %s, want %s", i, got[i].clients, want[i])
		}
	}
}
