package views

import (
	"strings"

	"github.com/a-h/templ"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/views/compare"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/opened"
	"github.com/headerglass/headerglass/views/viewtest"
)

func diffFixture(p Page) fixture {
	p.Title = "Compare"
	return fixture{
		name: "diff",
		page: p,
		draw: func(p Page) templ.Component {
			return compare.Page(p.Frame, compare.Build(viewtest.DiffMessages(), nil, p.Links))
		},
	}
}

func inspectFixture(p Page, data []byte, problem string) fixture {
	f := Paste{MaxBytes: 1 << 20, Error: problem}
	for _, d := range fieldtable.Dialects() {
		f.Dialects = append(f.Dialects, opened.DialectOption{Name: d.Name(), Description: d.Description()})
	}
	if data != nil {
		p.Links.Pasted = "z=abc"
		in := opened.Build(facts.Message{Headers: data, HasHeaders: true}, opened.Options{
			Links: p.Links,
			Now:   viewtest.Now,
			Pasted: &opened.Pasted{
				Size:     len(data),
				As:       "field table",
				Other:    "content header",
				OtherURL: "/inspect?as=header&z=abc",
			},
		})
		f.Opened = &in
	}
	return fixture{name: "inspect", page: p, draw: func(p Page) templ.Component { return PastePage(p.Frame, f) }}
}

func captureFixture(p Page) fixture {
	found := &Found{
		More:  12,
		Notes: []string{"3 packets were clipped when they were captured; tcpdump -s 0 keeps them whole"},
	}
	for i := range 5 {
		found.Messages = append(found.Messages, FoundMessage{
			Received:   viewtest.Now,
			Exchange:   []byte("amq.topic"),
			RoutingKey: []byte("acme.orders.<b>created"),
			Headers:    i,
			Size:       1 << (4 * i),
			URL:        "/inspect?z=abc",
		})
	}
	found.Messages[4].URL, found.Messages[0].Exchange, found.Messages[1].RoutingKey = "", nil, []byte(
		strings.Repeat("a long key.", 20),
	)
	return fixture{
		name: "capture",
		page: p,
		draw: func(p Page) templ.Component {
			return PastePage(p.Frame, Paste{MaxBytes: 1 << 20, Found: found})
		},
	}
}
