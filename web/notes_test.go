package web

import (
	"net/http"
	"net/url"
	"testing"
)

// What a filter may be meant to be is said by the API, and offered as a link where nothing matches.
func TestNotes(t *testing.T) {
	f := newFixture(t)
	f.add(message{headers: table("weight", "5", "n", "1", "m", "1")})
	for _, tt := range []struct{ filter, says, reading string }{
		{"weight-1 = 4", "No message that is kept has a header weight-1.", "weight - 1 = 4"},
		{"n > m", "m is compared as text here, and is also the name of a header.", "n > (m)"},
		{"wieght = 5", "No message that is kept has a header wieght.", "weight = 5"},
	} {
		t.Run(tt.filter, func(t *testing.T) {
			q := url.QueryEscape(tt.filter)
			f.get("/api/messages?explain=1&q=" + q).want(http.StatusOK).wantText(`"notes":[{"text":"` + tt.says)
			page := f.get("/?q="+q).want(http.StatusOK).wantText("Nothing matches", tt.says)
			if find(page.html(), "href", "/?q="+url.QueryEscape(tt.reading)) == nil {
				t.Errorf("%s is not offered", tt.reading)
			}
		})
	}
	f.get("/api/messages?explain=1&q=n").want(http.StatusOK).wantText(`"notes":[]}`)
}
