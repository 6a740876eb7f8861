// Package viewtest has what the tests of the rooms of views share: messages with tables of every
// kind, and ways to read what is drawn.
package viewtest

import (
	stdhtml "html"
	"regexp"
	"strings"
	"testing"

	"github.com/a-h/templ"
)

// Words is the text of a piece of a page.
func Words(html string) string {
	html = regexp.MustCompile(`<svg.*?</svg>|<[^>]*>`).ReplaceAllString(html, "")
	return strings.Join(strings.Fields(stdhtml.UnescapeString(html)), " ")
}

// Render draws a component.
func Render(t testing.TB, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
