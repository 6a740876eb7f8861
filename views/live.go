package views

// The live feed's messages, as static/live.js reads them. The server writes JSON text frames:
//
//	{"t":"rows","from":11,"to":60,"html":"<tr…","count":50,"skipped":0,"rate":48.5}
//	{"t":"gap","from":11,"to":60,"count":1204}
//	{"t":"status","html":"<div…","keys":"<ul…","chart":"<svg…","facet":"<h2…","total":"<strong…"}
//	{"t":"reset"}
//
// rows: html is [LiveRows] over the matching messages of (from, to], newest first; count is how
// many rows it holds; skipped is how many matching ones it leaves out (they are drawn as a gap);
// rate is arrivals a second. A batch without a match has an empty html and moves the cursor all the
// same. gap: count messages that matched, or might have, are not shown. status: html is
// [BrokerStrip], put in the place of the page's own; keys, chart, facet and total, where not empty,
// are [KeyPanel], [Chart], [FacetPanel] and [TotalLine]. reset: the explorer was started again, and
// the page is loaded anew. The browser answers a rows message with {"ack":to} after it is painted.
