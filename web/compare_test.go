package web

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

func TestDiff(t *testing.T) {
	f := newFixture(t)
	f.add(message{exchange: "e", key: "a", headers: table("k", "1")})
	f.add(message{exchange: "e", key: "b", headers: table("k", "2")})
	f.add(message{exchange: "x", key: "a", headers: table("k", "3")})
	f.add(message{exchange: "e", key: "a", headers: table("k", "<i>4</i>")})

	before := f.FullDecodes()
	f.get("/diff?m=1&m=4").want(http.StatusOK).wantText("Compare 2 messages", "Different", "&lt;i&gt;4&lt;/i&gt;")
	if n := f.FullDecodes() - before; n != 2 {
		t.Errorf("%d full decodes", n)
	}
	f.get("/diff?m=1,4,2&m=4").want(http.StatusOK).wantText("Compare 3 messages")
	f.get("/diff").want(http.StatusOK).wantText("Compare messages")
	f.get("/diff?m=1").want(http.StatusOK).wantText("Add message")
	f.get("/diff?m=1&m=9").want(http.StatusNotFound).wantText("There is no message 9 yet.")
	f.get("/diff?m=1&m=9", "Accept", "text/html").
		want(http.StatusNotFound).
		wantText("There is no message 9 yet.", "<html")
	if r := f.get("/diff?m=9", "Accept", "*/*").want(http.StatusNotFound); string(
		r.body,
	) != "There is no message 9 yet.\n" {
		t.Errorf("who is no browser reads %s", r.body)
	}
	f.get("/diff?m=1&m=4&m=9").want(http.StatusOK).wantText("There is no message 9 yet.", "Compare 2 messages")
	for _, q := range []string{"m=0", "m=x", "m=-1", "m=1.5", "m=1,2,3,4,5,6,7,8,9", "m=1&with=sideways", "with=older", "m=1&m=2&with=older", "m=1&dialect=nope"} {
		f.get("/diff?" + q).want(http.StatusBadRequest)
	}
	f.get("/diff?m=4&with=older").want(http.StatusSeeOther).wantHeader("Location", "/diff?m=4&m=1")
	f.get("/diff?m=1&with=newer").want(http.StatusSeeOther).wantHeader("Location", "/diff?m=1&m=4")
	f.get("/diff?m=1&with=older").want(http.StatusNotFound).wantText("No older message kept here")
	f.get("/diff?m=9&with=older").want(http.StatusNotFound)
	f.get("/m/1").wantText(`href="/diff?m=1&amp;with=older"`, `action="/diff"`)
}

func TestDiffOfEvicted(t *testing.T) {
	f := newFixture(t, func(_ *Config, a *archive.Config) { a.MaxBytes, a.SegmentBytes = 256<<10, 64<<10 })
	for range 600 {
		f.add(message{key: "k", headers: table("k", "v"), body: make([]byte, 1000)})
	}
	u := func(n uint64) string { return strconv.FormatUint(n, 10) }
	first, last := f.archive.Snapshot().First(), f.archive.Snapshot().Last()
	if first < 2 {
		t.Fatal("nothing was evicted")
	}
	f.get("/diff?m=1&m=" + u(last)).want(http.StatusGone).wantText("Message 1 was kept once and has been evicted.")
	f.get("/diff?m=1&m=" + u(last) + "&m=" + u(last-1)).want(http.StatusOK).wantText("Message 1 was kept once")
	f.get("/diff?m=1&with=newer").want(http.StatusGone)
}
