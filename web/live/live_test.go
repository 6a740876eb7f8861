package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/budget"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is a listener without a network, so that a whole server can live in
// a synctest bubble.
type memory struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newMemory() *memory {
	return &memory{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *memory) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memory) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "memory"} }

func (l *memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fixture is an archive with feeds behind an in-memory server.
type fixture struct {
	t       *testing.T
	archive *archive.Archive
	feeds   *Feeds
	lis     *memory
	srv     *http.Server
	refused chan error
}

func start(t *testing.T, cfg Config, acfg archive.Config, stream func(*Stream)) *fixture {
	t.Helper()
	f := &fixture{t: t, archive: archive.New(acfg), lis: newMemory(), refused: make(chan error, 64)}
	f.feeds = New(cfg)
	f.srv = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q, err := query.Compile(r.URL.Query().Get("q"))
		if err != nil {
			t.Error(err)
		}
		s := Stream{
			Filter:   q,
			Dialect:  fieldtable.Lenient(),
			Archives: []*archive.Archive{f.archive},
			After:    []uint64{0},
			Rows: func(_ context.Context, w io.Writer, _ []archive.Snapshot, ms []archive.Message) error {
				for _, m := range ms {
					fmt.Fprintf(w, "%d ", m.Seq())
				}
				return nil
			},
		}
		if stream != nil {
			stream(&s)
		}
		if err := f.feeds.Serve(w, r, s); err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			f.refused <- err
		}
	})}
	go f.srv.Serve(f.lis)
	return f
}

func (f *fixture) stop() {
	f.feeds.Close()
	f.srv.Close()
	f.lis.Close()
}

// add stores n messages that have one header named key.
func (f *fixture) add(n int, key string) {
	table := encode.Table(func(e *encode.Encoder) { e.Str(key, "v") })
	header := wire.AppendContentHeaderPayload(nil, 0, wire.Property{Name: "headers", Raw: table})
	w := f.archive.Writer()
	for range n {
		w.Begin(&wire.Delivery{RoutingKey: []byte("k"), Header: header}, time.Now())
		w.Commit()
	}
}

// client is a browser.
type client struct {
	t  *testing.T
	ws *websocket.Conn
}

func (f *fixture) dial(rawQuery string) *client {
	f.t.Helper()
	d := websocket.Dialer{NetDialContext: f.lis.dial}
	ws, _, err := d.Dial("ws://memory/live?"+rawQuery, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	return &client{f.t, ws}
}

type message struct {
	T       string   `json:"t"`
	From    uint64   `json:"from"`
	To      uint64   `json:"to"`
	HTML    string   `json:"html"`
	Keys    string   `json:"keys"`
	Count   int      `json:"count"`
	Skipped int      `json:"skipped"`
	Reason  string   `json:"reason"`
	Rate    *float64 `json:"rate"`
}

func (c *client) read() message {
	c.t.Helper()
	_, b, err := c.ws.ReadMessage()
	if err != nil {
		c.t.Fatal(err)
	}
	var m message
	if err := json.Unmarshal(b, &m); err != nil {
		c.t.Fatalf("%v in %s", err, b)
	}
	return m
}

func (c *client) ack(to uint64) {
	c.t.Helper()
	if err := c.ws.WriteJSON(map[string]uint64{"ack": to}); err != nil {
		c.t.Fatal(err)
	}
}

func TestRowsNewestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Config{}, archive.Config{}, nil)
		defer f.stop()
		f.add(3, "a")
		c := f.dial("")
		defer c.ws.Close()
		got := c.read()
		if got.T != "rows" || got.From != 0 || got.To != 3 || got.HTML != "3 2 1 " || got.Count != 3 ||
			got.Skipped != 0 ||
			got.Rate == nil {
			t.Fatalf("first batch: %+v", got)
		}
		c.ack(3)
		f.add(2, "a")
		if got := c.read(); got.From != 3 || got.To != 5 || got.HTML != "5 4 " {
			t.Fatalf("second batch: %+v", got)
		}
	})
}

// Rows are drawn with the snapshot that they were found in: the identity of a header layout is
// another's in a later one.
func TestRowsAreOfTheirSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f *fixture
		add := sync.OnceFunc(func() { f.add(5, "b") })
		f = start(t, Config{}, archive.Config{}, func(s *Stream) {
			s.Rows = func(_ context.Context, w io.Writer, snaps []archive.Snapshot, _ []archive.Message) error {
				add()
				_, err := fmt.Fprint(w, snaps[0].Last())
				return err
			}
		})
		defer f.stop()
		f.add(3, "a")
		c := f.dial("")
		defer c.ws.Close()
		if got := c.read(); got.HTML != "3" {
			t.Errorf("the rows of messages up to 3 have a snapshot up to %s", got.HTML)
		}
	})
}

func TestBatchHoldsTheNewestFifty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Config{}, archive.Config{}, nil)
		defer f.stop()
		f.add(1000, "a")
		c := f.dial("")
		defer c.ws.Close()
		got := c.read()
		if got.Count != 50 || got.Skipped != 950 || got.To != 1000 {
			t.Fatalf("%+v", got)
		}
		seqs := strings.Fields(got.HTML)
		if len(seqs) != 50 || seqs[0] != "1000" || seqs[49] != "951" {
			t.Fatalf("rows %v", seqs)
		}
	})
}

func TestFilterCountsMatchesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Config{}, archive.Config{}, nil)
		defer f.stop()
		for range 60 {
			f.add(1, "a")
			f.add(1, "b")
		}
		c := f.dial("q=b")
		defer c.ws.Close()
		got := c.read()
		if got.Count != 50 || got.Skipped != 10 || got.To != 120 || !strings.HasPrefix(got.HTML, "120 118 ") {
			t.Fatalf("%+v", got)
		}
	})
}

// A browser that does not answer gets two batches and no more, and misses
// nothing that the third does not account for.
func TestCredit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Config{}, archive.Config{}, nil)
		defer f.stop()
		c := f.dial("")
		defer c.ws.Close()
		got := make(chan message, 100)
		go func() {
			defer close(got)
			for {
				var m message
				if c.ws.ReadJSON(&m) != nil {
					return
				}
				got <- m
			}
		}()
		for range 20 {
			f.add(10, "a")
			time.Sleep(Interval)
		}
		synctest.Wait()
		if len(got) != 2 {
			t.Fatalf("%d batches without an answer, want 2", len(got))
		}
		first, second := <-got, <-got
		c.ack(second.To)
		third := <-got
		if third.From != second.To || third.To != 200 || third.Count+third.Skipped != int(third.To-third.From) {
			t.Fatalf("after %+v and %+v came %+v", first, second, third)
		}
	})
}

func TestPace(t *testing.T) {
	for _, tt := range []struct {
		asked  time.Duration
		rate   int // messages a second
		before int // messages at once, before the feed is watched
		want   time.Duration
	}{
		{Interval, 100, 0, Interval},
		{Interval, 450, 0, Interval},
		{Interval, 450, 5000, Interval}, // a burst does not slow it down for good
		{Interval, 1000, 0, SlowInterval},
		{SlowInterval, 100, 0, SlowInterval},
		{SlowInterval, 1000, 0, SlowInterval},
	} {
		t.Run(fmt.Sprint(tt.asked, " ", tt.rate, " ", tt.before), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := start(t, Config{}, archive.Config{}, func(s *Stream) { s.Interval = tt.asked })
				defer f.stop()
				stop := make(chan struct{})
				var wg sync.WaitGroup
				defer wg.Wait()
				defer close(stop)
				c := f.dial("")
				defer c.ws.Close()
				f.add(1, "a")
				c.ack(c.read().To)
				if tt.before > 0 {
					f.add(tt.before, "a")
					c.ack(c.read().To)
				}
				wg.Go(func() {
					for {
						select {
						case <-stop:
							return
						case <-time.After(time.Second / time.Duration(tt.rate)):
							f.add(1, "a")
						}
					}
				})
				c.ack(c.read().To)
				c.ack(c.read().To)
				begin, batches := time.Now(), 0
				for time.Since(begin) < 2*time.Second {
					m := c.read()
					batches++
					c.ack(m.To)
				}
				most := int(2*time.Second/tt.want) + 1
				if batches > most || batches < most-2 {
					t.Errorf("%d batches in 2 s, want about %d", batches, most)
				}
			})
		})
	}
}

func TestEvictedGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Config{}, archive.Config{MaxBytes: 256 << 10, SegmentBytes: 64 << 10}, nil)
		defer f.stop()
		f.add(10_000, "a")
		first := f.archive.Snapshot().First()
		if first == 1 {
			t.Fatal("nothing was evicted")
		}
		c := f.dial("")
		defer c.ws.Close()
		if got := c.read(); got.T != "gap" || got.Reason != "evicted" || got.From != 0 || got.To != first-1 ||
			got.Count != int(first-1) {
			t.Fatalf("%+v, first kept is %d", got, first)
		}
		if got := c.read(); got.T != "rows" || got.From != first-1 || got.To != 10_000 {
			t.Fatalf("%+v", got)
		}
	})
}

func TestBehindGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Config{}, archive.Config{}, nil)
		defer f.stop()
		f.add(maxBehind+7, "a")
		c := f.dial("")
		defer c.ws.Close()
		if got := c.read(); got.T != "gap" || got.Reason != "behind" || got.To != 7 || got.Count != 7 {
			t.Fatalf("%+v", got)
		}
		if got := c.read(); got.T != "rows" || got.From != 7 || got.Count+got.Skipped != maxBehind {
			t.Fatalf("%+v", got)
		}
	})
}

// A cursor from before a restart is told of it and does not wait for its number
// to come again.
func TestReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Config{}, archive.Config{}, func(s *Stream) { s.After = []uint64{5000} })
		defer f.stop()
		f.add(3, "a")
		c := f.dial("")
		defer c.ws.Close()
		if got := c.read(); got.T != "reset" {
			t.Fatalf("%+v", got)
		}
		f.add(1, "a")
		if got := c.read(); got.T != "rows" || got.From != 3 || got.HTML != "4 " {
			t.Fatalf("%+v", got)
		}
	})
}

// A cursor of another run of the explorer is none, even where a message has its number.
func TestCursorOfAnotherRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Config{}, archive.Config{}, func(s *Stream) { s.After, s.Anew = []uint64{1}, true })
		defer f.stop()
		f.add(3, "a")
		c := f.dial("")
		defer c.ws.Close()
		if got := c.read(); got.T != "reset" {
			t.Fatalf("%+v", got)
		}
		f.add(1, "a")
		if got := c.read(); got.T != "rows" || got.From != 3 || got.HTML != "4 " {
			t.Fatalf("%+v", got)
		}
	})
}

// Without a match, the browser learns once a second how far the feed has read.
func TestNoMatchMovesTheCursor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Config{}, archive.Config{}, nil)
		defer f.stop()
		c := f.dial("q=absent")
		defer c.ws.Close()
		begin := time.Now()
		f.add(5, "a")
		if got := c.read(); got.T != "rows" || got.To != 5 || got.Count != 0 || got.HTML != "" {
			t.Fatalf("%+v", got)
		}
		if d := time.Since(begin); d > statusInterval {
			t.Errorf("told after %v", d)
		}
	})
}

func TestStatusOnlyWhenChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now := Fragments{HTML: "up", Keys: "k1"}
		f := start(t, Config{}, archive.Config{}, func(s *Stream) {
			s.Status = func(context.Context) (Fragments, error) {
				mu.Lock()
				defer mu.Unlock()
				return now, nil
			}
		})
		defer f.stop()
		c := f.dial("")
		defer c.ws.Close()
		if got := c.read(); got.T != "status" || got.HTML != "up" || got.Keys != "k1" {
			t.Fatalf("%+v", got)
		}
		// A beat every five seconds says that the feed is alive.
		begin := time.Now()
		for beats := range 3 {
			if got := c.read(); got.T != "status" || got.HTML != "" || got.Keys != "" {
				t.Fatalf("%+v", got)
			}
			if d := time.Since(begin); d != time.Duration(beats+1)*5*time.Second {
				t.Errorf("beat %d after %v", beats+1, d)
			}
		}
		mu.Lock()
		now.HTML = "down"
		mu.Unlock()
		if got := c.read(); got.HTML != "down" || got.Keys != "" {
			t.Fatalf("%+v", got)
		}
	})
}

func TestCaps(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  Config
	}{
		{"total", Config{MaxConns: 2}},
		{"address", Config{MaxConnsPerAddr: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := start(t, tt.cfg, archive.Config{}, nil)
				defer f.stop()
				a, b := f.dial(""), f.dial("")
				defer b.ws.Close()
				d := websocket.Dialer{NetDialContext: f.lis.dial}
				_, resp, err := d.Dial("ws://memory/live", nil)
				if err == nil || resp.StatusCode != http.StatusServiceUnavailable {
					t.Fatalf("third connection: %v, %v", resp, err)
				}
				if err := <-f.refused; !errors.Is(err, ErrTooMany) {
					t.Fatal(err)
				}
				a.ws.Close()
				synctest.Wait()
				if n := f.feeds.Conns(); n != 1 {
					t.Fatalf("%d connections after one left, want 1", n)
				}
				f.dial("").ws.Close()
			})
		})
	}
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Config{}, archive.Config{}, nil)
		defer f.stop()
		c := f.dial("")
		defer c.ws.Close()
		var wg sync.WaitGroup
		wg.Go(f.feeds.Close)
		_, _, err := c.ws.ReadMessage()
		if !websocket.IsCloseError(err, websocket.CloseGoingAway) {
			t.Errorf("closed with %v, want 1001", err)
		}
		wg.Wait()
		d := websocket.Dialer{NetDialContext: f.lis.dial}
		if _, resp, err := d.Dial("ws://memory/live", nil); err == nil ||
			resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("after Close: %v, %v", resp, err)
		}
	})
}

// A browser that reads nothing holds up neither the feeds' end nor anything else.
func TestCloseDoesNotWaitForADeafBrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Config{}, archive.Config{}, nil)
		defer f.stop()
		c := f.dial("")
		defer c.ws.Close()
		f.add(10, "a")
		synctest.Wait() // the write of the batch is stuck: a pipe has no buffer
		begin := time.Now()
		f.feeds.Close()
		if d := time.Since(begin); d > 3*lingerWait {
			t.Errorf("took %v", d)
		}
	})
}

// A browser that answers no ping is gone.
func TestSilentBrowserIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Config{}, archive.Config{}, nil)
		defer f.stop()
		c := f.dial("")
		defer c.ws.Close()
		c.ws.SetPingHandler(func(string) error { return nil })
		begin := time.Now()
		if _, _, err := c.ws.ReadMessage(); err == nil {
			t.Fatal("still there")
		}
		if d := time.Since(begin); d < pongWait || d > pongWait+writeWait {
			t.Errorf("dropped after %v, want %v", d, pongWait)
		}
	})
}

func TestMisuseEndsTheConnection(t *testing.T) {
	for _, tt := range []struct {
		name   string
		code   int
		misuse func(ws *websocket.Conn)
	}{
		{"binary", websocket.CloseUnsupportedData, func(ws *websocket.Conn) { ws.WriteMessage(websocket.BinaryMessage, []byte{1}) }},
		{"not UTF-8", websocket.CloseInvalidFramePayloadData, func(ws *websocket.Conn) { ws.WriteMessage(websocket.TextMessage, []byte{0xff}) }},
		{"not JSON", websocket.ClosePolicyViolation, func(ws *websocket.Conn) { ws.WriteMessage(websocket.TextMessage, []byte("x")) }},
		{"no ack", websocket.ClosePolicyViolation, func(ws *websocket.Conn) { ws.WriteMessage(websocket.TextMessage, []byte("{}")) }},
		{"negative ack", websocket.ClosePolicyViolation, func(ws *websocket.Conn) { ws.WriteMessage(websocket.TextMessage, []byte(`{"ack":-1}`)) }},
		{"long message", websocket.CloseMessageTooBig, func(ws *websocket.Conn) {
			ws.WriteMessage(websocket.TextMessage, make([]byte, 100<<10))
		}},
		{"fragments without end", websocket.CloseMessageTooBig, func(ws *websocket.Conn) {
			w, _ := ws.NextWriter(websocket.TextMessage)
			for range 100 {
				if _, err := w.Write(make([]byte, 4096)); err != nil {
					return
				}
			}
		}},
		{"flood", websocket.ClosePolicyViolation, func(ws *websocket.Conn) {
			for range 2 * maxReadsPerSec {
				if ws.WriteMessage(websocket.TextMessage, []byte(`{"ack":0}`)) != nil {
					return
				}
			}
		}},
		{"ping flood", websocket.ClosePolicyViolation, func(ws *websocket.Conn) {
			for range 2 * maxReadsPerSec {
				if ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second)) != nil {
					return
				}
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := start(t, Config{}, archive.Config{}, nil)
				defer f.stop()
				c := f.dial("")
				defer c.ws.Close()
				var wg sync.WaitGroup
				wg.Go(func() { tt.misuse(c.ws) })
				_, _, err := c.ws.ReadMessage()
				if !websocket.IsCloseError(err, tt.code) {
					t.Errorf("closed with %v, want %d", err, tt.code)
				}
				c.ws.Close()
				wg.Wait()
			})
		})
	}
}

// Feeds with equal filters share one, however it is written; the last of them closes it.
func TestEqualFiltersAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(1 << 20)
		f := start(t, Config{Budget: b}, archive.Config{}, nil)
		defer f.stop()
		one := b.Stats().Held[budget.Feed]
		for i, tt := range []struct {
			filter  string
			filters int
		}{
			{"tenant", 1},
			{"tenant", 1},
			{"(tenant)", 1},
			{"orders", 2},
		} {
			c := f.dial("q=" + url.QueryEscape(tt.filter))
			defer c.ws.Close()
			synctest.Wait()
			if n := len(f.feeds.filters); n != tt.filters {
				t.Errorf("%d filters of %d feeds, want %d", n, i+1, tt.filters)
			}
			if i == 0 {
				one = b.Stats().Held[budget.Feed]
			}
			if held := b.Stats().Held[budget.Feed]; held != one*int64(tt.filters) {
				t.Errorf("%d bytes are held for %d filters, want %d for each", held, tt.filters, one)
			}
		}
		f.feeds.Close()
		if n, held := len(f.feeds.filters), b.Stats().Held[budget.Feed]; n != 0 || held != 0 {
			t.Errorf("%d filters and %d bytes are left", n, held)
		}
	})
}

// Each of the feeds that share a filter gets every match, although only the first of them looks.
func TestFeedsOfOneFilterGetTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Config{}, archive.Config{}, nil)
		defer f.stop()
		a, b := f.dial("q=yes"), f.dial("q=yes")
		defer a.ws.Close()
		defer b.ws.Close()
		synctest.Wait()
		f.add(2, "yes")
		f.add(1, "no")
		f.add(1, "yes")
		for _, c := range []*client{a, b} {
			// A feed wakes up with the first arrival: the others may come in a batch of their own.
			rows := ""
			for to := uint64(0); to < 4; {
				got := c.read()
				if got.From != to || got.Skipped != 0 {
					t.Errorf("after the message %d: %+v", to, got)
				}
				rows, to = got.HTML+rows, got.To
			}
			if rows != "4 2 1 " {
				t.Errorf("rows %q", rows)
			}
		}
	})
}

// Whatever arrives when, however slowly a browser answers and however often it comes back, each
// match is a row or is counted as left out, once.
func TestNoMatchIsLost(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 0))
				to := uint64(0)
				f := start(t, Config{}, archive.Config{}, func(s *Stream) { s.After = []uint64{to} })
				defer f.stop()
				const arrivals = 2000
				f.add(1, "yes")
				var wg sync.WaitGroup
				defer wg.Wait()
				wg.Go(func() {
					for n := 1; n < arrivals; {
						more := min(1+r.IntN(200), arrivals-n)
						for range more {
							f.add(1, []string{"yes", "no"}[n%2])
							n++
						}
						time.Sleep(time.Duration(r.IntN(int(3 * time.Second))))
					}
				})
				slow := rand.New(rand.NewPCG(seed, 1))
				reads := 0
				for to < arrivals {
					c := f.dial("q=yes")
					for left := 1 + slow.IntN(10); to < arrivals && left > 0; left-- {
						got := c.read()
						// The odd sequence numbers match.
						if want := (got.To+1)/2 - (got.From+1)/2; got.From != to ||
							uint64(got.Count+got.Skipped) != want || len(strings.Fields(got.HTML)) != got.Count {
							t.Fatalf("after the message %d, with %d matches: %+v", to, want, got)
						}
						to = got.To
						time.Sleep(time.Duration(slow.IntN(int(time.Second))))
						c.ack(to)
						reads++
					}
					c.ws.Close()
				}
				if reads < 5 {
					t.Errorf("%d batches are too few to say anything", reads)
				}
			})
		})
	}
}

// A filter that the budget has no room for is refused; one of an address that holds the most gives
// way.
func TestFiltersAreBudgeted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var addr string
		b := budget.New(1 << 20)
		f := start(t, Config{Budget: b}, archive.Config{}, func(s *Stream) { s.Addr = addr })
		defer f.stop()
		long := func(i int) string {
			return "q=" + url.QueryEscape(fmt.Sprintf("tenant LIKE '%d%s'", i, strings.Repeat("%a", 300)))
		}
		addr = "hog"
		feeds, refused := 0, false
		var read sync.WaitGroup
		var closed atomic.Int32
		for i := range 10 {
			d := websocket.Dialer{NetDialContext: f.lis.dial}
			ws, resp, err := d.Dial("ws://memory/live?"+long(i), nil)
			if err != nil {
				if err := <-f.refused; resp.StatusCode != http.StatusServiceUnavailable ||
					!errors.Is(err, budget.ErrFull) {
					t.Fatal(resp.StatusCode, err)
				}
				refused = true
				break
			}
			defer ws.Close()
			feeds++
			read.Go(func() {
				if _, _, err := ws.ReadMessage(); websocket.IsCloseError(err, websocket.CloseTryAgainLater) {
					closed.Add(1)
				}
			})
		}
		if !refused || feeds < 2 {
			t.Fatalf("%d feeds take %d bytes", feeds, b.Stats().Held[budget.Feed])
		}
		addr = "other"
		c := f.dial(long(1000))
		defer c.ws.Close()
		synctest.Wait()
		if n := f.feeds.Conns(); n != feeds {
			t.Errorf("%d feeds, want one of %d in the place of another", n, feeds+1)
		}
		if n := closed.Load(); n != 1 {
			t.Errorf("%d feeds were told to try again later, want 1", n)
		}
	})
}
