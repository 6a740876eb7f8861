package live

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"hash/maphash"
	"slices"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/web/budget"
)

// conn is one browser. Its fields belong to the goroutine of run unless noted.
type conn struct {
	feeds  *Feeds
	ws     *websocket.Conn
	stream Stream
	parts  []part // of the archives, in the order of the stream
	// begin is the part that the next look begins with: each gets its turn.
	begin int
	// reset: the browser's cursor is of an archive that is gone.
	reset bool
	// status is what the browser was last told, as hashes: the text is kept once for all feeds, if
	// at all.
	status [fragments]uint64
	beat   time.Time // when it was last told

	// sent holds what acknowledges the rows messages that are not acknowledged,
	// oldest first; len(sent) ≤ maxInFlight. batches counts rows messages.
	sent    []uint64
	batches uint64
	// acked is the greatest "ack" of the browser; the reader goroutine stores.
	acked atomic.Uint64
	// credit wakes the writer after acked has grown; capacity 1.
	credit chan struct{}

	html bytes.Buffer
}

// part is how far a connection has got in one archive.
type part struct {
	archive *archive.Archive
	filter  *feedOf
	// Every message with a sequence number ≤ cursor has been shown, counted
	// as skipped, reported as a gap, or does not match.
	cursor uint64
	// told is how far the browser knows the cursor to be; told ≤ cursor.
	told uint64
}

func (c *conn) closeFilters() {
	for _, p := range c.parts {
		c.feeds.close(p.filter)
	}
}

// untold reports whether the browser does not know how far the feed has got.
func (c *conn) untold() bool {
	return slices.ContainsFunc(c.parts, func(p part) bool { return p.told < p.cursor })
}

// cursors are those of the parts.
func (c *conn) cursors() []uint64 {
	list := make([]uint64, len(c.parts))
	for i, p := range c.parts {
		list[i] = p.cursor
	}
	return list
}

// place is what the browser is told of a place: a number in one archive, a text in several.
func (c *conn) place(at []uint64) any {
	if c.stream.Text == nil {
		return at[0]
	}
	return c.stream.Text(at)
}

// run streams until ctx is done, the browser is gone or misbehaves. It closes
// the connection and returns after the reader has ended.
func (c *conn) run(ctx context.Context, cancel context.CancelFunc) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		c.read()
	}()
	// A write to a browser that does not read must not outlive ctx for long, least of all while
	// others wait for its memory.
	stop := context.AfterFunc(ctx, func() {
		wait := lingerWait
		if errors.Is(context.Cause(ctx), budget.ErrFull) {
			wait /= 10
		}
		_ = c.ws.NetConn().SetDeadline(time.Now().Add(wait))
	})
	defer stop()
	err := c.write(ctx)
	c.closeFilters()
	if err == nil {
		switch {
		case c.feeds.ctx.Err() != nil:
			c.refuse(websocket.CloseGoingAway, "the explorer is shutting down")
		case errors.Is(context.Cause(ctx), budget.ErrFull):
			c.refuse(websocket.CloseTryAgainLater, "the explorer has too much to do")
		}
	}
	_ = c.ws.Close()
	<-done
	if err != nil {
		c.feeds.logger.DebugContext(ctx, "live connection ended", "error", err)
	}
}

// write sends batches and status messages; nil when ctx ended it.
func (c *conn) write(ctx context.Context) error {
	now := time.Now()
	nextStatus, nextPing, nextBatch := now, now.Add(pingInterval), now
	var lastBatch time.Time
	if c.reset {
		if err := c.send(map[string]string{"t": "reset"}); err != nil {
			return err
		}
	}
	for ctx.Err() == nil {
		now = time.Now()
		if !now.Before(nextPing) {
			if err := c.ws.WriteControl(websocket.PingMessage, nil, now.Add(writeWait)); err != nil {
				return err
			}
			nextPing = now.Add(pingInterval)
		}
		if !now.Before(nextStatus) {
			if err := c.sendStatus(ctx); err != nil {
				return err
			}
			if c.untold() && c.hasCredit() {
				c.html.Reset()
				if err := c.sendRows(0, 0); err != nil {
					return err
				}
			}
			nextStatus = now.Add(statusInterval)
		}
		wake := nextStatus
		if nextPing.Before(wake) {
			wake = nextPing
		}
		switch {
		case !c.hasCredit():
			c.waitCredit(ctx, wake)
		case now.Before(nextBatch):
			if nextBatch.Before(wake) {
				wake = nextBatch
			}
			c.sleep(ctx, wake)
		case c.waitNews(ctx, wake):
			begun := now
			matched, whole, err := c.batch(ctx)
			if err != nil {
				return err
			}
			now = time.Now()
			interval := c.stream.Interval
			if !whole {
				interval = 0 // it has waited for its turn
			}
			if flooded(matched, begun.Sub(lastBatch)) {
				interval = max(interval, SlowInterval)
			}
			lastBatch, nextBatch = begun, now.Add(interval)
		}
	}
	return nil
}

func (c *conn) hasCredit() bool {
	acked := c.acked.Load()
	for len(c.sent) > 0 && c.sent[0] <= acked {
		c.sent = c.sent[:copy(c.sent, c.sent[1:])]
	}
	return len(c.sent) < maxInFlight
}

func (c *conn) sleep(ctx context.Context, until time.Time) {
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

func (c *conn) waitCredit(ctx context.Context, until time.Time) {
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-c.credit:
	case <-t.C:
	}
}

// waitNews reports whether an archive has a message after the cursor.
func (c *conn) waitNews(ctx context.Context, until time.Time) bool {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	return archive.WaitAny(ctx, c.stream.Archives, c.cursors()) == nil
}

// flooded reports whether so many matches in this time are more than rows can show: then nobody
// reads them as they pass, and painting them less often leaves the reader's machine to the reader.
func flooded(matched int, in time.Duration) bool {
	return time.Duration(matched)*Interval > maxRows*in
}

const (
	// turnTime is how long a feed may filter at a time, because others wait.
	turnTime   = 10 * time.Millisecond
	turnChecks = 16 // messages between two looks at the clock
)

// batch filters what is new, sends it and moves the cursor to the end of it. It returns how many
// matched, and whether it got to the end of what there was.
func (c *conn) batch(ctx context.Context) (matched int, whole bool, err error) {
	done, err := c.feeds.turn(ctx)
	if err != nil {
		return 0, true, nil
	}
	l, err := c.look(ctx)
	done()
	if err != nil {
		return 0, true, err
	}
	for _, g := range l.gaps {
		p := &c.parts[g.part]
		from := c.cursors()
		p.cursor = g.to
		if err := c.send(gap{"gap", c.place(from), c.place(c.cursors()), g.to - from[g.part], g.reason}); err != nil {
			return 0, true, err
		}
		p.told = g.to
	}
	for i := range c.parts {
		c.parts[i].cursor = max(c.parts[i].cursor, l.to[i])
	}
	if l.matched == 0 {
		return 0, l.whole, nil
	}
	return l.matched, l.whole, c.sendRows(l.rows, l.matched-l.rows)
}

// looked is what a look at what is new has found; the rows are drawn.
type looked struct {
	gaps    []missed
	to      []uint64 // of each part the last message that was filtered
	matched int
	rows    int // of these drawn
	whole   bool
}

// missed is messages of a part that are not looked at.
type missed struct {
	part   int
	to     uint64
	reason string
}

// look filters what is new and draws the newest matches.
func (c *conn) look(ctx context.Context) (l looked, err error) {
	l.to, l.whole = c.cursors(), true
	snaps := make([]archive.Snapshot, len(c.parts))
	live := make([]query.LiveSnapshot, len(c.parts))
	for i, p := range c.parts {
		live[i] = p.filter.filter.memos.Snapshot()
		snaps[i] = live[i].Snapshot
	}
	var rows []archive.Message
	end := time.Now().Add(turnTime)
	for n := range c.parts {
		i := (c.begin + n) % len(c.parts)
		if l.whole {
			rows = l.part(ctx, i, live[i], c.parts[i].filter.filter, end, rows)
		}
	}
	c.begin = (c.begin + 1) % len(c.parts)
	c.html.Reset()
	if l.matched == 0 {
		return l, nil
	}
	if len(c.parts) > 1 {
		slices.SortStableFunc(rows, func(a, b archive.Message) int {
			return cmp.Compare(b.ReceivedUnixNano(), a.ReceivedUnixNano())
		})
		rows = rows[:min(len(rows), maxRows)]
	}
	l.rows = len(rows)
	return l, c.stream.Rows(ctx, &c.html, snaps, rows)
}

// part filters what is new in one archive and adds the newest matches to rows, newest first.
func (l *looked) part(
	ctx context.Context, i int, snap query.LiveSnapshot, f *filter, end time.Time, rows []archive.Message,
) []archive.Message {
	first, last := snap.First(), snap.Last()
	if last <= l.to[i] {
		return rows
	}
	skip := func(to uint64, reason string) {
		l.gaps = append(l.gaps, missed{i, to, reason})
		l.to[i] = to
	}
	if l.to[i]+1 < first {
		skip(first-1, "evicted")
	}
	if last-l.to[i] > maxBehind {
		skip(last-maxBehind, "behind")
	}
	// The newest matches, in a ring that begins at matched % maxRows.
	var ring [maxRows]archive.Message
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.matcher.Rest()
	n, matched := 0, 0
	for m := range snap.Forward(l.to[i]) {
		if m.Seq() > last || ctx.Err() != nil {
			break
		}
		if n++; n%turnChecks == 0 && time.Now().After(end) {
			l.whole = false
			break
		}
		l.to[i] = m.Seq()
		if f.match(m) {
			ring[matched%maxRows] = m.Message
			matched++
		}
	}
	l.matched += matched
	for j := range min(matched, maxRows) {
		rows = append(rows, ring[(matched-1-j)%maxRows])
	}
	return rows
}

// sendRows tells the browser of the messages up to the cursor: rows of them are in c.html, newest
// first, and so many older matches are left out.
func (c *conn) sendRows(rows, skipped int) error {
	from := make([]uint64, len(c.parts))
	rate := 0.0
	for i := range c.parts {
		p := &c.parts[i]
		from[i] = p.told
		p.told = p.cursor
		rate += p.archive.Snapshot().Rate(c.feeds.cfg.Now())
	}
	to, ack := c.cursors(), uint64(0)
	if c.stream.Text == nil {
		c.sent = append(c.sent, to[0])
	} else {
		c.batches++
		ack = c.batches
		c.sent = append(c.sent, ack)
	}
	html := c.html.String()
	if c.html.Cap() > keptHTML {
		c.html = bytes.Buffer{}
	}
	return c.send(struct {
		T       string  `json:"t"`
		From    any     `json:"from"`
		To      any     `json:"to"`
		Ack     uint64  `json:"ack,omitempty"`
		HTML    string  `json:"html"`
		Count   int     `json:"count"`
		Skipped int     `json:"skipped"`
		Rate    float64 `json:"rate"`
	}{"rows", c.place(from), c.place(to), ack, html, rows, skipped, rate})
}

// keptHTML is how large a buffer a feed keeps for its next rows.
const keptHTML = 16 << 10

// gap tells the browser that the messages after From up to To were not looked at.
type gap struct {
	T      string `json:"t"`
	From   any    `json:"from"`
	To     any    `json:"to"`
	Count  uint64 `json:"count"`
	Reason string `json:"reason"`
}

// sendStatus sends what has changed around the rows.
func (c *conn) sendStatus(ctx context.Context) error {
	if c.stream.Status == nil {
		return nil
	}
	done, err := c.feeds.turn(ctx)
	if err != nil {
		return nil
	}
	now, err := c.stream.Status(ctx)
	done()
	if err != nil {
		return err
	}
	changed := false
	for i, part := range now.parts() {
		h := maphash.String(c.feeds.seed, *part)
		if *part == "" || h == c.status[i] {
			*part = ""
			continue
		}
		c.status[i] = h
		changed = true
	}
	at := time.Now()
	if !changed && at.Sub(c.beat) < beatInterval {
		return nil
	}
	c.beat = at
	return c.send(struct {
		T       string `json:"t"`
		HTML    string `json:"html,omitempty"`
		Keys    string `json:"keys,omitempty"`
		Chart   string `json:"chart,omitempty"`
		Facet   string `json:"facet,omitempty"`
		Total   string `json:"total,omitempty"`
		Sources string `json:"sources,omitempty"`
	}{"status", now.HTML, now.Keys, now.Chart, now.Facet, now.Total, now.Sources})
}

func (c *conn) send(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := c.ws.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
		return err
	}
	return c.ws.WriteMessage(websocket.TextMessage, b)
}

var errFlood = errors.New("live: more messages than a browser has reason to send")

// read takes acknowledgements until the connection fails. It runs in its own
// goroutine and closes the connection with the fitting code on misuse.
func (c *conn) read() {
	c.ws.SetReadLimit(maxReadBytes)
	_ = c.ws.SetReadDeadline(time.Now().Add(pongWait))
	var window time.Time
	reads := 0
	count := func() error {
		if now := time.Now(); now.Sub(window) > time.Second {
			window, reads = now, 0
		}
		if reads++; reads > maxReadsPerSec {
			return errFlood
		}
		return nil
	}
	c.ws.SetPongHandler(func(string) error {
		if err := count(); err != nil {
			return err
		}
		return c.ws.SetReadDeadline(time.Now().Add(pongWait))
	})
	pong := c.ws.PingHandler()
	c.ws.SetPingHandler(func(data string) error {
		if err := count(); err != nil {
			return err
		}
		return pong(data)
	})
	for {
		typ, b, err := c.ws.ReadMessage()
		if errors.Is(err, errFlood) {
			c.refuse(websocket.ClosePolicyViolation, "too many messages")
		}
		if err != nil {
			return
		}
		switch {
		case count() != nil:
			c.refuse(websocket.ClosePolicyViolation, "too many messages")
			return
		case typ != websocket.TextMessage:
			c.refuse(websocket.CloseUnsupportedData, "text only")
			return
		case !utf8.Valid(b):
			c.refuse(websocket.CloseInvalidFramePayloadData, "not UTF-8")
			return
		}
		var msg struct {
			Ack *uint64 `json:"ack"`
		}
		if err := json.Unmarshal(b, &msg); err != nil || msg.Ack == nil {
			c.refuse(websocket.ClosePolicyViolation, "not an acknowledgement")
			return
		}
		if *msg.Ack > c.acked.Load() {
			c.acked.Store(*msg.Ack)
			select {
			case c.credit <- struct{}{}:
			default:
			}
		}
	}
}

func (c *conn) refuse(code int, reason string) {
	_ = c.ws.WriteControl(
		websocket.CloseMessage,
		websocket.FormatCloseMessage(code, reason),
		time.Now().Add(time.Second),
	)
}
