package opened

import (
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
)

func TestTogether(t *testing.T) {
	got := together([]fieldtable.Other{
		{Client: "Go", Text: "", Why: "last"},
		{Client: "Java", Text: "5", Why: "ms"},
		{Client: "Node", Text: "", Why: "last"},
		{Client: "Ruby", Text: "", Why: "last", Fatal: true},
	})
	want := []string{"Go, Node", "Java", "Ruby"}
	if len(got) != len(want) {
		t.Fatalf("%d groups, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i].clients != want[i] {
			t.Errorf("group %d is %s, want %s", i, got[i].clients, want[i])
		}
	}
}
