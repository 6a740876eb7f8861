// Package listing draws the list of messages, with its filter, chart and panels of names and
// values.
package listing

import "github.com/headerglass/headerglass/views/shell"

// Page is the list of messages with the panels around it.
type Page struct {
	shell.Frame
	Bar   QueryBar
	Keys  KeyList
	Chart Histogram
	// Facet is the values of the header that the query names; nil when it names none.
	Facet *Facet
	List  List
	// Sources are the lines of the overview; none: there is one source only.
	Sources []Source
}

// InPart reports whether something on the page has not been counted to the end.
func (p Page) InPart() bool {
	return p.Keys.InPart || p.Chart.InPart() || p.Facet.InPart() || p.List.Count != nil && !p.List.Count.Complete
}
