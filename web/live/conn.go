package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
)

// conn is one browser. Its fields belong to the goroutine of run unless noted.
type conn struct {
	hub     *Hub
	ws      *websocket.Conn
	stream  Stream
	matcher *query.Matcher

	// Every message with a sequence number ≤ cursor has been shown, counted
	// as skipped, reported as a gap, or does not match.
	cursor uint64
	// told is how far the browser knows the cursor to be; told ≤ cursor.
	told uint64
	// reset: the browser's cursor is of an archive that is gone.
	reset bool
	// status is what the browser was last told.
	status Status

	// sent holds the "to" of the rows messages that are not acknowledged,
	// oldest first; len(sent) ≤ maxInFlight.
	sent []uint64
	// acked is the greatest "ack" of the browser; the reader goroutine stores.
	acked atomic.Uint64
	// credit wakes the writer after acked has grown; capacity 1.
	credit chan struct{}

	html bytes.Buffer
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
	// A write to a browser that does not read must not outlive ctx for long.
	stop := context.AfterFunc(ctx, func() { _ = c.ws.NetConn().SetDeadline(time.Now().Add(lingerWait)) })
	defer stop()
	err := c.write(ctx)
	if err == nil && c.hub.ctx.Err() != nil {
		msg := websocket.FormatCloseMessage(websocket.CloseGoingAway, "the explorer is shutting down")
		_ = c.ws.WriteControl(websocket.CloseMessage, msg, time.Now().Add(lingerWait))
	}
	_ = c.ws.Close()
	<-done
	if err != nil {
		c.hub.logger.DebugContext(ctx, "live connection ended", "error", err)
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
			if c.told < c.cursor && c.hasCredit() {
				if err := c.sendRows(ctx, archive.Snapshot{}, nil, 0); err != nil {
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
			matched, err := c.batch(ctx)
			if err != nil {
				return err
			}
			begun := now
			now = time.Now()
			interval := c.stream.Interval
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

// waitNews reports whether the archive has a message after the cursor.
func (c *conn) waitNews(ctx context.Context, until time.Time) bool {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	return c.hub.cfg.Archive.Wait(ctx, c.cursor) == nil
}

// flooded reports whether so many matches in this time are more than rows can show: then nobody
// reads them as they pass, and painting them less often leaves the reader's machine to the reader.
func flooded(matched int, in time.Duration) bool {
	return time.Duration(matched)*Interval > maxRows*in
}

// batch filters what is new, sends it and moves the cursor to the end of it. It returns how many
// matched.
func (c *conn) batch(ctx context.Context) (matched int, err error) {
	snap := c.hub.memos.Snapshot()
	first, last := snap.First(), snap.Last()
	if last <= c.cursor {
		return 0, nil
	}
	if c.cursor+1 < first {
		if err := c.sendGap(first-1, "evicted"); err != nil {
			return 0, err
		}
		c.cursor, c.told = first-1, first-1
	}
	if last-c.cursor > maxBehind {
		to := last - maxBehind
		if err := c.sendGap(to, "behind"); err != nil {
			return 0, err
		}
		c.cursor, c.told = to, to
	}
	// The newest matches, in a ring that begins at matched % maxRows.
	var ring [maxRows]archive.Message
	for m := range snap.Forward(c.cursor) {
		if m.Seq() > last || ctx.Err() != nil {
			break
		}
		if c.matcher.MatchLive(m) == query.Yes {
			ring[matched%maxRows] = m.Message
			matched++
		}
	}
	c.cursor = last
	if matched == 0 {
		return 0, nil
	}
	rows := make([]archive.Message, 0, min(matched, maxRows))
	for i := range cap(rows) {
		rows = append(rows, ring[(matched-1-i)%maxRows])
	}
	return matched, c.sendRows(ctx, snap.Snapshot, rows, matched-len(rows))
}

// sendRows tells the browser of the messages up to the cursor: rows of snap,
// newest first, and how many older matches are left out.
func (c *conn) sendRows(ctx context.Context, snap archive.Snapshot, rows []archive.Message, skipped int) error {
	c.html.Reset()
	if len(rows) > 0 {
		if err := c.stream.Rows(ctx, &c.html, snap, rows); err != nil {
			return err
		}
	}
	from := c.told
	c.told = c.cursor
	c.sent = append(c.sent, c.cursor)
	return c.send(struct {
		T       string  `json:"t"`
		From    uint64  `json:"from"`
		To      uint64  `json:"to"`
		HTML    string  `json:"html"`
		Count   int     `json:"count"`
		Skipped int     `json:"skipped"`
		Rate    float64 `json:"rate"`
	}{"rows", from, c.cursor, c.html.String(), len(rows), skipped, c.hub.cfg.Archive.Snapshot().Rate(time.Now())})
}

// sendGap tells the browser that the messages after the cursor up to to were
// not looked at.
func (c *conn) sendGap(to uint64, reason string) error {
	return c.send(struct {
		T      string `json:"t"`
		From   uint64 `json:"from"`
		To     uint64 `json:"to"`
		Count  uint64 `json:"count"`
		Reason string `json:"reason"`
	}{"gap", c.cursor, to, to - c.cursor, reason})
}

// sendStatus sends what has changed around the rows.
func (c *conn) sendStatus(ctx context.Context) error {
	if c.stream.Status == nil {
		return nil
	}
	now, err := c.stream.Status(ctx)
	if err != nil {
		return err
	}
	changed := now
	for part, old := range map[*string]string{
		&changed.HTML: c.status.HTML, &changed.Keys: c.status.Keys,
		&changed.Chart: c.status.Chart, &changed.Facet: c.status.Facet, &changed.Total: c.status.Total,
	} {
		if *part == old {
			*part = ""
		}
	}
	c.status = now
	if changed == (Status{}) {
		return nil
	}
	return c.send(struct {
		T     string `json:"t"`
		HTML  string `json:"html"`
		Keys  string `json:"keys"`
		Chart string `json:"chart,omitempty"`
		Facet string `json:"facet,omitempty"`
		Total string `json:"total,omitempty"`
	}{"status", changed.HTML, changed.Keys, changed.Chart, changed.Facet, changed.Total})
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
