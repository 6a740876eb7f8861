package opened

import (
	"strings"
	"testing"

	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/viewtest"
)

func TestDamageBanner(t *testing.T) {
	in := Build(facts.Message{Seq: 1, HasHeaders: true, Headers: viewtest.DamagedTable()}, Options{})
	in.Headers.Others = []DialectOption{{Name: "lenient"}, {Name: "rabbitmq"}, {Name: "qpid"}}
	const want = "Read as lenient or rabbitmq or qpid the bytes make a whole table."
	if got := viewtest.Words(viewtest.Render(t, damageBanner(&in))); !strings.Contains(got, want) {
		t.Errorf("no %q in %s", want, got)
	}
}
