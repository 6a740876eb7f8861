package broker

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/spool"
)

// spoolAhead bounds the memory of what has arrived and is not on disk yet. A single message may be
// larger.
const spoolAhead = 64 << 20

// spooled is a delivery on its way to disk.
type spooled struct {
	record      *spool.Record
	tag         uint64
	redelivered bool
}

// spooler writes the deliveries of one connection to disk, on a goroutine of its own, as many with
// one transaction as have arrived meanwhile, and then into the archive. The reader never waits for
// it: the broker sends no more than the prefetch ahead of the acknowledgements, and when that is
// too much, what follows is not taken and given back.
type spooler struct {
	c        *Consumer
	sink     *sink
	redactor *archive.Redactor
	in       chan spooled
	waiting  atomic.Int64 // bytes of what was offered and is not on disk
	quit     chan struct{}
	once     sync.Once
	done     sync.WaitGroup

	record *spool.Record // the delivery in progress
	writer *archive.Writer
}

func newSpooler(c *Consumer, s *sink) *spooler {
	sp := &spooler{
		c:        c,
		sink:     s,
		redactor: c.cfg.Archive.Redactor(),
		// two subscriptions overlap when one takes the other's place
		in:     make(chan spooled, 2*c.cfg.Prefetch),
		quit:   make(chan struct{}),
		writer: c.cfg.Archive.Writer(),
	}
	s.holds = c.holds
	sp.done.Go(sp.run)
	return sp
}

func (sp *spooler) begin(d *wire.Delivery, now time.Time) {
	sp.record = sp.c.cfg.Spool.NewRecord(d, now)
}

func (sp *spooler) body(chunk []byte) { sp.record.Write(chunk) }

func (sp *spooler) abort() {
	sp.record.Discard()
	sp.record = nil
}

func (sp *spooler) end(tag uint64, redelivered bool) {
	sp.offer(spooled{sp.record, tag, redelivered})
	sp.record = nil
}

// offer takes a delivery without waiting.
func (sp *spooler) offer(x spooled) {
	size := weight(x.record)
	sp.c.flow.arrived(int(size))
	if ahead := sp.waiting.Add(size); ahead == size || ahead <= spoolAhead {
		select {
		case sp.in <- x:
			return
		default:
		}
	}
	sp.waiting.Add(-size)
	x.record.Discard()
	sp.sink.refuse(&Error{
		Kind: KindSpoolBehind,
		Msg: fmt.Sprintf(
			"messages of %s arrive faster than the spool can be written: what was not written was given back, and fewer are under way from now on",
			sp.c.target(),
		),
	})
}

// finish waits until everything offered is dealt with.
func (sp *spooler) finish() {
	sp.once.Do(func() { close(sp.quit) })
	sp.done.Wait()
}

func (sp *spooler) run() {
	var batch []spooled
	failed := false
	for {
		select {
		case x := <-sp.in:
			batch = sp.gather(append(batch[:0], x))
		case <-sp.quit:
			if batch = sp.gather(batch[:0]); len(batch) == 0 {
				return
			}
		}
		failed = failed || !sp.write(batch)
		clear(batch)
	}
}

// gather adds what has arrived meanwhile, up to what one transaction should hold.
func (sp *spooler) gather(batch []spooled) []spooled {
	var size int64
	for _, x := range batch {
		size += weight(x.record)
	}
	for size < spool.BatchBytes {
		select {
		case x := <-sp.in:
			batch = append(batch, x)
			size += weight(x.record)
		default:
			return batch
		}
	}
	return batch
}

// fresh is a delivery that is not known.
type fresh struct {
	record *spool.Record
	print  uint64
	index  int // in the batch
}

// write stores what is new and reports whether all of it could be.
func (sp *spooler) write(batch []spooled) bool {
	news, err := sp.unknown(batch)
	if err == nil {
		news, err = sp.store(batch, news)
	}
	var size int64
	for _, x := range batch {
		size += weight(x.record)
		x.record.Discard()
	}
	sp.waiting.Add(-size)
	dealt := len(batch)
	if len(news) > 0 {
		dealt = news[0].index
	}
	if dealt > 0 {
		sp.sink.dealt(batch[dealt-1].tag)
		sp.sink.rouse()
	}
	if err != nil {
		sp.sink.refuse(sp.c.spoolError(err))
	}
	return err == nil
}

// unknown seals those of a batch that were not stored before.
func (sp *spooler) unknown(batch []spooled) (news []fresh, err error) {
	m := sp.c.delivered
	for i, x := range batch {
		if x.record.TooLarge() { // it was never stored
			news = append(news, fresh{x.record, 0, i})
			continue
		}
		var print uint64
		if m.recent != nil {
			d := x.record.Delivery()
			m.print.begin(&d, x.record.Received())
			if err := x.record.Body(m.print.body); err != nil {
				return append(news, fresh{index: i}), err
			}
			if print = m.print.sum(); m.recent.claim(print, x.redelivered, x.record.Received()) {
				sp.sink.counts.known.Add(1)
				continue
			}
		}
		x.record.Seal(sp.redactor, print)
		news = append(news, fresh{x.record, print, i})
	}
	return news, nil
}

// store writes messages to disk and then into the archive, and returns those that could not be. One
// that is larger than all of the spool is set aside.
func (sp *spooler) store(batch []spooled, news []fresh) ([]fresh, error) {
	for len(news) > 0 {
		records := make([]*spool.Record, len(news))
		for i, f := range news {
			records[i] = f.record
		}
		n, err := sp.c.cfg.Spool.Append(records)
		for _, f := range news[:n] {
			if e := f.record.Store(sp.writer); e != nil {
				sp.c.cfg.Logger.Warn("a message is on disk, and cannot be shown before a restart", "error", e)
			}
			sp.sink.counts.stored.Add(1)
			if recent := sp.c.delivered.recent; recent != nil {
				recent.stored(f.print, batch[f.index].tag)
			}
		}
		if news = news[n:]; !errors.Is(err, spool.ErrTooLarge) {
			return news, err
		}
		sp.sink.aside.add(batch[news[0].index].tag)
		news = news[1:]
	}
	return nil, nil
}

// holds reports whether what is stored is still on disk. It is asked before each acknowledgement.
func (c *Consumer) holds() *Error {
	if err := c.cfg.Spool.Holds(); err != nil {
		return c.spoolError(err)
	}
	return nil
}

// checkSpool reports whether what is delivered could be stored.
func (c *Consumer) checkSpool() *Error {
	if c.cfg.Spool == nil {
		return nil
	}
	if err := c.cfg.Spool.Check(); err != nil {
		return c.spoolError(err)
	}
	return nil
}

func (c *Consumer) spoolError(err error) *Error {
	const after = "nothing more is acknowledged, and what was not stored was given back"
	sp := c.cfg.Spool
	switch {
	case errors.Is(err, spool.ErrFull):
		return &Error{
			Kind: KindSpoolFull,
			Err:  err,
			Msg: remedied(fmt.Sprintf(
				"the spool in %s has reached its bound of %s: %s",
				sp.Dir(),
				humanize.IBytes(uint64(sp.Stats().MaxBytes)),
				after,
			), c.cfg.Remedies.SpoolFull),
		}
	case errors.Is(err, spool.ErrGone):
		return &Error{
			Kind: KindSpool,
			Err:  err,
			Msg: fmt.Sprintf("somebody else has changed the spool in %s: %v: %s; what was deleted is written again, and what was "+
				"replaced has to be put back", sp.Dir(), innermost(err), after),
		}
	case isAny(err, diskFullErrors()):
		return &Error{
			Kind: KindSpool,
			Err:  err,
			Msg:  fmt.Sprintf("the disk that holds the spool in %s is full: %s", sp.Dir(), after),
		}
	}
	return &Error{
		Kind: KindSpool,
		Err:  err,
		Msg:  fmt.Sprintf("the spool in %s cannot be written: %v: %s", sp.Dir(), innermost(err), after),
	}
}

// restore puts what the spool holds into the archive and remembers what may come again.
func (c *Consumer) restore() error {
	if c.cfg.Spool == nil {
		return nil
	}
	prints := 0
	if c.delivered.recent != nil {
		prints = cap(c.delivered.recent.ring)
	}
	loaded, err := c.cfg.Spool.Load(c.cfg.Archive, prints)
	if err != nil {
		return err
	}
	if loaded.Stored > 0 {
		c.cfg.Logger.Info("loaded the spool",
			"folder", c.cfg.Spool.Dir(), "messages", loaded.Stored, "older, on disk only", loaded.Older)
	}
	if c.delivered.recent == nil {
		return nil
	}
	for _, print := range loaded.Prints {
		if print != 0 {
			c.delivered.recent.stored(print, 0)
		}
	}
	c.delivered.recent.disconnected(0)
	return nil
}
