package kit

import (
	"strings"
	"testing"

	"github.com/headerglass/headerglass/views/viewtest"
)

func TestOptionsAreNotBroken(t *testing.T) {
	const want = `A larger <span class="option">--memory</span> keeps &lt;12` + narrowSpace + `340&gt;.`
	got := viewtest.Render(t, ProblemPanel(&Problem{Hint: "A larger --memory keeps <" + Num(12340) + ">."}))
	if !strings.Contains(got, want) {
		t.Errorf("an option may be broken in %s", got)
	}
}
