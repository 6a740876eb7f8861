package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/wire"
)

func TestExportJSONL(t *testing.T) {
	f := newFixture(t)
	f.fill(450)
	f.add(message{key: "odd", headers: []byte{0, 0, 0, 9, 1, 'k', 'Z'}, body: []byte{0xff, 0}})
	r := f.get("/export.jsonl").want(http.StatusOK).wantHeader("Content-Type", "application/jsonl")
	var got []string
	for line := range bytes.Lines(r.body) {
		var m struct {
			Seq     json.Number `json:"seq"`
			Headers any         `json:"headers"`
			Content []byte      `json:"content_header_base64"`
			Body    []byte      `json:"body_base64"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		got = append(got, m.Seq.String())
		if want := f.get("/api/messages/" + m.Seq.String()).body; !bytes.HasPrefix(line, want[:len(want)-2]) {
			t.Errorf("message %s is %s, the API has %s", m.Seq, line, want)
		}
		if m.Seq == "451" {
			h := wire.ViewContentHeader(m.Content)
			if table, _ := h.HeaderTable(); string(table) != "\x00\x00\x00\x09\x01kZ" || string(m.Body) != "\xff\x00" {
				t.Errorf("the octets changed: %x, %x", table, m.Body)
			}
		}
	}
	var want []string
	for i := range 451 {
		want = append(want, strconv.Itoa(i+1))
	}
	if !slices.Equal(got, want) {
		t.Errorf("exported %v", got)
	}
	if n := f.FullDecodes(); n != 2*451 {
		t.Errorf("%d decodes counted, want one for each message exported and each opened", n)
	}
}
