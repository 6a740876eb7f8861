package views

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/static"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/kit"
	"github.com/headerglass/headerglass/views/listing"
	"github.com/headerglass/headerglass/views/opened"
	"github.com/headerglass/headerglass/views/shell"
	"github.com/headerglass/headerglass/views/viewtest"
)

func fixturePage(f fixture) templ.Component {
	if f.draw != nil {
		return f.draw(f.page)
	}
	if f.failed {
		return ErrorPage(f.page.Frame, f.page.Problem)
	}
	return Document(f.page)
}

// The policy forbids them, and nothing a publisher sends may bring them in.
func TestPagesHoldNoInlineCode(t *testing.T) {
	assets, err := static.New()
	if err != nil {
		t.Fatal(err)
	}
	tag := regexp.MustCompile(`<[a-zA-Z][^>]*>`)
	forbidden := regexp.MustCompile(`(?i)\s(style|on[a-z]+|hx-on[^=]*|hx-vals|srcdoc)\s*=|javascript:`)
	scripts := 0
	for _, f := range fixtures(t, assets) {
		html := viewtest.Render(t, fixturePage(f))
		for _, m := range tag.FindAllString(html, -1) {
			// Attribute values are quoted and escaped, so what stands outside quotes is ours.
			bare := regexp.MustCompile(`"[^"]*"`).ReplaceAllString(m, `""`)
			if forbidden.MatchString(bare) {
				t.Errorf("%s: %s", f.name, m)
			}
			switch {
			case strings.HasPrefix(m, "<script"):
				scripts++
				if !strings.Contains(m, ` src="/static/`) {
					t.Errorf("%s: %s", f.name, m)
				}
			case strings.HasPrefix(m, "<style"),
				strings.HasPrefix(m, "<iframe"),
				strings.HasPrefix(m, "<img"),
				strings.HasPrefix(m, "<object"):
				t.Errorf("%s: %s", f.name, m)
			}
		}
	}
	if scripts == 0 {
		t.Error("no script was looked at")
	}
}

func TestHostileTextIsInertAndExact(t *testing.T) {
	hostile := "<script>alert(1)</script>'\"&\u202egpj.exe\x00\x1b[31m"
	want := `&lt;script&gt;alert(1)&lt;/script&gt;&#39;&#34;&amp;<i class="e">\u202e</i>gpj.exe<i class="e">\x00\x1b</i>[31m`
	raw := []byte(hostile)
	headers := encode.Table(func(e *encode.Encoder) { e.Str(hostile, hostile) })
	in := opened.Build(facts.Message{
		Seq:           1,
		Exchange:      raw,
		RoutingKey:    raw,
		ConsumerTag:   raw,
		Headers:       headers,
		HasHeaders:    true,
		Body:          raw,
		BodySize:      uint64(len(raw)),
		Properties:    []wire.Property{{Name: "message_id", Raw: raw}},
		PropertiesErr: hostile,
	}, opened.Options{})
	p := Page{Opened: &in, Page: listing.Page{
		Frame: shell.Frame{
			Title: hostile,
			Links: address.Links{State: address.State{Q: hostile, Columns: []string{hostile}}},
			Broker: source.Status{
				Name:           hostile,
				Error:          hostile,
				Mode:           source.Peek,
				Product:        hostile,
				Policy:         hostile,
				QueueType:      hostile,
				URL:            hostile,
				Management:     hostile,
				Blocked:        hostile,
				PublishCommand: "x",
			}},
		Bar: listing.QueryBar{
			Query: hostile,
			Error: &query.Error{Offset: 0, End: len(hostile), Msg: hostile},
			Chips: []listing.Chip{{Text: hostile, Without: ""}, {Text: hostile, Without: ""}},
		},
		Keys: listing.KeyList{
			Keys:     []archive.KeyCount{{Key: hostile, Count: 1, Tags: map[byte]uint64{0: 1}}},
			Messages: 1,
		},
		List: listing.List{
			Rows: []listing.Row{{
				Seq:        1,
				Exchange:   raw,
				RoutingKey: raw,
				Keys:       []string{hostile},
				Cells:      []query.Cell{cell(hostile)},
			}},
			Columns: []listing.Column{{Path: hostile}},
		},
		Chart: listing.Histogram{Histogram: query.Histogram{
			Width:  time.Second,
			Counts: []uint64{1, 0},
			Series: []query.Series{{Text: hostile, Counts: []uint64{1, 0}, Total: 1}},
		}},
		Facet: &listing.Facet{Facet: query.Facet{
			Operand: hostile,
			Values:  []query.FacetValue{{Text: hostile, Count: 1}},
		}},
	}}
	html := viewtest.Render(t, Document(p))
	// What is typed into the filter goes back into its field as it was.
	html = regexp.MustCompile(` value="[^"]*"`).ReplaceAllString(html, "")
	if strings.Contains(html, "<script") || strings.Contains(html, "\u202e") || strings.Contains(html, "\x00") ||
		strings.Contains(html, "\x1b") {
		t.Error("hostile text came through")
	}
	// Queue, error, product, filter error ×2, chips ×2, key, row ×4, column head, header name and
	// value, exchange, key, consumer, property and its error, body, the broker's policy, queue
	// type, address and sentences, facet and its value, series.
	if n := strings.Count(html, want); n < 26 {
		t.Errorf("the text stands exactly in %d places, want 26 or more", n)
	}
	capture := &Found{Notes: []string{hostile}, Messages: []FoundMessage{{Exchange: raw, RoutingKey: raw}}}
	if html := viewtest.Render(t, found(capture)); strings.Contains(html, "<script>") ||
		strings.Count(html, want) != 3 {
		t.Error("what a capture holds is not exact and inert")
	}
	problem := &kit.Problem{Title: hostile, Msg: hostile, Hint: hostile, Code: hostile}
	if html := viewtest.Render(t, ErrorPage(p.Frame, problem)); strings.Contains(html, "<script>") ||
		strings.Count(html, want) < 4 {
		t.Error("a problem's text is not exact and inert")
	}
}

// The zero values are what a page can be drawn from.
func TestZeroPages(t *testing.T) {
	for name, c := range map[string]templ.Component{
		"document":  Document(Page{}),
		"error":     ErrorPage(shell.Frame{}, &kit.Problem{}),
		"pane":      InspectorPane(address.Links{}, nil, nil),
		"rows":      listing.LiveRows(listing.List{}, address.Links{}),
		"strip":     shell.BrokerStrip(source.Status{}, time.Time{}),
		"keys":      listing.KeyPanel(listing.KeyList{}, nil, listing.Histogram{}, address.Links{}),
		"inspector": InspectorPane(address.Links{}, new(opened.Build(facts.Message{}, opened.Options{})), nil),
		"no table":  InspectorPane(address.Links{}, new(opened.Build(facts.Message{HasHeaders: true}, opened.Options{})), nil),
	} {
		if html := viewtest.Render(t, c); html == "" && name != "rows" {
			t.Errorf("%s draws nothing", name)
		}
	}
}

func compressed(t testing.TB, s string) int {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}

func TestFirstViewIsLight(t *testing.T) {
	assets, err := static.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fixtures(t, assets) {
		if f.name != "list" && f.name != "message" {
			continue
		}
		html := viewtest.Render(t, fixturePage(f))
		sum := compressed(t, html)
		parts := fmt.Sprintf("page %d", sum)
		for _, m := range regexp.MustCompile(`/static/([^"]+\.(?:js|css|svg))`).FindAllStringSubmatch(html, -1) {
			sum += weigh(t, assets, m[1], map[string]bool{})
		}
		t.Logf("%s: %s, everything %d bytes compressed", f.name, parts, sum)
		if sum > 60_000 {
			t.Errorf("%s: the first view weighs %d bytes", f.name, sum)
		}
	}
}

// weigh adds up a file and what it imports.
func weigh(t testing.TB, assets *static.Assets, name string, seen map[string]bool) int {
	f, ok := assets.Lookup(name)
	if !ok {
		t.Fatalf("no file %s", name)
	}
	if seen[name] {
		return 0
	}
	seen[name] = true
	sum := len(f.Gzip)
	for _, m := range regexp.MustCompile(`from "\./([^"]+)"`).FindAllStringSubmatch(string(f.Body), -1) {
		sum += weigh(t, assets, m[1], seen)
	}
	return sum
}

// A list costs a bounded number of allocations a row, and a table of 64 KiB no more than what a
// page shows of it. How long both take is for the benchmarks to say.
func TestPagesCostWhatTheyShow(t *testing.T) {
	for _, f := range fixtures(t, nil) {
		if f.name != "list" {
			continue
		}
		n := testing.AllocsPerRun(5, func() { viewtest.Render(t, Document(f.page)) })
		if rows := len(f.page.List.Rows); n > float64(200*rows) {
			t.Errorf("a page of %d rows makes %v allocations", rows, n)
		}
	}
	for _, l := range largeTables() {
		n := testing.AllocsPerRun(5, func() { renderInspector(t, l.encoded) })
		if n > l.most {
			t.Errorf("%s: opening a table of %d bytes makes %v allocations", l.name, len(l.encoded), n)
		}
	}
}

type largeTable struct {
	name    string
	encoded []byte
	most    float64 // allocations to draw it
}

// largeTables have about 64 KiB each.
func largeTables() []largeTable {
	return []largeTable{
		{"many fields", encode.Table(func(e *encode.Encoder) {
			for i := range 2000 {
				e.Str("x-header-"+strconv.Itoa(i), "a value of some length")
			}
		}), 2000 * 50},
		{"one text", encode.Table(func(e *encode.Encoder) {
			e.Str("trace", strings.Repeat("at com.acme.Handler\n", 3200))
		}), 12_000},
		{"one array", viewtest.BigArray(13_000), 40_000},
	}
}

// renderInspector opens a message with these headers.
func renderInspector(t testing.TB, headers []byte) {
	in := opened.Build(facts.Message{Seq: 1, Headers: headers, HasHeaders: true}, opened.Options{Now: viewtest.Now})
	viewtest.Render(t, InspectorPane(address.Links{}, &in, nil))
}

func BenchmarkList(b *testing.B) {
	f := fixtures(b, nil)[0]
	for b.Loop() {
		viewtest.Render(b, Document(f.page))
	}
}

func BenchmarkInspector(b *testing.B) {
	for _, l := range append([]largeTable{{"rich", viewtest.RichTable(), 0}}, largeTables()...) {
		b.Run(l.name, func(b *testing.B) {
			for b.Loop() {
				renderInspector(b, l.encoded)
			}
		})
	}
}

// Every text colour can be read on every background it stands on, in both themes.
func TestTokenContrast(t *testing.T) {
	css, err := os.ReadFile("../static/app.css")
	if err != nil {
		t.Fatal(err)
	}
	tokens := map[string][2]string{}
	for _, m := range regexp.MustCompile(`--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)`).FindAllStringSubmatch(string(css), -1) {
		tokens[m[1]] = [2]string{m[2], m[3]}
	}
	check := func(front, back string, least float64) {
		f, ok1 := tokens[front]
		b, ok2 := tokens[back]
		if !ok1 || !ok2 {
			t.Errorf("no token %s or %s", front, back)
			return
		}
		for i, theme := range []string{"light", "dark"} {
			if r := contrast(t, f[i], b[i]); r < least {
				t.Errorf("%s: %s on %s has %.2f:1, want %.1f:1", theme, front, back, r, least)
			}
		}
	}
	for _, back := range []string{"bg", "panel", "hover", "selected", "mark"} {
		for _, front := range []string{"text", "muted", "accent", "string", "integer", "float", "bool", "timestamp", "bytes", "table", "array", "malformed"} {
			// there, muted text takes the colour of the rest
			if front != "muted" || back != "mark" {
				check(front, back, 4.5)
			}
		}
	}
	check("on-accent", "accent", 4.5)
	for _, back := range []string{"bg", "panel"} {
		for _, front := range []string{"control", "good", "wait", "malformed", "accent", "s1", "s2", "s3", "s4", "s5"} {
			check(front, back, 3)
		}
	}
}

// contrast is the ratio of WCAG 2.2, section "contrast ratio".
func contrast(t *testing.T, a, b string) float64 {
	la, lb := luminance(t, a), luminance(t, b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(t *testing.T, hex string) float64 {
	n, err := strconv.ParseUint(hex[1:], 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	channel := func(shift int) float64 {
		c := float64(n>>shift&255) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(16) + 0.7152*channel(8) + 0.0722*channel(0)
}

// The script has an action for every row of the keyboard table.
func TestEveryShortcutHasAnAction(t *testing.T) {
	js, err := os.ReadFile("../static/app.js")
	if err != nil {
		t.Fatal(err)
	}
	_, actions, ok := strings.Cut(string(js), "const actions = {")
	if !ok {
		t.Fatal("app.js has no table of actions")
	}
	seen := map[string]bool{}
	for _, k := range shell.Keymap() {
		if !regexp.MustCompile(`(?m)^\s+"?` + regexp.QuoteMeta(k.Do) + `"?:`).MatchString(actions) {
			t.Errorf("%s: no action", k.Do)
		}
		for _, key := range k.Keys {
			if seen[key] {
				t.Errorf("%s: two rows", key)
			}
			seen[key] = true
		}
	}
}
