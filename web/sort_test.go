package web

import (
	"fmt"
	"math"
	"net/http"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/encode"
)

// All messages are put in order by a column: typed, of equal ones the newest first, what has no
// value last.
func TestSortedPage(t *testing.T) {
	f := newFixture(t)
	value := func(set func(e *encode.Encoder)) {
		f.add(message{headers: encode.Table(set)})
	}
	value(func(e *encode.Encoder) { e.Int32("n", 10) })              // 1
	value(func(e *encode.Encoder) { e.Str("n", "9") })               // 2: a text
	value(func(e *encode.Encoder) { e.Int64("n", math.MaxInt64) })   // 3
	value(func(e *encode.Encoder) { e.Float64("n", 9.5) })           // 4
	value(func(e *encode.Encoder) { e.Str("other", "x") })           // 5: absent
	value(func(e *encode.Encoder) { e.Decimal("n", 1, 99) })         // 6: 9.9
	value(func(e *encode.Encoder) { e.Float64("n", math.Inf(1)) })   // 7
	value(func(e *encode.Encoder) { e.Int64("n", math.MaxInt64-1) }) // 8
	value(func(e *encode.Encoder) { e.Int32("n", 10) })              // 9: as 1
	value(func(e *encode.Encoder) { e.Float64("n", math.NaN()) })    // 10
	value(func(e *encode.Encoder) { e.Str("n", "10") })              // 11: a text
	value(func(e *encode.Encoder) { e.Float64("n", math.Inf(-1)) })  // 12
	value(func(e *encode.Encoder) { e.Bool("n", true) })             // 13
	value(func(e *encode.Encoder) { e.Void("n") })                   // 14
	value(func(e *encode.Encoder) { e.Timestamp("n", 1) })           // 15
	f.add(message{})                                                 // 16: no table
	// 17: above every int64
	value(func(e *encode.Encoder) { e.Float64("n", float64(uint64(1)<<63)+2048) })

	rising := "[14 13 10 12 15 4 6 9 1 8 3 17 7 11 2 16 5]"
	falling := "[2 11 7 17 3 8 9 1 6 4 15 12 10 13 14 16 5]"
	for query, want := range map[string]string{"sort=n": rising, "sort=n:asc": rising, "sort=n:desc": falling} {
		t.Run(query, func(t *testing.T) {
			f := f.in(t)
			r := f.get("/?cols=n&" + query).want(http.StatusOK)
			if got := fmt.Sprint(r.rows()); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
			r.wantText("the 17 messages that come first of all", "Go live")
			if find(r.html(), "data-url", "/live?cols=n") != nil {
				t.Error("new messages would be put above a page in another order")
			}
		})
	}
	for query, want := range map[string]string{
		"sort=n:desc":              "[2 11 7]",
		"sort=n":                   "[14 13 10]",
		"sort=n:desc&before=5":     "[2 11 7]",
		"sort=$seq":                "[1 2 3]",
		"sort=$received:desc":      "[17 16 15]",
		"q=n%3C100&sort=n:desc":    "[2 11 9]",
		"q=type(n)%3DI&sort=n:asc": "[9 1]",
	} {
		t.Run("three by "+query, func(t *testing.T) {
			r := f.in(t).get("/?limit=3&cols=n&" + query)
			if got := fmt.Sprint(r.rows()); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			if find(r.html(), "rel", "next") != nil {
				t.Error("there is a next page")
			}
		})
	}
	for _, path := range []string{"$seq", "$received"} {
		if find(f.get("/").html(), "title", "Sort all messages by "+path) == nil {
			t.Errorf("no head sorts by %s", path)
		}
	}
	r := f.get("/?cols=n&sort=n:desc").wantText(`aria-sort="descending"`)
	head := find(r.html(), "aria-sort", "descending")
	if got := text(head); got == "" || find(head, "title", "int32") == nil ||
		find(head, "title", "double") == nil && find(head, "title", "float64") == nil {
		t.Errorf("the column's head is %q", got)
	}
	if n := f.FullDecodes(); n != 0 {
		t.Errorf("%d decodes", n)
	}
}
