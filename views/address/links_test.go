package address

import (
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Every page keeps its state in what it links to.
func TestStateIsKeptInLinks(t *testing.T) {
	q, bad := Parse(mustQuery(t, "q=a&cols=b&sort=b:desc&facet=c&damaged=1&tz=Europe/Berlin&limit=20"))
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	l := Links{State: q}
	for _, tt := range []struct{ name, got, want string }{
		{"older", l.Older("7"), "/?before=7&cols=b&damaged=1&facet=c&limit=20&q=a&sort=b%3Adesc&tz=Europe%2FBerlin"},
		{"another filter", l.Filter("x"), "/?cols=b&facet=c&limit=20&q=x&sort=b%3Adesc&tz=Europe%2FBerlin"},
		{"no facet", l.Facet(""), "/?cols=b&damaged=1&limit=20&q=a&sort=b%3Adesc&tz=Europe%2FBerlin"},
		{"rising", l.Sort(Sort{Path: "b"}), "/?cols=b&damaged=1&facet=c&limit=20&q=a&sort=b%3Aasc&tz=Europe%2FBerlin"},
		{"no column, no order by it", l.DropColumn("b"), "/?damaged=1&facet=c&limit=20&q=a&tz=Europe%2FBerlin"},
		{"live", l.GoLive(), "/?cols=b&facet=c&limit=20&q=a&tz=Europe%2FBerlin"},
		{"message", l.Message(Key{Seq: 3}), "/m/3?cols=b&damaged=1&facet=c&limit=20&q=a&sort=b%3Adesc&tz=Europe%2FBerlin"},
		{"decided only", l.Undecided(false), "/?cols=b&facet=c&limit=20&q=a&sort=b%3Adesc&tz=Europe%2FBerlin"},
		{"the same column again", l.AddColumn("b"), l.List()},
		{"summary", l.Summary(), "/summary?cols=b&damaged=1&facet=c&limit=20&q=a&sort=b%3Adesc&tz=Europe%2FBerlin"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("%s, want %s", tt.got, tt.want)
			}
		})
	}
	for in, want := range map[string]Sort{
		"":         {},
		"a":        {Path: "a"},
		"a:asc":    {Path: "a"},
		"a:desc":   {Path: "a", Desc: true},
		`"x:desc"`: {Path: `"x:desc"`},
	} {
		if got := parseSort(in); got != want {
			t.Errorf("sort=%s: %+v, want %+v", in, got, want)
		}
		if again := parseSort(parseSort(in).String()); again != want {
			t.Errorf("sort=%s: read again %+v", in, again)
		}
	}
}

// A form keeps what its own fields do not hold.
func TestHiddenFields(t *testing.T) {
	s, bad := Parse(
		mustQuery(t, "q=a&cols=b&sort=b:desc&facet=c&damaged=1&tz=Europe/Berlin&limit=20&at=4&after=9&from=2026-01-31"),
	)
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	l := Links{State: s, Pasted: "z=abc&as=table"}
	for _, tt := range []struct {
		name   string
		fields [][2]string
		want   string
	}{
		{"filter", l.FilterFields(), "cols=b tz=Europe/Berlin limit=20 facet=c sort=b:desc"},
		{
			"pasted", l.HiddenFields("q", "at"),
			"after=9 cols=b tz=Europe/Berlin from=2026-01-30T23:00:00Z limit=20 facet=c sort=b:desc damaged=1 as=table z=abc",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var names []string
			for _, f := range tt.fields {
				names = append(names, f[0]+"="+f[1])
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("carried along are\n%s, want\n%s", got, tt.want)
			}
		})
	}
}

func mustQuery(t *testing.T, s string) map[string][]string {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, "/?"+s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.URL.Query()
}

func TestQueryRoundTrip(t *testing.T) {
	q := State{
		Q:       `tenant = 'a&b' OR "x y"`,
		Before:  "17",
		After:   "3",
		Columns: []string{"tenant", `"a,b"[0].c`},
		From:    time.Date(2026, 11, 29, 10, 0, 0, 123_000_000, time.UTC),
		To:      time.Date(2026, 11, 29, 11, 0, 0, 0, time.UTC),
		Zone:    "Europe/Berlin",
		Dialect: "qpid-java",
		Sorted:  true,
		At:      4,
		Skip:    500,
		Hex:     4096,
		Bytes:   archive.Span{From: 34, To: 59},
		Body:    4096,
		Tab:     "readings",
		Full:    true,
		Limit:   50,
	}
	got, bad := Parse(values(t, q))
	if len(bad) > 0 || !reflect.DeepEqual(got, q) {
		t.Errorf("read back as %+v (bad: %v), want %+v", got, bad, q)
	}
	if v := (State{}).Encode(); v != "" {
		t.Errorf("the zero State is written as %s", v)
	}
}

// values reads what a state writes.
func values(t *testing.T, s State) url.Values {
	t.Helper()
	v, err := url.ParseQuery(s.Encode())
	if err != nil || v.Encode() != s.Encode() {
		t.Errorf("%s: %v", s.Encode(), err)
	}
	return v
}

func TestParseQuery(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want State
		bad  string
	}{
		{"", State{}, ""},
		{"q=&before=&from=&to=&tz=&dialect=&b=&cols=", State{}, ""},
		{"cols=a,b&cols=%22c,d%22, e ", State{Columns: []string{"a", "b", `"c,d"`, "e"}}, ""},
		{"before=x&after=-1", State{}, "before after"},
		{"before=18446744073709551615", State{}, "before"},
		{"tz=Mars/Olympus", State{}, "tz"},
		{"tz=Local", State{}, "tz"},
		{"tz=UTC", State{}, ""},
		{"tz=Europe/Berlin&from=2026-01-31T10:00", State{
			Zone: "Europe/Berlin",
			From: time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC),
		}, ""},
		{"from=2026-01-31T10:00:00%2B01:00", State{From: time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)}, ""},
		{"from=yesterday", State{}, "from"},
		{"order=random", State{}, "order"},
		{"b=34-58", State{Bytes: archive.Span{From: 34, To: 59}}, ""},
		{"b=34", State{Bytes: archive.Span{From: 34, To: 35}}, ""},
		{"b=58-34", State{}, "b"},
		{"b=1-2147483647", State{}, "b"},
		{"at=99999999999", State{}, "at"},
		{"limit=5000", State{Limit: 1000}, ""},
	} {
		t.Run(tt.in, func(t *testing.T) {
			v, err := url.ParseQuery(strings.ReplaceAll(tt.in, " ", "%20"))
			if err != nil {
				t.Fatal(err)
			}
			got, bad := Parse(v)
			if b := strings.Join(bad, " "); b != tt.bad {
				t.Errorf("bad are %q, want %q", b, tt.bad)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestLinks(t *testing.T) {
	l := Links{
		Base:  "/explore",
		State: State{Q: "a = 1", Before: "100", Zone: "Europe/Berlin", At: 4, Hex: 16, Tab: "readings"},
	}
	open := Links{Open: Key{Seq: 7}, State: State{Before: "100", At: 4, Full: true}}
	all := Links{State: State{Q: "b", Before: "~AQ"}}
	one := Links{Source: "orders", State: State{Q: "b"}}
	beside := Links{Open: Key{"orders", 7}, State: State{Q: "b", Before: "~AQ"}}
	for _, tt := range []struct{ name, got, want string }{
		{"home", l.Home(), "/explore/"},
		{"list keeps its place", l.List(), "/explore/?before=100&q=a+%3D+1&tz=Europe%2FBerlin"},
		{"latest drops it", l.Latest(), "/explore/?q=a+%3D+1&tz=Europe%2FBerlin"},
		{"older", l.Older("41"), "/explore/?before=41&q=a+%3D+1&tz=Europe%2FBerlin"},
		{"newer", l.Newer("141"), "/explore/?after=141&q=a+%3D+1&tz=Europe%2FBerlin"},
		{"message drops the other's state", l.Message(Key{Seq: 7}), "/explore/m/7?before=100&q=a+%3D+1&tz=Europe%2FBerlin"},
		{"download", l.Download(Key{Seq: 7}, "headers.bin"), "/explore/m/7/headers.bin"},
		{"json", l.JSON(Key{Seq: 7}), "/explore/api/messages/7"},
		{"live", l.Live(), "/explore/live?q=a+%3D+1&tz=Europe%2FBerlin"},
		{"filter", l.Filter(""), "/explore/?tz=Europe%2FBerlin"},
		{"and", l.And("b"), "/explore/?q=a+%3D+1+AND+b&tz=Europe%2FBerlin"},
		{"column", l.AddColumn("x"), "/explore/?before=100&cols=x&q=a+%3D+1&tz=Europe%2FBerlin"},
		{"a message beside all", all.Message(Key{"orders", 7}), "/s/orders/m/7?all=1&before=~AQ&q=b"},
		{"one beside its own list", one.Message(Key{"orders", 7}), "/s/orders/m/7?q=b"},
		{"a page of one", one.Older("7"), "/s/orders/?before=7&q=b"},
		{"its feed", one.Live(), "/s/orders/live?q=b"},
		{"its file", one.Export("csv"), "/s/orders/export.csv?q=b"},
		{"its counts", one.Summary(), "/s/orders/summary?q=b"},
		{"from one to all", one.OfSource(""), "/?q=b"},
		{"from all to one", all.OfSource("orders"), "/s/orders/?q=b"},
		{"a column beside all", beside.AddColumn("x"), "/s/orders/m/7?all=1&before=~AQ&cols=x&q=b"},
		{"bytes of one of several", all.Download(Key{"orders", 7}, "body.bin"), "/s/orders/m/7/body.bin"},
		{"its JSON", all.JSON(Key{"orders", 7}), "/s/orders/api/messages/7"},
		{"two of several", all.Diff(Key{"orders", 7}, Key{"dlq", 1}), "/diff?m=orders%3A7&m=dlq%3A1"},
		{"root", Links{}.Message(Key{Seq: 7}), "/m/7"},
		{"column beside a message", open.AddColumn("x"), "/m/7?at=4&before=100&cols=x"},
		{"no column beside a message", open.DropColumn("x"), "/m/7?at=4&before=100"},
		{"order beside a message", open.Sort(Sort{Path: "x"}), "/m/7?at=4&sort=x%3Aasc"},
		{"values beside a message", open.Facet("x"), "/m/7?at=4&before=100&facet=x"},
		{"another filter closes the message", open.And("b"), "/?q=b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("%s, want %s", tt.got, tt.want)
			}
		})
	}
	two := Links{State: State{Columns: []string{"a", "b"}}}
	if got := two.DropColumn("a"); got != "/?cols=b" {
		t.Errorf("drop: %s", got)
	}
	if two.AddColumn("c"); len(two.State.Columns) != 2 {
		t.Error("a link changes the page it is on")
	}
}
