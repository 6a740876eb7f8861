package views

import (
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/kit"
	"github.com/headerglass/headerglass/views/shell"
	"github.com/headerglass/headerglass/views/viewtest"
)

func TestGoldens(t *testing.T) {
	frame := shell.Frame{
		Title:  "No such page",
		Links:  address.Links{Base: "/explore"},
		Broker: source.Status{Mode: source.Replay, State: source.Replayed, Name: "export.jsonl"},
		Now:    viewtest.Now,
	}
	problem := &kit.Problem{
		Status: 404,
		Title:  "No such page",
		Msg:    "There is nothing at <this address>.",
		Hint:   "Raise --memory to keep more.",
		Action: "To the messages",
		URL:    "/explore/",
	}
	listing := &Listing{Size: 1, As: "field table", Table: []byte("tenant S acme\n")}
	for _, tt := range []struct {
		name string
		draw templ.Component
	}{
		{"error", ErrorPage(frame, problem)},
		{"paste", pasteForm(frame.Links, Paste{MaxBytes: 1 << 20, Text: "0x", Error: "That is not hex."})},
		{"text", asText(listing)},
		{"closed", InspectorPane(frame.Links, nil, nil)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// The help, which every page has, is the language's own.
			html, _, _ := strings.Cut(viewtest.Render(t, tt.draw), `<div id="help"`)
			viewtest.GoldenHTML(t, tt.name+".html", html)
		})
	}
}
