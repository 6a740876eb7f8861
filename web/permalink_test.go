package web

import (
	"fmt"
	"hash/crc32"
	"net/http"
	"testing"
)

// A link with a print shows the message that it was made of, whatever number that has now, and
// never another one.
func TestPermalink(t *testing.T) {
	f := newFixture(t)
	f.fill(2)
	f.add(message{headers: table("tenant", "acme"), body: []byte("the one")})
	f.fill(1)
	m, err := f.archive.Snapshot().Get(3)
	if err != nil {
		t.Fatal(err)
	}
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	sum.Write(m.Header().Payload())
	sum.Write([]byte("the one"))
	print := fmt.Sprintf("%08x", sum.Sum32())

	f.get("/m/3").want(http.StatusOK).wantText(`data-link="/m/3?f=` + print + `"`)
	f.get("/m/3?f=" + print).want(http.StatusOK)
	for _, other := range []string{"2", "4", "9"} { // another message, and none yet
		f.get("/m/"+other+"?f="+print).want(http.StatusFound).wantHeader("Location", "/m/3?f="+print)
	}
	for _, other := range []string{"3", "9"} {
		f.get("/m/" + other + "?f=0000abcd").want(http.StatusGone).wantText("This link is from an earlier run")
	}
	s := newSeveral(t, 4)
	m, err = s.archives[1].Snapshot().Get(2)
	if err != nil {
		t.Fatal(err)
	}
	print = fmt.Sprintf("%08x", m.Print())
	s.get("/s/payments.dlq/m/1?f="+print).want(http.StatusFound).wantHeader("Location", "/s/payments.dlq/m/2?f="+print)
	s.get("/s/orders/m/1?f=" + print).want(http.StatusGone) // each source by itself
	f.get("/m/3?f=1").want(http.StatusBadRequest)
	f.get("/m/x?f=" + print).want(http.StatusNotFound)
}
