package listing

import (
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/views/viewtest"
)

// TestStoppedDoesNotKeepTrying: the two are never said together.
func TestStoppedDoesNotKeepTrying(t *testing.T) {
	for _, state := range source.States() {
		t.Run(string(state), func(t *testing.T) {
			var p Page
			p.Broker = source.Status{Mode: source.Peek, State: state, Error: "it failed"}
			html := viewtest.Render(t, emptyList(p))
			trying, stopped := strings.Contains(
				html,
				"keeps trying",
			), strings.Contains(
				html,
				"does not read on by itself",
			)
			if want := state == source.Stopped; stopped != want || trying == want {
				t.Errorf("trying %t, stopped %t", trying, stopped)
			}
		})
	}
}
