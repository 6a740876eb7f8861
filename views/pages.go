// Package views renders the explorer's pages: templ components and the view models they are drawn
// from. It has a room for each thing that one looks at; the pages themselves are put together here.
//
// The models are shaped like the layout. A caller fills them with plain facts (bytes, numbers,
// times); the rooms decide how these look, and walk field tables when a message is opened.
// Everything a publisher can choose (header names, values, exchange, routing key, properties, body)
// goes through kit.Visible, or kit.Parts, before it is written.
//
// Views know neither HTTP nor the archive. A page is an HTML document that works without scripts;
// the scripts of package static add live rows, keyboard and pointer comforts to the same markup.
package views

import (
	"github.com/headerglass/headerglass/views/kit"
	"github.com/headerglass/headerglass/views/listing"
	"github.com/headerglass/headerglass/views/opened"
)

// Page is a list with what is opened beside it.
// The zero value of each part is drawn as the part's empty state; see the part.
type Page struct {
	listing.Page
	// Opened is the opened message; nil when none is open.
	Opened *opened.Opened
	// Problem stands where the opened message would: evicted, not there yet. Nil when there is
	// none.
	Problem *kit.Problem
}
