package web

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// upload sends a file and goes where the answer leads.
func (f *fixture) upload(file string) *response {
	f.t.Helper()
	r := f.send(nil, "file", file)
	if r.StatusCode == http.StatusSeeOther {
		return f.get(r.Header.Get("Location"))
	}
	return r
}

// An export.pcapng is as good a capture as any: Wireshark's dissector reads the same out of it.
func TestInspectACapture(t *testing.T) {
	f := newFixture(t)
	f.add(message{exchange: "orders", key: "<b>placed", headers: table("tenant", "acme", "x", "1")})
	f.add(message{key: "k", headers: []byte{0, 0, 0, 5, 3, 'b', 'a', 'd', 'Z'}})
	file := string(f.get("/export.pcapng").want(http.StatusOK).body)

	page := f.upload(file)
	page.want(http.StatusOK).
		wantText("2 messages in this capture", "orders", "&lt;b&gt;placed", noon.Format("15:04:05.000"))
	var opened []string
	for n := range page.html().Descendants() {
		if href, _ := attr(n, "href"); strings.HasPrefix(href, "/inspect?as=header") {
			opened = append(opened, href)
		}
	}
	if len(opened) != 2 {
		t.Fatalf("links to open messages: %q", opened)
	}
	f.get(opened[0]).want(http.StatusOK).wantText("read as a content header", "tenant", "acme", "2 fields")
	f.get(opened[1]).want(http.StatusOK).wantText("read as a content header", "Damaged")
	if stored := f.archive.Stats().Stored; stored != 2 {
		t.Errorf("the explorer keeps %d messages, want the 2 that arrived", stored)
	}
}

func TestInspectALargeCapture(t *testing.T) {
	f := newFixture(t)
	for i := range 150 {
		f.add(message{key: "k", headers: table("n", fmt.Sprint(i))})
	}
	f.add(message{key: "k", headers: table("large", strings.Repeat("x", 2000))})
	file := string(f.get("/export.pcapng").want(http.StatusOK).body)
	f.upload(file).want(http.StatusOK).wantText("151 messages in this capture", "and 51 more", "headerglass replay")
	f.upload(file[:len(file)/2]).want(http.StatusOK).wantText("messages in this capture", "the capture: ")
}

func TestInspectACaptureOfNothing(t *testing.T) {
	f := newFixture(t)
	for _, octets := range []string{"d4c3b2a102000400", "0a0d0d0a", "a1b23c4d"} {
		f.get("/inspect?hex="+octets).
			want(http.StatusOK).
			wantText("No AMQP 0-9-1 message is in this capture", "the capture: ")
	}
	b, err := hex.DecodeString("1f8b08000000000000ff")
	if err != nil {
		t.Fatal(err)
	}
	f.upload(string(b)).want(http.StatusBadRequest).wantText("compressed with gzip", "headerglass replay")
}
