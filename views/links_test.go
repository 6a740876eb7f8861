package views

import (
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestQueryRoundTrip(t *testing.T) {
	q := Query{
		Q:       `tenant = 'a&b' OR "x y"`,
		Before:  17,
		After:   3,
		Columns: []string{"tenant", `"a,b"[0].c`},
		From:    time.Date(2026, 11, 29, 10, 0, 0, 123_000_000, time.UTC),
		To:      time.Date(2026, 11, 29, 11, 0, 0, 0, time.UTC),
		Zone:    "Europe/Berlin",
		Dialect: "qpid-java",
		Sorted:  true,
		At:      4,
		Skip:    500,
		Hex:     4096,
		Bytes:   Range{34, 59},
		Body:    4096,
		Tab:     "readings",
		Full:    true,
		Limit:   50,
	}
	got, bad := ParseQuery(q.Values())
	if len(bad) > 0 || !reflect.DeepEqual(got, q) {
		t.Errorf("read back as %+v (bad: %v), want %+v", got, bad, q)
	}
	if v := (Query{}).Values(); len(v) != 0 {
		t.Errorf("the zero Query is written as %s", v.Encode())
	}
}

func TestParseQuery(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want Query
		bad  string
	}{
		{"", Query{}, ""},
		{"q=&before=&from=&to=&tz=&dialect=&b=&cols=", Query{}, ""},
		{"cols=a,b&cols=%22c,d%22, e ", Query{Columns: []string{"a", "b", `"c,d"`, "e"}}, ""},
		{"before=x&after=-1", Query{}, "before after"},
		{"before=18446744073709551615", Query{}, "before"},
		{"tz=Mars/Olympus", Query{}, "tz"},
		{"tz=Local", Query{}, "tz"},
		{"tz=UTC", Query{}, ""},
		{"tz=Europe/Berlin&from=2026-01-31T10:00", Query{
			Zone: "Europe/Berlin",
			From: time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC),
		}, ""},
		{"from=2026-01-31T10:00:00%2B01:00", Query{From: time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)}, ""},
		{"from=yesterday", Query{}, "from"},
		{"order=random", Query{}, "order"},
		{"b=34-58", Query{Bytes: Range{34, 59}}, ""},
		{"b=34", Query{Bytes: Range{34, 35}}, ""},
		{"b=58-34", Query{}, "b"},
		{"b=1-2147483647", Query{}, "b"},
		{"at=99999999999", Query{}, "at"},
		{"limit=5000", Query{Limit: 1000}, ""},
	} {
		v, err := url.ParseQuery(strings.ReplaceAll(tt.in, " ", "%20"))
		if err != nil {
			t.Fatal(err)
		}
		got, bad := ParseQuery(v)
		if b := strings.Join(bad, " "); b != tt.bad {
			t.Errorf("ParseQuery(%s): bad are %q, want %q", tt.in, b, tt.bad)
		}
		if tt.bad == "limit" || tt.bad != "" {
			continue
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("ParseQuery(%s) = %+v, want %+v", tt.in, got, tt.want)
		}
	}
}

func TestLinks(t *testing.T) {
	l := Links{
		Base:  "/explore",
		Query: Query{Q: "a = 1", Before: 100, Zone: "Europe/Berlin", At: 4, Hex: 16, Tab: "readings"},
	}
	open := Links{Open: 7, Query: Query{Before: 100, At: 4, Full: true}}
	for _, tt := range []struct{ name, got, want string }{
		{"home", l.Home(), "/explore/"},
		{"list keeps its place", l.List(), "/explore/?before=100&q=a+%3D+1&tz=Europe%2FBerlin"},
		{"latest drops it", l.Latest(), "/explore/?q=a+%3D+1&tz=Europe%2FBerlin"},
		{"older", l.Older(41), "/explore/?before=41&q=a+%3D+1&tz=Europe%2FBerlin"},
		{"newer", l.Newer(141), "/explore/?after=141&q=a+%3D+1&tz=Europe%2FBerlin"},
		{"message drops the other's state", l.Message(7), "/explore/m/7?before=100&q=a+%3D+1&tz=Europe%2FBerlin"},
		{"download", l.Download(7, "headers.bin"), "/explore/m/7/headers.bin"},
		{"json", l.JSON(7), "/explore/api/messages/7"},
		{"live", l.Live(), "/explore/live?q=a+%3D+1&tz=Europe%2FBerlin"},
		{"filter", l.Filter(""), "/explore/?tz=Europe%2FBerlin"},
		{"and", l.And("b"), "/explore/?q=a+%3D+1+AND+b&tz=Europe%2FBerlin"},
		{"column", l.AddColumn("x"), "/explore/?before=100&cols=x&q=a+%3D+1&tz=Europe%2FBerlin"},
		{"root", Links{}.Message(7), "/m/7"},
		{"column beside a message", open.AddColumn("x"), "/m/7?at=4&before=100&cols=x"},
		{"no column beside a message", open.DropColumn("x"), "/m/7?at=4&before=100"},
		{"order beside a message", open.Sort(Sort{Path: "x"}), "/m/7?at=4&before=100&sort=x%3Aasc"},
		{"values beside a message", open.Facet("x"), "/m/7?at=4&before=100&facet=x"},
		{"another filter closes the message", open.And("b"), "/?q=b"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, tt.got, tt.want)
		}
	}
	two := Links{Query: Query{Columns: []string{"a", "b"}}}
	if got := two.DropColumn("a"); got != "/?cols=b" {
		t.Errorf("drop: %s", got)
	}
	if two.AddColumn("c"); len(two.Query.Columns) != 2 {
		t.Error("a link changes the page it is on")
	}
}
