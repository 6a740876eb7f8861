package opened

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/views/address"
)

// repeatedTable has tenant n times among three other names.
func repeatedTable(n int) []byte {
	return encode.Table(func(e *encode.Encoder) {
		e.Str("a", "x")
		for i := range n {
			e.Str("tenant", strconv.Itoa(i%10))
		}
		e.Str("large", strings.Repeat("y", 1000))
		e.Str("b", "z")
	})
}

func treeOf(t *testing.T, encoded []byte, s address.State) Tree {
	t.Helper()
	o := TreeOptions{Links: address.Links{State: s}, Key: address.Key{Seq: 1}}
	return BuildTree(encoded, fieldtable.View(encoded, nil), nil, o)
}

func namesOf(tree Tree) string {
	var names []string
	for _, n := range tree.Nodes {
		var name strings.Builder
		for _, p := range n.Name {
			name.WriteString(p.Text)
		}
		if n.Repeated > 0 {
			name.WriteString(times(n.Repeated))
		}
		names = append(names, name.String())
	}
	return strings.Join(names, " ")
}

func TestRepeatedNames(t *testing.T) {
	for _, c := range []struct {
		name  string
		n     int
		state address.State
		want  string
	}{
		{"few stand each", 3, address.State{}, "a tenant tenant tenant large b"},
		{"many stand together", 5000, address.State{}, "a tenant×5000 large b"},
		{"by name", 5000, address.State{Sorted: true}, "a b large tenant×5000"},
		{"by size", 5000, address.State{BySize: true}, "tenant×5000 large a b"},
		{"few by size", 3, address.State{BySize: true}, "large tenant tenant tenant a b"},
		{"by sender", 5000, address.State{Packs: true}, " a tenant×5000 large b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := treeOf(t, repeatedTable(c.n), c.state)
			if got := namesOf(tree); got != c.want || tree.Fields != c.n+3 || tree.Unsorted {
				t.Errorf("%s of %d fields, unsorted %v; want %s", got, tree.Fields, tree.Unsorted, c.want)
			}
		})
	}
}

// A line for many fields has the size of them all, and leads to each of them and to messages like
// it.
func TestRepeatedNameIsMeasured(t *testing.T) {
	encoded := repeatedTable(5000)
	n := treeOf(t, encoded, address.State{}).Nodes[1]
	// A field has 1 + 6 octets of name, a tag, 4 octets of length and one of text: 13.
	if n.Bytes != 5000*13 || n.Share != "98 % of the table" || n.RepeatIs != "duplicate(tenant)" || n.Value.Kind != "longstr" {
		t.Errorf("%+v", n)
	}
	if !strings.Contains(n.EachURL, "each=1") {
		t.Errorf("leads to %s", n.EachURL)
	}
	each := treeOf(t, encoded, address.State{Each: true})
	if len(each.Nodes) != pageNodes || each.Count != 5003 || each.Nodes[1].Duplicate != "first of 5000" || each.Repeats {
		t.Errorf("%d nodes of %d, the second %q", len(each.Nodes), each.Count, each.Nodes[1].Duplicate)
	}
}

func TestTooLargeForAFrame(t *testing.T) {
	encoded := repeatedTable(1)
	// large has 1 + 5 octets of name, a tag, 4 octets of length and 1,000 of text: 1,011; the frame
	// and what comes before the properties take 8 + 14.
	for _, c := range []struct {
		frameMax int
		want     bool
	}{{0, false}, {1011 + 22, false}, {1011 + 21, true}} {
		o := TreeOptions{FrameMax: c.frameMax}
		if n := BuildTree(encoded, fieldtable.View(encoded, nil), nil, o).Nodes[2]; n.TooLarge != c.want {
			t.Errorf("frame_max %d: %v", c.frameMax, n.TooLarge)
		}
	}
}

// The largest table that fits into a frame of a broker with a limit of 16 MiB is drawn as fast as a
// small one is.
func TestRepeatedNamesAreCheap(t *testing.T) {
	encoded := repeatedTable(1_000_000)
	for _, s := range []address.State{{}, {BySize: true}, {Each: true}, {Each: true, Skip: 900_000}} {
		start := time.Now()
		tree := treeOf(t, encoded, s)
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%+v took %v", s, took)
		}
		if len(tree.Nodes) > pageNodes {
			t.Errorf("%d nodes", len(tree.Nodes))
		}
	}
}
